"""What a verb is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from icm_site.hooks.notes import NOTHING, Block

if TYPE_CHECKING:
    from icm_site.hooks.contracts import Form
    from icm_site.hooks.memory import Memory
    from icm_site.hooks.payload import Payload


class Run(NamedTuple):
    """One run of a hook.

    `cwd` is the folder of the payload, else of the process. `form` is None where the
    host takes no answer; for `fresh` see Contract.
    `max_tokens`: of the option, 0 for the configuration's.
    """

    host: str
    verb: str
    event: str
    payload: Payload
    cwd: str
    env: Mapping[str, str]
    memory: Memory
    form: Form | None = None
    fresh: bool = False
    max_tokens: int = 0


class Reply(NamedTuple):
    """What a verb says: a block of notes, an approval, or nothing.

    `note` tells the log why. `anew`: the session was not shown anything before this,
    since what it was shown is gone.
    """

    block: Block = NOTHING
    allow: bool = False
    note: str = ""
    anew: bool = False


Answer = Callable[[Run], Reply]
# What there is to learn from, for a process that may be another: its fields by name.
Job = Mapping[str, str]
# What is done once the answer is out; nobody waits for it.
After = Callable[[Run], None]


def nothing(run: Run) -> None:
    """A verb after which nothing is to be done."""
    del run
