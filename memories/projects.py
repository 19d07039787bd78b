"""The name of a project, and which topics belong to one; standard library only."""

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from icm_site import git, later, paths
from icm_site.errors import Unavailable

SEPARATORS = re.compile(r"[-._/:\s]+")
_SCHEME = later.pattern(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ESCAPED = later.pattern("%([0-9a-fA-F]{2})")
_MOST_HOPS = 8
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})
_GLOBAL = frozenset({"preferences", "identity"})
_GLOBAL_STARTS = ("preferences-", "preferences.", "user-", "user.")
# Words that say what kind of knowledge a topic holds, and not whose.
_KINDS = frozenset(
    (
        *("architecture", "best", "bug", "bugs", "bugfix", "bugfixes", "context"),
        *("contexte", "convention", "conventions", "decision", "decisions", "error"),
        *("errors", "fixes", "general", "gotcha", "gotchas", "howto", "insight"),
        *("insights", "knowledge", "learning", "learnings", "lesson", "lessons"),
        *("milestone", "milestones", "note", "notes", "pattern", "patterns"),
        *("practice", "practices", "resolved", "rule", "rules", "tip", "tips"),
        *("todo", "todos", "workflow", "workflows"),
    )
)


def project_name(
    cwd: str | os.PathLike[str],
    *,
    env: Mapping[str, str] = os.environ,
    name: str | None = None,
    aliases: Mapping[str, str] = _NO_ALIASES,
) -> str | None:
    """Return the project that work in `cwd` belongs to, the same on every surface.

    First match: `name` (the repository's config) > remote `origin` > folder of the main
    working tree > base name of the real path; `aliases` then map old names to new.
    None in the home folder (or above it), at a root and in a temporary folder.
    """
    own = normalise_name(name or "")
    derived = own or normalise_name(_derived(Path(os.path.realpath(cwd)), env))
    if not derived:
        return None
    return current(derived, aliases)


def current(name: str, aliases: Mapping[str, str]) -> str:
    """Return the name that a project goes by now; a chain of aliases is followed."""
    known = {normalise_name(old): normalise_name(new) for old, new in aliases.items()}
    name = normalise_name(name)
    for _ in range(_MOST_HOPS):
        if not known.get(name):
            break
        name = known[name]
    return name


def normalise_name(name: str) -> str:
    """Return a name in one spelling: composed, lower case, `-` for blanks."""
    visible = "".join(c if c.isprintable() else " " for c in name)
    return "-".join(unicodedata.normalize("NFC", visible).lower().split())


def near_misses(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that may have been meant, the likeliest first."""
    import difflib  # slow to import, and asked for only on a miss

    wanted = normalise_name(name)
    others = {normalise_name(other): other for other in known}
    others.pop(wanted, None)
    return [others[near] for near in difflib.get_close_matches(wanted, others, n=3)]


def segment_match(topic: str, project: str) -> bool:
    """Tell whether each segment of the project is a segment of the topic.

    `icm` is in `errors-icm-core`, but not in `icmp-notes`.
    """
    wanted = segments(project)
    return bool(wanted) and wanted <= segments(topic)


def is_global_topic(topic: str) -> bool:
    """Tell whether a topic belongs to the person, and so to every project."""
    text = normalise_name(topic)
    return text in _GLOBAL or text.startswith(_GLOBAL_STARTS) or "preference" in text


def is_kind_only(topic: str) -> bool:
    """Tell whether a topic names a kind of knowledge and no project at all.

    Such knowledge is the second tier inside a project, for example `errors-resolved`.
    """
    parts = segments(topic)
    return bool(parts) and parts <= _KINDS


def named_in(topic: str) -> str | None:
    """The project that a topic of the form kind-project names: `decisions-shop`.

    None where no kind comes first, or nothing after it.
    """
    if is_global_topic(topic):
        return None
    parts = ordered_segments(topic)
    kinds = next((n for n, part in enumerate(parts) if part not in _KINDS), len(parts))
    return "-".join(parts[kinds:]) or None if kinds else None


def remote_name(url: str) -> str | None:
    """Return the repository's name in an address: https, ssh, scp form or a path."""
    text = url.strip().replace("\\", "/")
    if _SCHEME.match(text):
        _, _, place = _SCHEME.sub("", text).partition("/")
        text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)), re.split("[?#]", place)[0])
    last = re.split("[/:]", text.rstrip("/"))[-1].removesuffix(".git")
    return last if last.strip(". ") else None


def segments(text: str) -> frozenset[str]:
    """The parts of a topic or of a project's name, in lower case."""
    return frozenset(ordered_segments(text))


def ordered_segments(text: str) -> tuple[str, ...]:
    """The same in their order."""
    normal = unicodedata.normalize("NFC", text).lower()
    return tuple(filter(None, SEPARATORS.split(normal)))


def _derived(place: Path, env: Mapping[str, str]) -> str:
    if _is_no_project(place, env):
        return ""
    repository = git.find(place)
    # A home folder may be a repository of dot files; what lies below is not part of it.
    if repository is None or _is_no_project(repository.root, env):
        return place.name
    url = git.origin_url(repository)
    return (url and remote_name(url)) or _folder_name(git.main_tree(repository))


def _folder_name(tree: Path) -> str:
    return tree.name.removesuffix(".git")


def _is_no_project(place: Path, env: Mapping[str, str]) -> bool:
    if place == Path(place.anchor) or place in paths.temp_dirs(env):
        return True
    try:
        home = Path(os.path.realpath(paths.home_dir(env)))
    except Unavailable:
        return False
    return home.is_relative_to(place)
