"""The file of `@modelcontextprotocol/server-memory`: a graph, one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import nearest
from icm_site.exchange.foreign.staging import NO_TIME, Notes, Row, ulid
from icm_site.text import cut
from memoirs.validation import NAME_BYTES, TEXT_BYTES

PROGRAM = "server-memory"
ENTITY = ("type", "name", "entityType", "observations")
RELATION = ("type", "from", "to", "relationType")
FILE_BYTES, LINE_BYTES = 256 << 20, 16 << 20


def matches(head: bytes) -> bool:
    """Whether a file begins as one of that program does."""
    try:
        first = json.loads(head.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("type") in ("entity", "relation")


def rows(path: Path, notes: Notes) -> Iterator[Row]:
    """A memoir named after the file, a concept for each entity, links between them.

    Raises InvalidInput.
    """
    entities: dict[str, dict[str, Any]] = {}
    relations: list[dict[str, Any]] = []
    for record in _records(path):
        if record.get("type") == "entity":
            _entity(record, entities, notes)
        elif record.get("type") == "relation":
            notes.unknown("relation", record, RELATION)
            relations.append(record)
        else:
            notes.add(f"a record of type {str(record.get('type'))[:40]!r} was left out")
    memoir = ulid(PROGRAM, "memoir", NO_TIME)
    yield {
        "type": "memoir",
        "id": memoir,
        "name": PROGRAM,
        "description": "Imported from the file of server-memory.",
        "threshold": 50,
        "created_at": NO_TIME.isoformat(),
        "updated_at": NO_TIME.isoformat(),
    }
    links = list(_links(relations, entities, notes))
    for name, entity in entities.items():
        yield _concept(memoir, name, entity, notes)
    yield from links


def _records(path: Path) -> Iterator[dict[str, Any]]:
    if path.stat().st_size > FILE_BYTES:
        raise InvalidInput(f"larger than {FILE_BYTES >> 20} MiB: {path}")
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InvalidInput(f"not UTF-8: {path}") from None
        except (ValueError, RecursionError):
            raise InvalidInput(f"line {number} of {path} is not JSON") from None
        if not isinstance(record, dict):
            raise InvalidInput(f"line {number} of {path} is no JSON object")
        yield record


def _lines(path: Path) -> Iterator[bytes]:
    """One at a time: a file may be one line, and is never held whole."""
    with path.open("rb") as file:
        while line := file.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                raise InvalidInput(
                    f"a line of {path} is longer than {LINE_BYTES >> 20} MiB"
                )
            yield line


def _entity(record: dict[str, Any], entities: dict[str, Any], notes: Notes) -> None:
    name, said = record.get("name"), record.get("observations")
    if not isinstance(name, str) or not name.strip() or not isinstance(said, list):
        notes.add("an entity without name or observations was left out")
        return
    notes.unknown("entity", record, ENTITY)
    known = entities.setdefault(name, {"kind": record.get("entityType"), "said": []})
    known["said"] += [each for each in said if isinstance(each, str)]


def _links(
    relations: list[dict[str, Any]], entities: dict[str, Any], notes: Notes
) -> Iterator[Row]:
    for record in relations:
        source, target = str(record.get("from")), str(record.get("to"))
        kind = str(record.get("relationType") or "related_to")
        if source not in entities or target not in entities:
            notes.add("a relation names an entity that is not there and was left out")
            continue
        relation, same = nearest.relation(kind)
        if not same:
            # Of nine relations none has this name: the words stay with the concept.
            entities[source]["said"].append(f"{kind}: {target}")
        if source == target:
            notes.add("a relation of an entity to itself became a line of its text")
            entities[source]["said"].append(f"{kind}: {target}")
            continue
        yield {
            "type": "concept_link",
            "id": ulid(PROGRAM, f"link\0{source}\0{target}\0{relation}", NO_TIME),
            "source": ulid(PROGRAM, f"concept\0{source}", NO_TIME),
            "target": ulid(PROGRAM, f"concept\0{target}", NO_TIME),
            "relation": str(relation.value),
            "weight": 1.0,
            "origin": "import",
            "created_at": NO_TIME.isoformat(),
        }


def _concept(memoir: str, name: str, entity: dict[str, Any], notes: Notes) -> Row:
    said = list(dict.fromkeys(line.replace("\0", "") for line in entity["said"]))
    text = "\n".join(said) or name
    if len(text.encode("utf-8", "replace")) > TEXT_BYTES:
        notes.add(f"an entity had more than {TEXT_BYTES} bytes of text and was cut")
    kind = " ".join(str(entity["kind"] or "").split())
    return {
        "type": "concept",
        "id": ulid(PROGRAM, f"concept\0{name}", NO_TIME),
        "memoir": memoir,
        "name": cut(" ".join(name.replace("\0", "").split()), NAME_BYTES),
        "definition": cut(text, TEXT_BYTES),
        "labels": [cut(f"type:{kind}", NAME_BYTES)] if kind else [],
        "confidence": 0.5,
        "revision": 1,
        "source_memory_ids": [],
        "origin": "import",
        "created_at": NO_TIME.isoformat(),
        "updated_at": NO_TIME.isoformat(),
    }
