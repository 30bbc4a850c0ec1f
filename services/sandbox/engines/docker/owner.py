"""Which user a sandbox runs as.

The rule: whoever owns the workspace. The agent can then write what it must, its files belong to that person on this
machine too, and Pinfold changes no owner and no mode of anybody's directory. It holds for root as well: a workspace
that root owns is worked in by root, but without any capability, without a way to gain one, and with nothing but its
mounts in sight. A workspace made for a sandbox by root is better given to another user when it is made.
"""

from __future__ import annotations

import msgspec

FALLBACK = (1000, 1000)
"""Where the workspace cannot be seen from here: on another machine's engine, or gone."""


class SandboxUser(msgspec.Struct, frozen=True):
    """Whom the main process runs as.

    Attributes:
        uid, gid: Numbers inside the sandbox.
        as_outside: Numbers inside must mean the same users as outside, although the engine remaps them.
    """

    uid: int
    gid: int
    as_outside: bool = False


def sandbox_user(owner: tuple[int, int] | None, *, rootless: bool, remaps_users: bool) -> SandboxUser:
    """Choose the user.

    Args:
        owner: uid and gid of the workspace on this machine; None when it is not there.
        rootless: The engine runs as a plain user, who is uid 0 inside its sandboxes; nobody else's workspace works.
        remaps_users: The engine maps users to others; a mounted workspace would belong to nobody inside.
    """
    if rootless:
        return SandboxUser(0, 0)
    uid, gid = owner or FALLBACK
    return SandboxUser(uid, gid, as_outside=remaps_users)
