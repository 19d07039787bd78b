"""Who asks: the surface, the program behind it and where it works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class Caller:
    """One caller of operations; carried to every write as its origin.

    `surface` is cli, mcp, http, admin or hook; `origin` user, agent, hook or import;
    `details` holds what else is known of the source (git commit, client version).
    Over a network there is neither a `cwd` nor, unless it is named, a project, and
    writing may not be allowed.
    """

    surface: str
    origin: str = "user"
    host: str = ""
    agent_session: str = ""
    cwd: str = ""
    project: str = ""
    may_write: bool = True
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
