"""Projects: listed with counts, given other names, joined."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import known_projects, listing, projects, store
from memories.driver import raw_connection
from memories.models import Change, Project
from memories.project_visits import NAME_CHARS
from memories.scope import TOPICS


@dataclass(frozen=True, kw_only=True)
class Row:
    """A project as the list shows it; `last_seen` None: known from topics alone."""

    name: str
    memories: int
    aliases: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    last_seen: datetime | None = None


@dataclass(frozen=True)
class Merged:
    """What a merge did. `left`: topics that belong to a third project as well."""

    old: str
    new: str
    topics: int
    moved: int
    merged: int
    left: int
    change: Change | None


def listed() -> list[Row]:
    """All projects with their live memories, the fullest first."""
    raw = raw_connection()
    rows = {row.name: row for row in Project.objects.all()}
    others: dict[str, list[str]] = {}
    for old, new in known_projects.aliases(raw).items():
        others.setdefault(new, []).append(old)
    counts = [(projects.segments(topic), count) for topic, count in listing.topics()]
    found = []
    for name in known_projects.names(raw):
        wanted, row = projects.segments(name), rows.get(name)
        found.append(
            Row(
                name=name,
                memories=sum(n for parts, n in counts if wanted <= parts),
                aliases=tuple(sorted(others.get(name, ()))),
                paths=tuple(row.paths) if row else (),
                last_seen=row.last_seen if row else None,
            )
        )
    return sorted(found, key=lambda row: (-row.memories, row.name))


def alias(old: str, new: str, *, now: datetime, remove: bool = False) -> str:
    """Let a name mean a project from now on, or no more; returns that project.

    Raises InvalidInput for a blank name, Conflict for a circle, NotFound where there
    is no such alias to take back.
    """
    one, other = _name(old), _name(new)
    with transaction.atomic():
        if remove:
            return _without(one, other)
        if projects.current(other, known_projects.aliases(raw_connection())) == one:
            raise Conflict(f"'{other}' is another name of '{one}' already")
        _add(one, other, None, now=now)
    return other


def merge(old: str, new: str, *, caller: Caller, now: datetime) -> Merged:
    """Make two projects one: rename the topics of the old one, keep its name as alias.

    One change, whose undo brings back topics and name. Raises InvalidInput, and
    NotFound where nothing is known of the old project.
    """
    one, other = _name(old), _name(new)
    if one == other:
        raise InvalidInput("give two different projects")
    raw = raw_connection()
    topics = [row[0] for row in raw.execute(TOPICS)]
    mine = [topic for topic in topics if projects.segment_match(topic, one)]
    if not mine and not Project.objects.filter(name=one).exists():
        near = known_projects.near(raw, one)
        raise NotFound(f"project not found: {one}" + (f"; {near}" if near else ""))
    renamed = _renamed(mine, one, other, known_projects.names(raw))
    with transaction.atomic():
        moved, merged, change = store.rename_topics(
            renamed, operation="merge_projects", caller=caller, now=now
        )
        _add(one, other, change, now=now)
    left = len(mine) - len(renamed)
    return Merged(one, other, len(renamed), moved, merged, left, change)


def _name(given: str) -> str:
    name = projects.normalise_name(given)
    if not name or len(name) > NAME_CHARS:
        raise InvalidInput(f"a project's name has 1 to {NAME_CHARS} characters")
    return name


def _renamed(
    topics: list[str], old: str, new: str, known: list[str]
) -> Mapping[str, str]:
    """The new names of a project's topics, by the old ones.

    `decisions-icm-core` stays where icm-core is a project of its own.
    """
    mine = projects.segments(old)
    larger = [name for name in (*known, new) if mine < projects.segments(name)]
    pattern = _in_topic(old)
    found = {}
    for topic in topics:
        if any(projects.segment_match(topic, name) for name in larger):
            continue
        wanted = pattern.sub(lambda match: new, unicodedata.normalize("NFC", topic))
        if wanted != topic:
            found[topic] = wanted
    return found


def _in_topic(project: str) -> re.Pattern[str]:
    """A project's name where it stands in a topic, as whole segments."""
    parts = [re.escape(part) for part in projects.ordered_segments(project)]
    between = projects.SEPARATORS.pattern
    single = between.removesuffix("+")
    outside = single.replace("[", "[^", 1)
    return re.compile(
        rf"(?<!{outside}){between.join(parts)}(?!{outside})", re.IGNORECASE
    )


def _add(old: str, new: str, change: Change | None, *, now: datetime) -> None:
    row, _ = Project.objects.get_or_create(name=new, defaults={"last_seen": now})
    entry = {"name": old, "change": change.ulid} if change else old
    kept = [one for one in row.aliases if one != old and _of(one) != old]
    row.aliases = [*kept, entry]
    row.save(update_fields=["aliases"])


def _of(entry: object) -> object:
    return entry.get("name") if isinstance(entry, dict) else entry


def _without(old: str, new: str) -> str:
    row = Project.objects.filter(name=new).first()
    kept = [one for one in row.aliases if _of(one) != old] if row else []
    if row is None or len(kept) == len(row.aliases):
        raise NotFound(f"'{old}' is no other name of '{new}'")
    row.aliases = kept
    row.save(update_fields=["aliases"])
    return new
