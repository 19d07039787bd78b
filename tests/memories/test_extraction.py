"""Which sentences are facts, of which kind, and which are never kept."""

from __future__ import annotations

import pytest

from memories import fence
from memories.extraction import Fact, extract, extract_turns, topic_of
from memories.transcripts import Turn

DECISION = "We decided to use NATS JetStream because replays must survive a restart."


def texts(text: str, **options: object) -> list[str]:
    return [fact.text for fact in extract(text, **options)]  # type: ignore[arg-type]


def only(text: str) -> Fact:
    (fact,) = extract(text)
    return fact


@pytest.mark.parametrize(
    ("text", "kind", "topic", "importance"),
    [
        (DECISION, "decision", "decisions-shop", "high"),
        (
            "Always run the formatter before committing anything.",
            "preference",
            "preferences",
            "high",
        ),
        (
            "Mira prefers short bullet points over long paragraphs.",
            "preference",
            "preferences",
            "high",
        ),
        (
            "The checkout bug was fixed by raising the pool size.",
            "fix",
            "errors-resolved-shop",
            "high",
        ),
        (
            "It turns out that the importer skips blank lines.",
            "learning",
            "context-shop",
            "high",
        ),
        (
            "The driver doesn't support nested transactions.",
            "constraint",
            "context-shop",
            "high",
        ),
        (
            "I think the new dashboard is overrated by everyone.",
            "opinion",
            "context-shop",
            "medium",
        ),
        (
            "Promised the customer a report by Friday morning.",
            "commitment",
            "context-shop",
            "medium",
        ),
        (
            "The service uses a write-ahead log for its queue.",
            "architecture",
            "context-shop",
            "medium",
        ),
        (
            "Fact: the old server room is cooled to nineteen degrees.",
            "fact",
            "context-shop",
            "medium",
        ),
    ],
)
def test_a_sentence_gets_its_kind_topic_and_importance(
    text: str, kind: str, topic: str, importance: str
) -> None:
    fact = only(text)
    assert (fact.kind, topic_of(fact, "shop"), fact.importance) == (
        kind,
        topic,
        importance,
    )
    assert f"kind:{kind}" in fact.keywords


@pytest.mark.parametrize(
    "text",
    [
        "Wir haben beschlossen, die Bestellungen künftig in Postgres zu speichern.",
        "Hemos decidido guardar los pedidos en Postgres a partir de mayo.",
        "Nous avons décidé de stocker les commandes dans Postgres.",
        "Abbiamo deciso di salvare gli ordini in Postgres.",
        "Decidimos guardar os pedidos no Postgres a partir de maio.",
        "Мы решили хранить заказы в Postgres.",
        "我们决定把订单存到数据库里。",
        "注文はデータベースに保存すると決めた。",
        "주문은 데이터베이스에 저장하기로 결정했다.",
        "हमने ऑर्डर को डेटाबेस में रखने का निर्णय लिया।",
    ],
)
def test_a_decision_is_found_in_any_of_the_languages(text: str) -> None:
    assert only(text).kind == "decision"


@pytest.mark.parametrize(
    "text",
    [
        "Let me check the file first and see what we decided.",
        "I'll run the tests now because the fix should work.",
        "Now let me read the configuration of the service.",
        "> We decided to use Postgres for all orders.",
        "# We decided to use Postgres for all orders",
        "- [ ] We decided to use Postgres for all orders.",
        "| We decided | to use Postgres for all orders |",
        "```\nWe decided to use Postgres for all orders.\n```",
        "because we decided to use Postgres for all orders.",
        "We decided this.",
        "Have you decided which database to use for the orders?",
        "The decision is documented at https://",
        "let decided = choose(database).unwrap();",
        "const decision = await decide({ database: 'postgres' });",
        "Cron job 'sync' completed successfully at 03:00 UTC with 0 errors.",
        "<private>We decided to leave Berlin in 2027.</private>",
        "<private>We decided to leave Berlin in 2027.",
        "<system-reminder>Always decide to use Postgres 16.</system-reminder>",
    ],
)
def test_this_is_never_kept(text: str) -> None:
    assert extract(text) == []


@pytest.mark.parametrize(
    "block",
    [
        f"{fence.INTRODUCTION} holds these notes on the project.\n"
        f"{fence.OPEN}\n- {DECISION}\n{fence.CLOSE}",
        f"{fence.OPEN}\n- {DECISION}",
        f"&lt;icm-notes&gt;\n- {DECISION}\n&lt;/icm-notes&gt;",
        f"{fence.WAKE_UP} (project: shop)\n\n## Critical decisions\n- {DECISION}\n",
        f"{fence.SNAPSHOT}\n\n## Project context\n- {DECISION}\n",
        f"memories[1]{{score,id,summary}}:\n  0.3,01J,{DECISION}\n",
        "[ICM: 10 tool calls since last store. Consider saving important context.]",
    ],
)
def test_what_icm_injected_is_not_stored_again(block: str) -> None:
    assert extract(block) == []
    after = f"{block}\n\nThe staging server always listens on port 4223.\n"
    kept = texts(after)
    unclosed = fence.OPEN in block and fence.CLOSE not in block
    assert kept == (
        [] if unclosed else ["The staging server always listens on port 4223."]
    )


def test_the_injecting_side_uses_the_same_marks() -> None:
    from icm_site.hooks import notes

    shown = notes.wrapped("- a note", "shop")
    assert fence.without_injected(shown).strip() == ""


def test_a_list_item_loses_its_bullet_and_is_judged() -> None:
    assert texts(f"- {DECISION}\n* Nothing much.\n") == [DECISION]


def test_a_sentence_that_needs_the_one_before_joins_it_if_it_explains() -> None:
    text = "Mira prefers short lists. They save time because she reads on her phone."
    text = text.replace("short lists", "short lists over long paragraphs of prose")
    assert texts(text) == [text]
    shown = (
        "Mira prefers short lists over long paragraphs of prose. They look nice too."
    )
    assert texts(shown) == ["Mira prefers short lists over long paragraphs of prose."]


def test_near_duplicates_are_dropped_and_the_best_are_kept_in_order() -> None:
    text = "\n".join([DECISION, DECISION.replace("restart", "outage"), "x" * 40])
    assert texts(text) == [DECISION]
    many = (
        "We decided to keep orders in Postgres. Mira prefers tea over coffee always. "
        "The root cause was a leaking pool. The parser doesn't support comments."
    )
    assert len(extract(many)) == 4
    assert len(extract(many, max_facts=3)) == 3


def test_the_threshold_can_be_raised() -> None:
    assert extract(DECISION, min_score=50.0) == []


def test_an_agent_is_not_believed_to_speak_of_a_person() -> None:
    said = "I went to the lake with my family last weekend."
    assert extract(said)
    assert extract(said, role="assistant") == []
    code = "The loader now prefers the cached file, because parsing it is slow."
    (fact,) = extract(code, role="assistant")
    assert fact.topic == "context"


@pytest.mark.parametrize(
    "report",
    [
        "We found that the parser uses a stack because of nested brackets.",
        "The tests have been updated because the old ones used a mock server.",
        "All 5 failed against the old code, because the lock was missing.",
        "You should always configure the maximum number of connections.",
        "It uses a queue with a maximum of 30 entries for the orders.",
    ],
)
def test_an_agents_report_of_its_work_is_no_fact(report: str) -> None:
    assert extract(report, role="assistant") == []


def test_a_transcript_gives_facts_of_each_side() -> None:
    turns = [
        Turn("user", DECISION),
        Turn("assistant", "The root cause was a missing index on the orders table."),
        Turn("tool", "We decided to print this sentence from a README file."),
    ]
    assert [fact.kind for fact in extract_turns(turns)] == ["decision", "fix"]


def test_meaning_decides_where_words_leave_it_open() -> None:
    text = "The importer of this shop is written in a plain and simple way by hand."
    assert texts(text) == []

    def sure(sentences: object) -> list[tuple[str, float]]:
        return [("architecture", 1.0) for _ in list(sentences)]  # type: ignore[call-overload]

    found = extract("The importer handles 30 files in one go.", meaning=sure)
    assert found
    assert any(reason.startswith("meaning") for reason in found[0].reasons)


def test_a_very_long_text_takes_time_in_proportion() -> None:
    assert extract("a" * 200_000) == []
    assert extract("<private>" * 5_000) == []
    assert extract("`" * 20_000 + "(" * 20_000) == []
    assert extract("<a " * 20_000) == []


def test_a_long_sentence_of_a_script_without_blanks_is_read_at_once() -> None:
    # Took minutes: each letter could end the gap before it or begin the next one.
    assert (
        extract("그녀는 수식 렌더링이 더 안정적이며 참고문헌 관리가 학술 " * 12) == []
    )
    assert extract("가" * 44 + "   " + "나" * 44) == []


@pytest.mark.parametrize(
    "scrap",
    [
        "The bug never surfaces in CI runners because of caching (their workdir at",
        "Error: Invalid hex color: #000cc",
    ],
)
def test_scraps_are_not_kept(scrap: str) -> None:
    assert extract(scrap, role="user") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Never returns false data silently because of issue 12 in the parser.",
        "The helper preserves remainders and avoids the O(N^2) pattern of 2.1.",
        "Fixing this is a breaking schema change and requires 3 migrations.",
        "README.md: fixed installation instructions because version 2.1 was wrong.",
    ],
)
def test_what_an_agent_says_without_a_subject_is_not_kept(sentence: str) -> None:
    assert extract(sentence, role="assistant") == []


def test_what_a_person_always_wants_is_a_preference() -> None:
    (fact,) = extract("I always want type hints in Python code.", role="user")
    assert (fact.kind, fact.topic) == ("preference", "preferences")
