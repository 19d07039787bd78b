"""How a text is cut into sentences."""

from __future__ import annotations

import pytest

from memories.sentences import looks_like_code, sentences, split


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Smith wrote the parser.", 1),
        ("It runs at https://example.com/a.b?c=d now. See v1.2.3 in src/main.rs.", 2),
        ("Is it? Yes! It is.", 3),
        ("我们使用它。它很快！真的吗？", 3),
        ("यह ठीक है। वह भी ठीक है।", 2),
        ("Use e.g. the cache. Then i.e. nothing.", 2),
        ("Note: one colon is no boundary.", 1),
    ],
)
def test_boundaries(text: str, count: int) -> None:
    assert len(list(split(text))) == count


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Too short to be kept.", False),
        ("This sentence is just about long enough.", True),
        ("这句话有十个字以上了。", True),
        ("短句。", False),
        ("x" * 501, False),
        ("Ends with a path of some kind like src/", False),
        ("Although it starts as a clause, it has no end.", False),
        ("This line announces what follows below it:", False),
    ],
)
def test_lengths_and_fragments(text: str, kept: bool) -> None:
    assert bool(list(sentences(text))) == kept


def test_lines_cut_at_a_margin_are_joined() -> None:
    text = (
        "    The cache was never cleared after a deployment, so that old prices\n"
        "    were shown for a day and customers complained.\n"
    )
    (found,) = sentences(text)
    assert found.text.endswith("customers complained.")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("fn main() { println!(); }", True),
        ("x = y => z && w", True),
        ("----------====--------", True),
        ("The function `main()` calls `run()` and waits.", False),
        ("A plain sentence, with a comma (and a note).", False),
    ],
)
def test_code_is_told_from_language(line: str, code: bool) -> None:
    assert looks_like_code(line) == code
