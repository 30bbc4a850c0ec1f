"""Calls that wait for the operator's word, over whichever screen is shown."""

from tui.screens.approvals.dialog import ApprovalsDialog

__all__ = ["ApprovalsDialog"]
