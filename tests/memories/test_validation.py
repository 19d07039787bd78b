"""What a memory may contain, on every write path."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from icm_site.errors import InvalidInput
from memories import store, validation
from memories.models import Importance, Memory
from memories.schemas import StoreParams
from tests.factories import CALLER, make_memory

Write = Callable[..., Any]


def by_store(**fields: Any) -> Any:
    given = {"topic": "t", "content": "A fact."} | fields
    return store.store(caller=CALLER, **given)


def by_update(**fields: Any) -> Any:
    return store.update(make_memory("Another fact.").ulid, caller=CALLER, **fields)


@pytest.mark.django_db
@pytest.mark.parametrize("write", [by_store, by_update])
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"topic": ""}, "topic must not be empty"),
        ({"topic": " \t\n "}, "topic must not be empty"),
        ({"topic": "a\0b"}, "topic must be one line without NUL"),
        ({"topic": "a\nb"}, "topic must be one line"),
        ({"topic": "a\rb"}, "topic must be one line"),
        ({"topic": "a\tb"}, "topic must be one line"),
        ({"topic": "é" * 128}, "topic is too long: 256 bytes given, 255 allowed"),
        ({"topic": "\udcff"}, "topic is not valid Unicode text"),
        ({"content": ""}, "content must not be empty"),
        ({"content": "\n \u3000"}, "content must not be empty"),
        ({"content": "a\0b"}, "content must not contain NUL"),
        (
            {"content": "x" * 1_000_000},
            "content is too long: 1000000 bytes given, 65536",
        ),
        ({"content": "\ud800"}, "content is not valid Unicode text"),
        ({"raw_excerpt": "a\0b"}, "raw excerpt must not contain NUL"),
        ({"raw_excerpt": "x" * 65_537}, "raw excerpt is too long: 65537 bytes given"),
        ({"keywords": ["a\0b"]}, "keyword must not contain NUL"),
        ({"keywords": ["x" * 256]}, "keyword is too long: 256 bytes given, 255"),
        ({"keywords": [str(n) for n in range(51)]}, "at most 50 keywords are kept, 51"),
        ({"keywords": ["\udcff"]}, "keyword is not valid Unicode text"),
        ({"importance": "urgent"}, "unknown importance 'urgent': use one of critical"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    write: Write, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as caught:
        write(**fields)
    assert "\n" not in caught.value.message and len(caught.value.message) < 200
    assert not Memory.objects.exclude(summary="Another fact.").exists()


@pytest.mark.django_db
def test_the_largest_texts_are_stored_whole() -> None:
    done = by_store(
        topic="é" * 127 + "x",
        content="é" * 32_768,
        raw_excerpt="x" * 65_536,
        keywords=["é" * 127 + str(n % 10) for n in range(50)],
    )
    memory = Memory.objects.get()
    assert len(memory.topic.encode()) == 255
    assert len(memory.summary.encode()) == len(memory.raw_excerpt or "") == 65_536
    assert len(done.memory.keywords) == 10


@pytest.mark.parametrize("name", ["critical", "HIGH", " Medium ", "low"])
def test_importance_is_read_without_regard_to_case(name: str) -> None:
    assert validation.importance(name) == Importance(name.strip().lower())


def test_keywords_are_trimmed_and_unique_in_order() -> None:
    assert validation.keywords([" b ", "", "a", "b", "  "]) == ["b", "a"]


def test_outer_blanks_of_a_topic_go_and_inner_ones_stay() -> None:
    assert validation.topic("\u3000 my  topic \n") == "my  topic"


@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff \u202e", "\x1c", "\u2028"])
def test_what_nobody_sees_is_empty(unseen: str) -> None:
    for check in (validation.topic, validation.summary):
        with pytest.raises(InvalidInput, match="must not be empty|must be one line"):
            check(unseen)
    assert validation.keywords([unseen, "a"]) == ["a"]


@pytest.mark.parametrize("mark", ["\x1b", "\x07", "\x9b", "\u2028", "\v", "\x7f"])
def test_a_topic_has_no_character_that_breaks_or_steers_a_line(mark: str) -> None:
    with pytest.raises(InvalidInput, match="topic must be one line"):
        validation.topic(f"a{mark}b")


def test_names_of_joined_emoji_and_of_any_script_are_topics() -> None:
    for name in ("👩\u200d💻", "می\u200cخواهم", "日本語", "é"):
        assert validation.topic(name) == name


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a, b,,a", ["a", "b"]),
        ('["a, b", "c"]', ["a, b", "c"]),
        ('["a", 1]', None),
        ("[x], y", ["[x]", "y"]),
        ("[" * 5_000, None),
        ("[]", []),
        (["a,b"], ["a,b"]),
    ],
)
def test_keywords_come_as_a_list_or_as_a_text_of_one(
    given: Any, kept: list[str] | None
) -> None:
    def parsed() -> list[str]:
        fields = {"topic": "t", "content": "A fact.", "keywords": given}
        return validation.keywords(StoreParams.model_validate(fields).keywords)

    if kept is None:
        with pytest.raises((InvalidInput, ValidationError)):
            parsed()
    else:
        assert parsed() == kept
