"""Evaluation files: a corpus with questions, and which documents answer each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from icm_site.errors import InvalidInput
from icm_site.operation import sentence

# LoCoMo names documents by session and place: "D3:12" is turn 12 of session 3.
_LOCOMO_ID = re.compile(r"[DF](\d+):")


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text to store; `session` names the conversation it was part of."""

    id: str
    text: str
    topic: str | None = None
    created_at: datetime | None = None
    session: str | None = None

    @property
    def dated(self) -> datetime | None:
        """When it was written; a time without a zone is UTC."""
        at = self.created_at
        return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question; without `relevant` ids there is nothing to be found."""

    id: str
    text: str
    relevant: tuple[str, ...]
    kind: str = ""
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One file: the texts of one memory and the questions asked of it."""

    name: str
    set: str
    corpus: tuple[Document, ...]
    queries: tuple[Query, ...]
    split: str = ""
    lang: str = ""
    # Questions about something else; see `with_foreign`.
    foreign: tuple[Query, ...] = ()

    @property
    def key(self) -> str:
        """The name that rankings are filed under."""
        return f"{self.split}/{self.set}/{self.name}"

    @property
    def grain(self) -> str:
        """What a document is (`turn`, `session`), where the name says so."""
        return self.name.rpartition(".")[2] if "." in self.name else ""

    @property
    def family(self) -> str:
        """The set within its split."""
        return f"{self.split}/{self.set}"

    @property
    def group(self) -> str:
        """The line of a report that the file belongs to: its grain or language."""
        part = self.grain or self.lang
        return f"{self.family}/{part}" if part else self.family

    def sessions(self) -> dict[str, str]:
        """Session by document id; empty unless every document has one."""
        found = {document.id: self._session(document) for document in self.corpus}
        return found if all(found.values()) else {}

    def _session(self, document: Document) -> str:
        if document.session:
            return document.session
        known = _LOCOMO_ID.match(document.id) if self.set == "locomo" else None
        return f"S{known[1]}" if known else ""

    def limited(self, queries: int) -> Evaluation:
        """The same corpus with its first queries alone."""
        return replace(self, queries=self.queries[:queries])


def with_foreign(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Each with the questions of the one before it in its group, the first of the last.

    In other words: each question is also asked of the next evaluation. A group of one
    stays as it is.
    """
    groups: dict[str, list[Evaluation]] = {}
    for evaluation in evaluations:
        groups.setdefault(evaluation.group, []).append(evaluation)
    before = {
        evaluation.key: group[place - 1]
        for group in groups.values()
        for place, evaluation in enumerate(group)
        if len(group) > 1
    }
    return [
        replace(evaluation, foreign=before[evaluation.key].queries)
        if evaluation.key in before
        else evaluation
        for evaluation in evaluations
    ]


_EVALUATION = TypeAdapter(Evaluation)


def read(path: Path) -> list[Evaluation]:
    """Evaluations of a file, or of all files below a folder, sorted by path.

    JSON files of another shape are passed over in a folder. Raises InvalidInput.
    """
    if path.is_file():
        found = [(path, _parsed(path))]
    elif path.is_dir():
        files = sorted(path.rglob("*.json"))
        loaded = [(file, _parsed(file)) for file in files]
        found = [(file, value) for file, value in loaded if _is_evaluation(value)]
    else:
        raise InvalidInput(f"there is no file or folder {path}")
    if not found:
        raise InvalidInput(
            f'{path} holds no evaluation: a JSON file with "corpus" and "queries"'
        )
    return [_evaluation(file, value) for file, value in found]


def _parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from None


def _is_evaluation(value: Any) -> bool:
    return isinstance(value, dict) and {"corpus", "queries"} <= value.keys()


def _evaluation(file: Path, value: Any) -> Evaluation:
    try:
        evaluation = _EVALUATION.validate_python(value)
    except ValidationError as error:
        raise InvalidInput(f"{file}: {sentence(error)}") from None
    known = _unique(file, "document", (d.id for d in evaluation.corpus))
    _unique(file, "query", (q.id for q in evaluation.queries))
    for query in evaluation.queries:
        for name in (*query.relevant, *query.forbidden):
            if name not in known:
                raise InvalidInput(
                    f"{file}: query {query.id!r} names the unknown document {name!r}"
                )
    return evaluation


def _unique(file: Path, what: str, names: Iterable[str]) -> set[str]:
    known: set[str] = set()
    for name in names:
        if name in known:
            raise InvalidInput(f"{file}: the {what} id {name!r} is there twice")
        known.add(name)
    return known
