import threading
import time

import pytest

from icm_site import ulid


def test_ids_rise_within_a_millisecond_and_when_the_clock_goes_back() -> None:
    times = iter([5000, 5000, 4000, 4000, 5001])
    make = ulid.Generator(clock=lambda: next(times))
    made = [make() for _ in range(5)]
    assert made == sorted(set(made))
    assert [ulid.milliseconds(one) for one in made] == [5000] * 4 + [5001]


def test_ids_of_many_threads_differ() -> None:
    made: list[str] = []
    work = [
        threading.Thread(
            target=lambda: made.extend(ulid.new_ulid() for _ in range(500))
        )
        for _ in range(8)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(set(made)) == 4000


def test_an_id_tells_when_it_was_made() -> None:
    assert abs(ulid.milliseconds(ulid.new_ulid()) - time.time() * 1000) < 60_000
    # The example of the specification.
    assert ulid.milliseconds("01ARZ3NDEKTSV4RRFFQ69G5FAV") == 1469922850259


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        ("01arz3ndektsv4rrffq69g5fav", True),
        ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", True),
        ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FA", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAVV", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAU", False),
        ("O1ARZ3NDEKTSV4RRFFQ69G5FAV", False),
        ("01ARZ3NDEKTSV4RRFFQ69G5FA\n", False),
        ("ſ1ARZ3NDEKTSV4RRFFQ69G5FAV", False),
        ("", False),
    ],
)
def test_what_is_an_id(text: str, valid: bool) -> None:
    assert ulid.is_ulid(text) is valid


def test_the_largest_number_is_the_largest_id() -> None:
    assert ulid.encode(2**128 - 1) == "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
    assert ulid.encode(0) == "0" * 26
