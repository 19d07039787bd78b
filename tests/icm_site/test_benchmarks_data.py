import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from icm_site.benchmarks import data
from icm_site.errors import InvalidInput


def evaluation(**changes: Any) -> dict[str, Any]:
    whole = {
        "name": "talk.turn",
        "set": "locomo",
        "split": "dev",
        "lang": "en",
        "license": "MIT",
        "corpus": [
            {"id": "D1:1", "text": "I bought a car.", "topic": "talk", "extra": 1},
            {"id": "D2:1", "text": "Hello.", "created_at": "2024-05-01T10:00:00"},
        ],
        "queries": [
            {"id": "q1", "text": "What was bought?", "relevant": ["D1:1"], "kind": "a"},
            {"id": "q2", "text": "Who sang?", "relevant": [], "forbidden": ["D2:1"]},
        ],
    }
    return whole | changes


def write(file: Path, value: object) -> Path:
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def test_a_file_is_read_with_its_names_times_and_sessions(tmp_path: Path) -> None:
    (found,) = data.read(write(tmp_path / "a.json", evaluation()))
    assert (found.key, found.group) == ("dev/locomo/talk.turn", "dev/locomo/turn")
    assert found.corpus[1].dated == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert found.corpus[0].dated is None
    assert found.sessions() == {"D1:1": "S1", "D2:1": "S2"}
    assert found.queries[1].forbidden == ("D2:1",)
    assert [query.id for query in found.limited(1).queries] == ["q1"]


def test_a_set_in_several_languages_is_grouped_by_language(tmp_path: Path) -> None:
    whole = evaluation(name="zh-zh", set="quad", lang="zh")
    (found,) = data.read(write(tmp_path / "a.json", whole))
    assert (found.group, found.sessions()) == ("dev/quad/zh", {})


def test_a_document_may_name_its_own_session(tmp_path: Path) -> None:
    corpus = [{"id": "x", "text": "Hello.", "session": "monday"}]
    whole = evaluation(set="own", corpus=corpus, queries=[])
    (found,) = data.read(write(tmp_path / "a.json", whole))
    assert found.sessions() == {"x": "monday"}


def test_a_folder_is_read_in_order_and_other_json_is_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "b.json", evaluation(name="b"))
    write(tmp_path / "a.json", evaluation(name="a"))
    write(tmp_path / "list.json", [1, 2])
    write(tmp_path / "other.json", {"corpus": []})
    assert [found.name for found in data.read(tmp_path)] == ["a", "b"]


NO_QUERIES: dict[str, Any] = {"queries": []}
BROKEN: list[tuple[object, str]] = [
    ([1], "input"),
    ({"corpus": []}, "missing required field"),
    (evaluation(corpus=[{"id": "x"}]), "missing required field: corpus.0.text"),
    (evaluation(corpus=[{"id": "x", "text": 5}]), "corpus.0.text"),
    (
        evaluation(queries=[{"id": "q", "text": "?", "relevant": ["D9:9"]}]),
        "query 'q' names the unknown document 'D9:9'",
    ),
    (
        evaluation(
            queries=[{"id": "q", "text": "?", "relevant": [], "forbidden": ["no"]}]
        ),
        "query 'q' names the unknown document 'no'",
    ),
    (
        evaluation(corpus=[{"id": "x", "text": "a"}] * 2, **NO_QUERIES),
        "the document id 'x' is there twice",
    ),
    (
        evaluation(queries=[{"id": "q", "text": "?", "relevant": []}] * 2),
        "the query id 'q' is there twice",
    ),
]


@pytest.mark.parametrize(("value", "sentence"), BROKEN)
def test_a_wrong_file_is_refused_with_its_name_and_the_fault(
    tmp_path: Path, value: object, sentence: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        data.read(write(tmp_path / "a.json", value))
    assert "a.json" in caught.value.message
    assert sentence in caught.value.message
    assert "\n" not in caught.value.message


def test_a_broken_file_is_refused_alone_and_in_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b'{"corpus": [')
    for path in (file, tmp_path):
        with pytest.raises(InvalidInput, match=r"a\.json is not JSON"):
            data.read(path)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match=r"a\.json is not JSON"):
        data.read(file)


def test_a_path_without_evaluations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file or folder"):
        data.read(tmp_path / "gone")
    write(tmp_path / "list.json", [])
    with pytest.raises(InvalidInput, match="holds no evaluation"):
        data.read(tmp_path)
