"""Output of compilers, test runners, git and diffs becomes one fact each."""

from __future__ import annotations

import pytest

from memories.extraction import extract

RUST = """error[E0277]: the trait bound `Leaf: Clone` is not satisfied
  --> src/brew.rs:41:17
"""
PYTHON = """Traceback (most recent call last):
  File "/app/main.py", line 10, in <module>
    run()
  File "/app/shop/cart.py", line 7, in total
    return price[key]
KeyError: 'apple'
"""
GIT_LOG = """commit 13c38ac5
Author: Mira <mira@example.com>
Date:   2026-05-29

    fix(cart): count an item once when two tabs are open

commit 22c38ac5
Date:   2026-05-28

    chore: bump version
"""
DIFF = """diff --git a/config/app.toml b/config/app.toml
--- a/config/app.toml
+++ b/config/app.toml
@@ -1,3 +1,3 @@
-port = 5432
+port = 5433
 name = "shop"
"""


@pytest.mark.parametrize(
    ("output", "expected", "kind"),
    [
        (
            RUST,
            "rustc error E0277 in src/brew.rs:41: "
            "the trait bound `Leaf: Clone` is not satisfied",
            "error",
        ),
        (
            "src/a.ts(83,49): error TS2345: Argument of type 'undefined' is wrong.",
            "tsc error TS2345 in src/a.ts:83: Argument of type 'undefined' is wrong.",
            "error",
        ),
        (
            "src/a.c:12:5: error: use of undeclared identifier 'tea'",
            "compiler error in src/a.c:12: use of undeclared identifier 'tea'",
            "error",
        ),
        (
            "Cart.java:12: error: cannot find symbol",
            "compiler error in Cart.java:12: cannot find symbol",
            "error",
        ),
        (
            "./main.go:10:2: undefined: brew",
            "go error in main.go:10: undefined: brew",
            "error",
        ),
        (
            PYTHON,
            "Python error in /app/shop/cart.py:7 (total): KeyError: 'apple'",
            "error",
        ),
        (
            "FAILED tests/test_cart.py::test_total - AssertionError: 3 != 4",
            "pytest failed: tests/test_cart.py::test_total: AssertionError: 3 != 4",
            "error",
        ),
        (
            "test brew::tests::steep ... FAILED\n\n"
            "thread 'brew::tests::steep' panicked at src/brew.rs:9:5:\n"
            "assertion failed: hot\n",
            "cargo test failed: brew::tests::steep: assertion failed: hot",
            "error",
        ),
        (
            "  ● cart › adds two items\n\n    expect(received).toBe(expected)\n",
            "jest failed: cart › adds two items: expect(received).toBe(expected)",
            "error",
        ),
        (
            "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 3, want 4\n",
            "go test failed: TestTotal: cart_test.go:12: got 3, want 4",
            "error",
        ),
        (
            "[main 4be19a0] Switch queue storage from Redis to NATS",
            "Commit 4be19a0: Switch queue storage from Redis to NATS",
            "milestone",
        ),
        (
            GIT_LOG,
            "Commit 13c38ac5: fix(cart): count an item once when two tabs are open",
            "fix",
        ),
        (DIFF, "config/app.toml: port changed from 5432 to 5433", "configuration"),
    ],
)
def test_a_reader_makes_one_fact(output: str, expected: str, kind: str) -> None:
    (fact,) = extract(output, role="tool")
    assert (fact.text, fact.kind) == (expected, kind)


def test_equal_messages_are_one_fact_with_a_count() -> None:
    output = "\n".join(
        f"src/a.ts({n},1): error TS2554: Expected {n} arguments, but got 1."
        for n in range(2, 9)
    )
    (fact,) = extract(output, role="tool")
    assert fact.text.endswith("(and at 6 more places)")


def test_colours_of_a_terminal_do_not_matter() -> None:
    (fact,) = extract("\x1b[31mFAILED tests/test_a.py::test_b\x1b[0m", role="tool")
    assert fact.text == "pytest failed: tests/test_a.py::test_b"


def test_of_a_chain_of_exceptions_the_last_one_is_kept() -> None:
    text = """\
Traceback (most recent call last):
  File "resolvers.py", line 316, in _backjump
KeyError: 'dictionary is empty'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "app.py", line 7, in main
RuntimeError: no version of numpy fits Python 3.13
"""
    (fact,) = extract(text, role="tool")
    assert fact.text.endswith("RuntimeError: no version of numpy fits Python 3.13")


@pytest.mark.parametrize(
    ("subject", "kept"),
    [
        ("fix(git): fix for issue #82", False),
        ("fix: various minor fixes and updates", False),
        ("fix: avoid false HNSW quarantine", True),
        ("feat: Unterstützung für Umlaute", True),
    ],
)
def test_a_commit_that_says_nothing_is_left_out(subject: str, kept: bool) -> None:
    facts = extract(f"[main 04e6bb0] {subject}", role="tool")
    assert bool(facts) is kept
