"""Notes of basic-memory: Markdown with a head, observations and relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import nearest, staging
from icm_site.exchange.foreign.moments import moment
from icm_site.exchange.foreign.staging import NO_TIME, Notes, Row, ulid
from icm_site.text import cut
from memoirs.validation import LABELS, NAME_BYTES, TEXT_BYTES

PROGRAM = "basic-memory"
ENDING = ".md"
FILE_BYTES = 1024 * 1024
_HEAD = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[([^\[\]()]{2,60})\][ \t]+(\S.*)$")
_RELATION = re.compile(
    r"^[ \t]*[-*] ([^\[\]]{1,80}?)[ \t]+\[\[([^\[\]|]+)[^\[\]]*\]\](.*)$"
)
_LINK = re.compile(r"\[\[([^\[\]|]+)[^\[\]]*\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_TOPICS = {
    "decision": "decisions",
    "preference": "preferences",
    "problem": "errors-resolved",
    "bug": "errors-resolved",
    "fix": "errors-resolved",
}


@dataclass
class Note:
    """One note; `said` are category and text, `links` relation and target."""

    key: str
    title: str
    kind: str
    tags: list[str]
    at: Any
    changed: Any
    prose: list[str] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


def matches(head: bytes) -> bool:
    """Whether a file is a note with the head that the program writes."""
    found = _HEAD.match(head.decode("utf-8", "replace").replace("\r\n", "\n"))
    return found is not None and "permalink:" in found[1]


def rows(files: list[Path], root: Path, notes: Notes, *, project: str) -> Iterator[Row]:
    """A memoir of the notes, a memory for each observation. Raises InvalidInput."""
    read = {note.key: note for note in (_note(path, root) for path in files)}
    places = _places(read)
    for note in read.values():
        yield from _observations(note, notes, project)
    name = cut(f"{PROGRAM}-{project}" if project else PROGRAM, NAME_BYTES)
    memoir = ulid(PROGRAM, f"memoir\0{name}", NO_TIME)
    yield {
        "type": "memoir",
        "id": memoir,
        "name": name,
        "description": "Imported from the notes of basic-memory.",
        "threshold": 50,
        "created_at": NO_TIME.isoformat(),
        "updated_at": NO_TIME.isoformat(),
    }
    titles: dict[str, int] = {}
    links: list[Row] = []
    for note in read.values():
        lines = list(_linked(note, read, places, links, notes))
        number = titles[note.title] = titles.get(note.title, 0) + 1
        title = note.title if number == 1 else f"{note.title} ({note.key})"
        yield _concept(memoir, note, title, lines, notes)
    yield from links


def _note(path: Path, root: Path) -> Note:
    try:
        if path.stat().st_size > FILE_BYTES:
            raise InvalidInput(f"larger than {FILE_BYTES >> 20} MiB: {path}")
        text = path.read_text("utf-8-sig").replace("\r\n", "\n").replace("\0", "")
    except UnicodeDecodeError:
        raise InvalidInput(f"not UTF-8: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    head = _front(text, path)
    tags = head.get("tags") or []
    found = Note(
        key=str(head.get("permalink") or path.relative_to(root).with_suffix("")),
        title=" ".join(str(head.get("title") or path.stem).split()) or path.stem,
        kind=str(head.get("type") or "note"),
        tags=[str(tag) for tag in (tags if isinstance(tags, list) else [])]
        or [tag.strip() for tag in str(tags or "").split(",") if tag.strip()],
        at=head.get("created") or head.get("date") or path.stat().st_mtime,
        changed=head.get("modified") or path.stat().st_mtime,
    )
    _read(_HEAD.sub("", text), found)
    return found


def _front(text: str, path: Path) -> Mapping[str, Any]:
    found = _HEAD.match(text)
    if found is None:
        return {}
    try:
        head = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InvalidInput(f"the head of {path} is not YAML") from None
    return head if isinstance(head, dict) else {}


def _read(body: str, note: Note) -> None:
    """Put each line where it belongs; what is code stays prose."""
    fenced = False
    for line in body.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        seen = None if fenced else _OBSERVATION.match(line)
        related = None if fenced or seen else _RELATION.match(line)
        if seen:
            note.said.append((seen[1].strip(), seen[2].strip()))
        elif related:
            note.links.append((related[1].strip(), related[2].strip()))
        else:
            note.prose.append(line)
            if not fenced:
                note.links += [
                    ("links_to", each.strip()) for each in _LINK.findall(line)
                ]


def _places(read: Mapping[str, Note]) -> dict[str, str]:
    """By which words a note is named: permalink, title, and the end of either."""
    found: dict[str, str] = {}
    for key, note in read.items():
        for word in (key, note.title, key.rpartition("/")[2]):
            found.setdefault(_plain(word), key)
    return found


def _plain(word: str) -> str:
    return "-".join(word.casefold().removesuffix(".md").replace("_", " ").split())


def _observations(note: Note, notes: Notes, project: str) -> Iterator[Row]:
    for category, text in note.said:
        topic = _TOPICS.get(category.casefold(), "context")
        made = staging.memory(
            program=PROGRAM,
            key=f"{note.key}\0{category}\0{text}",
            topic=staging.topic(topic, "" if topic == "preferences" else project),
            text=f"{note.title}: {text}",
            notes=notes,
            at=moment(note.at),
            keywords=[f"kind:{category}", *_TAG.findall(text), *note.tags],
            source={"note": note.key, "title": cut(note.title, NAME_BYTES)},
        )
        if made:
            yield made


def _linked(
    note: Note,
    read: Mapping[str, Note],
    places: Mapping[str, str],
    links: list[Row],
    notes: Notes,
) -> Iterator[str]:
    """Add the note's links; what they leave unsaid comes back as lines of text."""
    for word, target in dict.fromkeys(note.links):
        relation, same = nearest.relation(word)
        other = places.get(_plain(target))
        if other is None or other == note.key:
            notes.add("a relation to a note that is not there became a line of text")
        if other is None or other == note.key or not (same or word == "links_to"):
            yield f"{word}: {target}"
        if other is None or other == note.key:
            continue
        links.append(
            {
                "type": "concept_link",
                "id": ulid(PROGRAM, f"link\0{note.key}\0{other}\0{relation}", NO_TIME),
                "source": ulid(PROGRAM, f"concept\0{note.key}", NO_TIME),
                "target": ulid(PROGRAM, f"concept\0{read[other].key}", NO_TIME),
                "relation": str(relation.value),
                "weight": 1.0,
                "origin": "import",
                "created_at": moment(note.at).isoformat(),
            }
        )


def _concept(
    memoir: str, note: Note, title: str, lines: list[str], notes: Notes
) -> Row:
    said = [f"[{category}] {text}" for category, text in note.said]
    prose = re.sub(r"\n{3,}", "\n\n", "\n".join(note.prose)).strip()
    text = "\n".join(filter(None, [prose, *said, *lines])) or note.title
    if len(text.encode("utf-8", "replace")) > TEXT_BYTES:
        notes.add(f"a note had more than {TEXT_BYTES} bytes of text and was cut")
    labels = [f"type:{note.kind}", *(f"tag:{tag}" for tag in note.tags)]
    return {
        "type": "concept",
        "id": ulid(PROGRAM, f"concept\0{note.key}", NO_TIME),
        "memoir": memoir,
        "name": cut(title, NAME_BYTES),
        "definition": cut(text, TEXT_BYTES),
        "labels": [cut(each, NAME_BYTES) for each in dict.fromkeys(labels)][:LABELS],
        "confidence": 0.5,
        "revision": 1,
        "source_memory_ids": [],
        "origin": "import",
        "created_at": moment(note.at).isoformat(),
        "updated_at": moment(note.changed).isoformat(),
    }
