"""What a screen may ask of the app it runs in."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, cast

from textual.dom import DOMNode
from textual.worker import Worker

from tui.actions import BY_ID, key_name
from tui.glyphs import glyphs
from tui.keymap import Keymap
from tui.store import Store

if TYPE_CHECKING:
    from services.pinfold import Pinfold
    from tui.underway import Underway

P = ParamSpec("P")

EXCLUSIVE = frozenset(
    {
        "show",
        "engines",
        "source",
        "create",
        "preview",
        "details",
        "output",
        "activity",
        "shell",
        "trial",
        "effective",
        "answer",
        "memory follow",
        "memory files",
        "memory page",
        "memory item",
        "memory tree",
        "memory search",
        "plan",
        "references",
        "archive list",
        "archive open",
        "archive preview",
        "archive tree",
        "archive checks",
    }
)
"""The kinds of tasks of which only the newest matters."""


class Host(Protocol):
    """The app as its screens and palette see it.

    Attributes:
        underway: Operations that are carried out beside the screens.
        leaving: Asked before Pinfold ends what would be lost, a line for each thing.
    """

    store: Store
    underway: Underway
    keymap: Keymap
    leaving: list[Callable[[], Sequence[str]]]

    @property
    def pinfold(self) -> Pinfold:
        """The services.

        Raises:
            PinfoldError: They are not open yet.
        """
        ...

    def now(self) -> int:
        """The clock, nanoseconds since 1970."""
        ...

    def report(self, error: BaseException) -> None:
        """Tell the operator of an error, and the log when nobody expected it."""
        ...

    def begin(
        self,
        node: DOMNode,
        group: str,
        task: Callable[P, Coroutine[Any, Any, object]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Worker[None]:
        """Run a task beside the screens; its errors are reported.

        Args:
            node: The task ends with it.
            group: Names the kind of task; one in `EXCLUSIVE` ends what runs of its kind on the node.
            task: Called with what follows.
            args: For the task.
            kwargs: For the task.
        """
        ...

    def told(self, text: str) -> None:
        """Say in passing what was done; foreign text in it is cleaned."""
        ...

    def show_agent(self, alias: str) -> None:
        """Show the screen of agents with the cursor on one."""
        ...

    def show_session(self, session: str) -> None:
        """Show the screen of sandboxes with the cursor on one session."""
        ...

    def start_session(self, alias: str) -> None:
        """Show the screen of sandboxes and ask what to start of an agent."""
        ...

    def show_archive(self, archive: str) -> None:
        """Show the screen of archives with the cursor on one, or on an operation."""
        ...


def host(node: DOMNode) -> Host:
    """The app a node runs in."""
    return cast("Host", node.app)


def key_of(node: DOMNode, action: str) -> str:
    """The key of an action, by its id, as people read it."""
    return key_name(host(node).keymap.of(BY_ID[action])[0], ascii_only=glyphs().ascii)
