"""One evaluation through the product: a database of its own, store, embed, recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from icm_site import conf, database
from icm_site.benchmarks.data import Document, Evaluation, Query
from icm_site.benchmarks.scoring import DEPTH
from icm_site.benchmarks.systems import Found, Outcome, System, Tick
from icm_site.benchmarks.vector_cache import cached_models
from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from icm_site.text import summary_hash
from memories import embedding, matrices, recall, store

# Memory key -> ids of the documents that it holds; equal texts are one memory.
Documents = Mapping[int, tuple[str, ...]]


def run(
    evaluation: Evaluation,
    systems: Sequence[System],
    *,
    path: Path,
    vectors: Path,
    tick: Tick,
    sessions: bool = True,
) -> Outcome:
    """Store the texts in a new database and ask each system every question.

    `path` is the database file to make, `vectors` that of the vector cache. With
    `sessions` a text's session is stored as the agent session of its memory. Raises
    InvalidInput for a text that cannot be stored, Unavailable without the model.
    """
    found: dict[str, tuple[Found, ...]] = {}
    strangers: dict[str, tuple[Found, ...]] = {}
    unembedded = 0
    with own_database(path), cached_models(vectors):
        session_of = evaluation.sessions() if sessions else {}
        documents = store_all(evaluation, session_of, tick)
        for system in systems:
            with model_switched(on=system.model):
                if system.model:
                    unembedded = embed_all(tick)
                for answers, queries in (
                    (found, evaluation.queries),
                    (strangers, evaluation.foreign),
                ):
                    answers[system.name] = tuple(
                        _ask(query, system, documents, tick) for query in queries
                    )
    return Outcome(
        evaluation=evaluation, found=found, strangers=strangers, unembedded=unembedded
    )


@contextmanager
def own_database(path: Path) -> Iterator[None]:
    """Use a new database file in place of this process's one while the block runs."""
    usual, usual_path = connections[DEFAULT_DB_ALIAS], settings.DATABASE_PATH
    own: Any = usual.copy()
    options = {**own.settings_dict["OPTIONS"], "read_only": False}
    own.settings_dict |= {"NAME": path, "OPTIONS": options}
    connections[DEFAULT_DB_ALIAS] = own
    settings.DATABASE_PATH = path
    try:
        database.ready()
        yield
    finally:
        own.close()
        connections[DEFAULT_DB_ALIAS] = usual
        settings.DATABASE_PATH = usual_path
        matrices.forget_matrices()


@contextmanager
def model_switched(*, on: bool) -> Iterator[None]:
    usual = conf.current()
    embeddings = replace(usual.embeddings, enabled=on)
    conf.use(replace(usual, embeddings=embeddings))
    try:
        yield
    finally:
        conf.use(usual)


def store_all(
    evaluation: Evaluation, session_of: Mapping[str, str], tick: Tick
) -> Documents:
    equal: dict[str, list[Document]] = {}
    for document in evaluation.corpus:
        text = summary_hash(_topic(evaluation, document), document.text)
        equal.setdefault(text, []).append(document)
    stored = {}
    for group in equal.values():
        first = group[0]
        key = _store(evaluation, first, session=session_of.get(first.id, ""))
        stored[key] = tuple(document.id for document in group)
        tick("store", len(group))
    return stored


def _store(evaluation: Evaluation, document: Document, *, session: str) -> int:
    caller = Caller(surface="cli", origin="import", agent_session=session)
    try:
        done = store.store(
            topic=_topic(evaluation, document),
            content=document.text,
            caller=caller,
            created_at=document.dated,
            allow_secret=True,
            dedup=False,
        )
    except InvalidInput as error:
        raise InvalidInput(
            f"{evaluation.key}: document {document.id!r}: {error.message}"
        ) from None
    return done.memory.pk


def _topic(evaluation: Evaluation, document: Document) -> str:
    # A memory has a topic; a file that gives none says at least its set.
    return document.topic or evaluation.set


def embed_all(tick: Tick) -> int:
    """Give each memory its vector; returns how many have none afterwards."""
    before = 0

    def progress(done: int, _total: int) -> None:
        nonlocal before
        tick("embed", done - before)
        before = done

    return embedding.backfill(progress=progress).errors


def _ask(query: Query, system: System, documents: Documents, tick: Tick) -> Found:
    answer = recall.recall(
        query=query.text,
        limit=DEPTH,
        engine=system.engine,
        count=False,
        without=system.without,
    )
    tick("ask", 1)
    ranking = [key for hit in answer.hits for key in documents[hit.memory.pk]]
    if not answer.hits:
        return Found(ranking=(), score=0.0)
    return Found(
        ranking=tuple(ranking[:DEPTH]),
        score=answer.hits[0].score,
        relevance=max(hit.relevance for hit in answer.hits),
    )
