"""Search over a plain connection to the real schema, with no model."""

import logging
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection

from memories import fts_schema, words
from memories.models import Memory, State
from memories.rank import Hit
from memories.search import Scope, find, topics_matching
from memories.vector_matrix import MatrixVectors
from tests.factories import FakeEmbedder, make_memory

pytestmark = pytest.mark.django_db

FAKE = FakeEmbedder()


def raw() -> Any:
    connection.ensure_connection()
    return connection.connection


def texts(hits: Sequence[Hit]) -> list[str]:
    return [Memory.objects.get(pk=hit.memory_id).summary for hit in hits]


def by_words(query: str, **how: Any) -> list[str]:
    return texts(find(raw(), query, **how))


def embed(memory: Memory) -> None:
    vector = FAKE.embed_texts([memory.summary])[0].tobytes()
    raw().execute(
        "INSERT INTO memory_vectors(memory_id, piece, model, vector)"
        " VALUES (?, 0, ?, ?)",
        (memory.pk, FAKE.name, vector),
    )


def with_vectors(query: str, **how: Any) -> list[Hit]:
    return find(
        raw(),
        query,
        query_vector=FAKE.embed_query(query).tolist(),
        vectors=MatrixVectors(FAKE.name, FAKE.dimensions),
        **how,
    )


def check_index() -> None:
    """Raises if the text index and its content have drifted apart."""
    raw().execute(fts_schema.INTEGRITY_CHECK)


def test_a_row_that_holds_more_of_the_question_comes_first() -> None:
    make_memory("The proxy listens on port 8443 in staging.")
    make_memory("The proxy was replaced.")
    make_memory("Lunch is at noon.")
    found = by_words("On which port does the proxy listen?")
    assert found == [
        "The proxy listens on port 8443 in staging.",
        "The proxy was replaced.",
    ]


def test_a_weak_match_scores_low_and_a_full_one_high() -> None:
    for n in range(20):
        make_memory(f"Note {n}: weekly meeting about thing {n}.")
    make_memory("The staging proxy listens on port 8443.")
    full = find(raw(), "staging proxy port")[0]
    weak = find(raw(), "meeting with the zebra committee of Kenya")[0]
    assert full.score > 0.6
    assert weak.score < 0.25
    assert find(raw(), "meeting zebra committee Kenya", min_score=0.3) == []


def test_filters_hold_before_the_cut() -> None:
    for n in range(120):
        make_memory(f"deploy deploy deploy number {n}", topic="decisions-shop")
    make_memory("A deploy of the blog.", topic="decisions-blog", keywords=["Ghost 5"])
    blog = Scope(topics=("decisions-blog",))
    assert by_words("deploy", scope=blog, limit=1) == ["A deploy of the blog."]
    ghost = Scope(keyword="ghost")
    assert by_words("deploy", scope=ghost, limit=1) == ["A deploy of the blog."]
    assert by_words("deploy", scope=Scope(topics=())) == []
    assert by_words("deploy", scope=Scope(keyword="%")) == []


def test_a_superseded_hit_leads_to_the_memory_that_replaced_it() -> None:
    old = make_memory("The database is Postgres 14 on host alpha.")
    new = make_memory("It is now version 16.", supersedes=old.ulid)
    hits = find(raw(), "which database on alpha?")
    assert [hit.memory_id for hit in hits] == [new.pk]
    assert hits[0].replaces == (old.pk,)


def test_a_chain_of_successors_ends_in_the_live_one_or_in_nothing() -> None:
    first = make_memory("Zanzibar setting is one.")
    second = make_memory("Setting two.", supersedes=first.ulid)
    third = make_memory("Setting three.", supersedes=second.ulid)
    assert [h.memory_id for h in find(raw(), "zanzibar")] == [third.pk]
    Memory.objects.filter(pk=third.pk).update(state=State.FORGOTTEN)
    assert find(raw(), "zanzibar") == []
    Memory.objects.filter(pk=third.pk).update(
        state=State.SUPERSEDED, superseded_by=first.pk
    )
    assert find(raw(), "zanzibar") == []


@pytest.mark.parametrize("state", [State.FORGOTTEN, State.ARCHIVED])
def test_hidden_memories_are_not_found(state: State) -> None:
    memory = make_memory("The zanzibar setting.")
    Memory.objects.filter(pk=memory.pk).update(state=state)
    assert find(raw(), "zanzibar") == []
    assert find(raw(), "anziba") == []
    check_index()
    Memory.objects.filter(pk=memory.pk).update(state=State.LIVE)
    assert by_words("zanzibar") == ["The zanzibar setting."]
    check_index()


def test_excluded_memories_leave_their_place_to_others() -> None:
    first = make_memory("Alpha proxy port.")
    make_memory("Alpha proxy host.")
    assert by_words("alpha proxy port", exclude={first.pk}, limit=1) == [
        "Alpha proxy host."
    ]


def test_parts_of_words_are_found_only_when_no_word_is() -> None:
    make_memory("Kubernetes runs the shop.")
    hits = find(raw(), "ubernete")
    assert texts(hits) == ["Kubernetes runs the shop."]
    assert hits[0].score == 0
    assert hits[0].decided == "substring"
    assert find(raw(), "ubernete", min_score=0.01) == []
    assert find(raw(), "ub") == []
    assert find(raw(), "100%_") == []


def test_parts_of_words_in_capitals_are_found_accents_or_not() -> None:
    make_memory("ÉTÉÀLAPLAGE is the word for RIPGREPPING.")
    assert by_words("éàla") == ["ÉTÉÀLAPLAGE is the word for RIPGREPPING."]
    assert by_words("pgrepp") == ["ÉTÉÀLAPLAGE is the word for RIPGREPPING."]


def test_a_hundred_parts_of_words_are_looked_for_and_the_most_come_first() -> None:
    some = make_memory("Xylophones.", topic="one")
    more = make_memory("Xylophones in glockenspielen.", topic="two")
    parts = ["ylopho", "lockenspiele", *(f"zzq{n}zzq" for n in range(98))]
    hits = find(raw(), " ".join(parts))
    assert [hit.memory_id for hit in hits] == [more.pk, some.pk]


@pytest.mark.parametrize("query", ["日", "日本", "本語", "日本語検"])
def test_characters_of_unspaced_scripts_are_found(query: str) -> None:
    make_memory("日本語検索の設定")
    assert by_words(query) == ["日本語検索の設定"]


@pytest.mark.parametrize("limit", [-1, 0])
def test_a_limit_below_one_means_one(limit: int) -> None:
    make_memory("Alpha one is first.")
    make_memory("Alpha two comes second.")
    assert len(find(raw(), "alpha", limit=limit)) == 1
    assert len(find(raw(), "alpha", limit=10**12)) == 2


def test_the_order_is_the_same_each_time_and_ties_go_by_id() -> None:
    made = [make_memory(f"Alpha {word}.") for word in ("bravo", "charlie", "delta")]
    found = [hit.memory_id for hit in find(raw(), "alpha")]
    assert found == [memory.pk for memory in made]


def test_near_duplicates_take_one_place() -> None:
    best = make_memory("The gateway uses port 8080 for metrics.")
    other = make_memory("The gateway server uses port 8080 for metrics.", dedup=False)
    make_memory("The gateway uses port 8081 for metrics.", dedup=False)
    hits = find(raw(), "gateway metrics port")
    assert len(hits) == 2
    folded = {hit.memory_id for hit in hits} | {i for h in hits for i in h.collapsed}
    assert {best.pk, other.pk} <= folded


def test_a_memory_beside_the_answer_in_its_session_is_lent_score() -> None:
    first = make_memory("When do we release the app?")
    second = make_memory("Every second Tuesday.")
    third = make_memory("Lunch is at noon.")
    Memory.objects.filter(pk__in=[first.pk, second.pk]).update(agent_session="s1")
    hits = find(raw(), "release the app")
    assert [hit.memory_id for hit in hits] == [first.pk, second.pk]
    assert hits[1].decided == "session"
    assert hits[1].score < hits[0].score
    assert third.pk not in {hit.memory_id for hit in hits}
    other_topic = Scope(topics=("elsewhere",))
    assert find(raw(), "release the app", scope=other_topic) == []


@pytest.mark.parametrize("mark", ["?", "？", "؟"])
def test_the_answer_to_a_question_in_a_session_comes_before_what_precedes_it(
    mark: str,
) -> None:
    before = make_memory("Good morning to everybody.")
    question = make_memory(f"Which queue do we use for letters{mark}")
    answer = make_memory("RabbitMQ, until the spring at least.")
    everywhere = [before.pk, question.pk, answer.pk]
    assert [hit.memory_id for hit in find(raw(), "queue letters")] == [question.pk]
    (alone,) = find(raw(), "queue letters")
    Memory.objects.filter(pk__in=everywhere).update(agent_session="s1")
    hits = find(raw(), "queue letters")
    assert [hit.memory_id for hit in hits] == [question.pk, answer.pk, before.pk]
    apart = find(raw(), "queue letters", without=("session",))
    assert apart == [alone]


def test_a_meaning_without_a_common_word_is_found_by_vectors() -> None:
    for n in range(20):
        embed(make_memory(f"Note {n} about subject {n * 31}."))
    memory = make_memory("The vehicle is blue.")
    embed(memory)
    hit = with_vectors("car")[0]
    assert hit.memory_id == memory.pk
    assert hit.decided == "vector"
    assert hit.ranks == {"vector": 1}
    assert set(hit.values) == {"cosine", "nearness"}


@pytest.mark.parametrize("engine", ["default", "blend", "additive"])
def test_a_match_without_a_vector_ranks_above_unrelated_rows(engine: str) -> None:
    for n in range(30):
        embed(make_memory(f"Note {n} about subject {n * 31} and espresso."))
    match = make_memory("The zanzibar port is 9000.")
    assert with_vectors("zanzibar port", engine=engine)[0].memory_id == match.pk


def test_each_candidate_is_judged_by_both_arms() -> None:
    for n in range(150):
        make_memory(f"database database {n}", dedup=False)
    target = make_memory(
        "A long note about storage of the old reports, in which a database is named "
        "among many other things that do not matter at all to anybody."
    )
    embed(target)
    hit = next(h for h in with_vectors("database storage") if h.memory_id == target.pk)
    assert {"text", "cosine", "nearness"} <= set(hit.values)


def test_one_arm_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_memory("The zanzibar port is 9000.")
    with caplog.at_level(logging.WARNING):
        hits = find(
            raw(),
            "zanzibar",
            query_vector=[1.0],
            vectors=MatrixVectors(FAKE.name, FAKE.dimensions),
        )
    assert texts(hits) == ["The zanzibar port is 9000."]
    assert "vector arm" in caplog.text
    monkeypatch.setattr(words, "CANDIDATES", "SELECT broken")
    assert texts(find(raw(), "zanzibar")) == ["The zanzibar port is 9000."]
    assert "text arm" in caplog.text


@pytest.mark.parametrize(
    ("wanted", "topics"),
    [
        ("decisions", ("decisions-shop", "Decisions-Blog")),
        ("DECISIONS-SHOP", ("decisions-shop",)),
        ("my decisions-shop notes", ("decisions-shop",)),
        ("", ()),
        ("nothing", ()),
    ],
)
def test_a_topic_filter_means_topics_that_contain_it_or_are_contained(
    wanted: str, topics: tuple[str, ...]
) -> None:
    known = ["decisions-shop", "Decisions-Blog", "preferences", ""]
    assert topics_matching(wanted, known) == topics


def test_the_index_follows_only_what_it_holds() -> None:
    memory = make_memory("The proxy listens on 8443.")
    before = raw().total_changes
    raw().execute(
        "UPDATE memories SET importance = 'high', summary_index = summary_index"
        " WHERE id = ?",
        (memory.pk,),
    )
    assert raw().total_changes == before + 1
    Memory.objects.filter(pk=memory.pk).update(summary_index="portal")
    check_index()
    assert not find(raw(), "proxy listens", min_score=0.01)
    assert len(find(raw(), "portal")) == 1
    raw().execute(fts_schema.REBUILD)
    check_index()
    memory.delete()
    check_index()
    assert find(raw(), "portal") == []


def test_a_drift_of_the_index_is_noticed() -> None:
    memory = make_memory("The proxy listens on 8443.")
    raw().execute(
        "INSERT INTO memories_fts(rowid, topic_index, summary_index, keywords_index)"
        " VALUES (?, '', 'stray', '')",
        (memory.pk + 1,),
    )
    with pytest.raises(sqlite3.DatabaseError):
        check_index()
    raw().execute(fts_schema.REBUILD)
    check_index()


def test_search_needs_neither_django_nor_numpy() -> None:
    program = (
        "import sys, memories.search, memories.rank, icm_site.text;"
        "sys.exit(bool({'django', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
