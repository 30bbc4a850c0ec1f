"""The workspaces of siblings that may be written and not read, as a tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from services.errors import MemoryRefused
from services.policy import Verdict
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.offered.drop_box import parts_of, write_into
from services.sandbox.tools.serving.offered.tool import Arguments, Reach, Tool


class WriteArguments(Arguments, frozen=True):
    """What `file_write` takes."""

    agent: Annotated[str, Meta(max_length=63, description="The agent whose drop box it is.")]
    path: Annotated[str, Meta(min_length=1, max_length=4096, description="Relative to the agent's workspace.")]
    content: Annotated[str, Meta(max_length=1024 * 1024, description="The whole file; at most 1 MiB.")]


async def _write(reach: Reach, asked: WriteArguments) -> str:
    if asked.agent not in reach.grant.drop_boxes:
        raise MemoryRefused("this is no drop box of yours", fix=f"Yours: {', '.join(reach.grant.drop_boxes)}.")
    parts = parts_of(asked.path)
    box = reach.stores.workspace_of(asked.agent)
    decision = reach.policy.write(str(box.joinpath(*parts)))
    if decision.verdict is not Verdict.ALLOW:
        raise MemoryRefused("the file was not written", why=decision.reason)
    new = await reach.stores.calls.run(write_into, box, parts, asked.content.encode())
    return f"{'Wrote' if new else 'Replaced'} {len(asked.content.encode()):,} bytes."


def drop_box_tools() -> Iterable[Tool]:
    """The tool of drop boxes."""
    yield Tool(
        "file_write",
        "Write a file into another agent's workspace that you may write and not read.",
        WriteArguments,
        _write,
        acts=True,
        wanted=_has_drop_boxes,
    )


def _has_drop_boxes(grant: Grant) -> bool:
    return bool(grant.drop_boxes)
