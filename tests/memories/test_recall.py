"""Recall as a whole: filters, tiers, budget, succession, what it counts."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memories import embedding, matrices, recall, search, store
from memories.models import Memory, MemoryUsage
from memories.word_matrix import MatrixWords
from tests.factories import CALLER, FakeEmbedder, make_memory

pytestmark = pytest.mark.django_db


def found(query: str, **how: Any) -> list[str]:
    return [hit.memory.summary for hit in recall.recall(query=query, **how).hits]


def embedded(content: str, **fields: Any) -> Memory:
    memory = make_memory(content, **fields)
    embedding.embed_memories([memory], embedding.database_embedder())
    return memory


def test_a_question_finds_the_memory_that_holds_some_of_its_words() -> None:
    make_memory("The shop runs on Postgres 16 since March.")
    make_memory("Deployments happen on Tuesdays.")
    assert found("which Postgres does the shop run on?")[0].startswith("The shop")


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_few_rows_are_found_by_word_and_by_meaning(
    rows: int, model: FakeEmbedder
) -> None:
    facts = [
        "Our database is Postgres.",
        "Espresso is served at nine.",
        "Every vehicle needs insurance.",
        "Passwords expire in May.",
        "Lunch is on Tuesday.",
    ]
    for fact in facts[:rows]:
        embedded(fact)
    assert found("Postgres")[:1] == ["Our database is Postgres."]
    assert found("mysql storage")[:1] == ["Our database is Postgres."]


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\0", "?!", "\u200b"])
def test_a_query_without_words_finds_nothing(query: str, model: FakeEmbedder) -> None:
    embedded("The shop runs on Postgres.", importance="critical")
    assert found(query) == []


@pytest.mark.parametrize("engine", ["default", "blend", "additive"])
def test_an_unrelated_query_finds_nothing_by_words(engine: str) -> None:
    make_memory("The shop runs on Postgres.", importance="critical")
    assert found("zebra migration in Kenya", engine=engine) == []


@pytest.mark.parametrize(
    "query",
    [
        "".join(map(chr, range(1, 128))),
        '"unbalanced',
        "a AND OR NOT NEAR(",
        "topic_index:x",
        "x*",
        "Postgres' OR 1=1 --",
        "\u202edatabase\u202c \U0001f600",
        "cafe\u0301 CAFÉ",
        "x" * 50_000,
        "word " * 1_000,
        "日本語 한국어 中文",
        "İstanbul ﷺ \u0fff",
    ],
)
def test_no_query_is_too_strange(query: str, model: FakeEmbedder) -> None:
    embedded("The shop runs on Postgres.")
    embedded("Café hours")
    recall.recall(query=query)
    recall.recall(query=query, topic=query[:99], keyword=query[:99], project=query[:9])


@pytest.mark.parametrize(("limit", "most"), [(-1, 1), (0, 1), (3, 3), (10**12, 8)])
def test_a_limit_is_clamped(limit: int, most: int) -> None:
    for number in range(8):
        make_memory(f"Postgres fact about item{number} and thing{number}.")
    assert len(found("Postgres", limit=limit)) == most


class TestFilters:
    def test_they_hold_before_the_cut(self) -> None:
        for number in range(40):
            make_memory(f"Postgres Postgres alpha{number} beta{number}.", topic="loud")
        make_memory("A word on Postgres from afar.", topic="quiet", keywords=["Rare"])
        expected = ["A word on Postgres from afar."]
        assert found("Postgres", topic="quiet", limit=5) == expected
        assert found("Postgres", keyword="rare", limit=5) == expected

    def test_a_topic_means_its_name_or_a_part_without_case(self) -> None:
        make_memory("Postgres one.", topic="decisions-Shop")
        make_memory("Postgres two.", topic="errors")
        for topic in ("SHOP", "decisions-shop", "my-decisions-shop-2"):
            assert found("Postgres", topic=topic) == ["Postgres one."]
        assert found("Postgres", topic="nothing") == []

    def test_the_form_of_a_letter_does_not_count_in_a_filter(self) -> None:
        composed, apart = "Caf\u00e9", "CAFE\u0301"
        make_memory("Postgres one.", topic=f"{apart}-shop", keywords=[f"my {apart}"])
        for spelling in (composed, apart, composed.lower()):
            assert found("Postgres", topic=spelling) == ["Postgres one."]
            assert found("Postgres", keyword=spelling) == ["Postgres one."]

    def test_a_keyword_means_a_part_of_any_without_case(self) -> None:
        make_memory("Postgres one.", keywords=["Data Base", "pg"])
        make_memory("Postgres two.", keywords=["100%"])
        assert found("Postgres", keyword="BASE") == ["Postgres one."]
        assert found("Postgres", keyword="%") == ["Postgres two."]
        assert found("Postgres", keyword="_") == []

    @pytest.mark.parametrize("blank", ["", "  "])
    def test_a_blank_filter_is_none(self, blank: str) -> None:
        make_memory("Postgres one.")
        hits = found("Postgres", topic=blank, keyword=blank, project=blank)
        assert hits == ["Postgres one."]

    def test_a_floor_leaves_out_weak_hits(self) -> None:
        make_memory("Postgres is our database for all orders.")
        make_memory("A long text on something else that mentions orders once.")
        scores = [hit.score for hit in recall.recall(query="Postgres orders").hits]
        assert len(scores) == 2 and all(0 < score <= 1 for score in scores)
        kept = recall.recall(query="Postgres orders", min_score=scores[0]).hits
        assert [hit.score for hit in kept] == scores[:1]


class TestProject:
    @pytest.fixture(autouse=True)
    def memories(self, db: None) -> None:
        for topic in (
            "decisions-icm",
            "errors-icm-core",
            "icmp-notes",
            "decisions-other",
            "preferences",
            "user-habits",
            "errors-resolved",
        ):
            make_memory(f"Postgres in {topic}.", topic=topic)

    def test_other_projects_never_appear(self) -> None:
        hits = found("Postgres", project="icm", limit=50)
        assert set(hits) == {
            "Postgres in decisions-icm.",
            "Postgres in errors-icm-core.",
            "Postgres in preferences.",
            "Postgres in user-habits.",
            "Postgres in errors-resolved.",
        }

    def test_what_belongs_to_no_project_comes_after_the_own(self) -> None:
        hits = found("Postgres", project="icm", limit=50)
        assert hits[-1] == "Postgres in errors-resolved."
        assert "Postgres in errors-resolved." not in found(
            "Postgres", project="icm", limit=2
        )

    def test_each_segment_of_the_project_must_be_in_the_topic(self) -> None:
        hits = found("Postgres", project="icm-core", limit=50)
        assert "Postgres in errors-icm-core." in hits
        assert "Postgres in decisions-icm." not in hits

    def test_no_project_means_all(self) -> None:
        assert len(found("Postgres", limit=50)) == 7


class TestSuccession:
    def test_the_current_memory_is_shown_for_the_words_of_the_old(self) -> None:
        old = make_memory("The port of the ledger is 5432.")
        new = store.store(
            topic="decisions-shop",
            content="Ledger listens on 6000 now.",
            supersedes=old.ulid,
            caller=CALLER,
        ).memory
        (hit,) = recall.recall(query="port 5432").hits
        assert hit.memory == new

    def test_a_successor_that_is_forgotten_hides_both(self) -> None:
        old = make_memory("The port of the ledger is 5432.")
        new = store.store(
            topic="decisions-shop",
            content="Ledger listens on 6000 now.",
            supersedes=old.ulid,
            caller=CALLER,
        ).memory
        store.forget(new.ulid, caller=CALLER)
        assert found("port 5432") == found("ledger 6000") == []

    def test_a_filter_holds_for_the_successor(self) -> None:
        old = make_memory("The port of the ledger is 5432.", topic="old")
        store.store(
            topic="new",
            content="Ledger listens on 6000 now.",
            supersedes=old.ulid,
            caller=CALLER,
        )
        assert found("port 5432", topic="old") == []


def test_hidden_memories_are_not_found_in_any_arm(model: FakeEmbedder) -> None:
    memory = embedded("Our database is Postgres.")
    embedded("Espresso is served at nine.")
    store.forget(memory.ulid, caller=CALLER)
    for query in ("Postgres", "mysql storage", "ostgre"):
        assert "Our database is Postgres." not in found(query)


def test_a_row_without_a_vector_is_not_below_unrelated_rows_with_one(
    model: FakeEmbedder,
) -> None:
    for number in range(20):
        embedded(f"Espresso number{number} with sugar{number}.")
    make_memory("The kumquat ledger closes in June.")
    for engine in ("default", "blend", "additive"):
        hits = found("When does the kumquat ledger close?", engine=engine)
        assert hits[0] == "The kumquat ledger closes in June.", engine


class TestBudget:
    def test_it_replaces_the_limit(self) -> None:
        for number in range(30):
            make_memory(f"Postgres fact about item{number} and thing{number}.")
        assert len(found("Postgres", limit=2, max_tokens=100_000)) == 30

    def test_what_does_not_fit_is_skipped_and_a_smaller_one_enters(self) -> None:
        make_memory("Postgres Postgres " + "long " * 400)
        make_memory("Postgres is short here.")
        assert found("Postgres", max_tokens=100) == ["Postgres is short here."]

    def test_if_nothing_fits_the_first_is_returned_whole(self) -> None:
        make_memory("Postgres " + "long " * 400)
        assert len(found("Postgres", max_tokens=1)) == 1


class TestAccess:
    def usage(self, memory: Memory) -> MemoryUsage:
        return MemoryUsage.objects.get(pk=memory.pk)

    def test_only_rows_that_are_shown_count(self) -> None:
        start = timezone.now() - timedelta(hours=2)
        shown = make_memory("Postgres Postgres.", now=start)
        other = make_memory("Something else entirely.", now=start)
        moment = start + timedelta(hours=1)
        recall.recall(query="Postgres", now=moment)
        recall.recall(query="Postgres", now=moment, count=False)
        assert self.usage(shown).access_count == 1
        assert self.usage(shown).last_accessed == moment
        assert self.usage(other).access_count == 0

    def test_at_most_twenty_rows_count(self) -> None:
        for number in range(30):
            make_memory(f"Postgres fact about item{number} and thing{number}.")
        recall.recall(query="Postgres", limit=30)
        assert MemoryUsage.objects.filter(access_count=1).count() == 20

    def test_counting_rewrites_no_text_index(self) -> None:
        make_memory("Postgres Postgres.")
        with connection.cursor() as cursor:
            size = "SELECT count(*), max(id) FROM memories_fts_data"
            cursor.execute(size)
            before = cursor.fetchone()
            recall.recall(query="Postgres")
            cursor.execute(size)
            assert cursor.fetchone() == before


def test_equal_memories_stand_in_a_repeatable_order(model: FakeEmbedder) -> None:
    for number in range(6):
        embedded(f"Postgres {'abcdef'[number] * 9}.")
    first = found("Postgres", limit=6)
    assert all(found("Postgres", limit=6) == first for _ in range(3))


def test_paraphrases_collapse_and_contradictions_stay_apart() -> None:
    make_memory("The ledger service listens on port 5432 for all clients.", topic="a")
    make_memory("The ledger service listens on port 5432 for all clients!", topic="b")
    make_memory("The ledger service listens on port 5433 for all clients.", topic="c")
    assert len(found("ledger service port")) == 2


def test_an_explanation_names_the_arms(model: FakeEmbedder) -> None:
    embedded("Our database is Postgres.")
    embedded("Espresso is served at nine.")
    hit = recall.recall(query="Postgres database").hits[0]
    assert hit.arms["text"][0] == 1
    assert hit.arms["vector"][0] == 1
    assert hit.decided.startswith("decided by ")


def test_a_failing_model_leaves_the_words(
    model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded("Our database is Postgres.")

    def fail(text: str) -> None:
        raise RuntimeError("no more memory")

    monkeypatch.setattr(model, "embed_query", fail)
    assert found("Postgres") == ["Our database is Postgres."]


def test_the_words_are_kept_from_the_second_question_on() -> None:
    assert matrices.words() is search.INDEX
    kept = matrices.words()
    assert isinstance(kept, MatrixWords)
    assert matrices.words() is kept
