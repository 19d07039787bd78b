"""Edits of text: what was there stays, and taking out undoes putting in."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from icm_site.hosts import blocks, jsonc, toml_text, yaml_text
from icm_site.hosts.errors import WrongShape

ENTRY = {"command": "/opt/icm ü/icm", "args": ["serve"], "env": {}}
KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
BLANKS = st.sampled_from(
    ["", " ", "\n", "\t", "\r\n", " // c\n", "/* ] , */", "\n\n  "]
)


@st.composite
def spelled(draw: Any, value: Any) -> str:
    """A value as somebody may have typed it: blanks, comments, trailing commas."""

    def gap() -> str:
        return str(draw(BLANKS))

    if isinstance(value, dict | list):
        ends = "{}" if isinstance(value, dict) else "[]"
        inner = [
            gap()
            + (
                json.dumps(item) + gap() + ":" + gap()
                if isinstance(value, dict)
                else ""
            )
            + draw(spelled(value[item] if isinstance(value, dict) else item))
            + gap()
            for item in value
        ]
        comma = draw(st.sampled_from(["", ",", ", // last\n"])) if inner else gap()
        return ends[0] + ",".join(inner) + comma + ends[1]
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def documents(draw: Any) -> tuple[str, dict[str, Any]]:
    value = draw(OBJECTS.filter(lambda v: "mcpServers" not in v))
    return draw(BLANKS) + draw(spelled(value)) + draw(BLANKS), value


@given(documents())
@settings(max_examples=100, deadline=None)
def test_any_json_keeps_what_it_says_and_comes_back(
    document: tuple[str, dict[str, Any]],
) -> None:
    text, value = document
    assert jsonc.read(text) == value
    added = jsonc.put(text, ["mcpServers", "icm"], ENTRY)
    assert jsonc.read(added) == {**value, "mcpServers": {"icm": ENTRY}}
    again = jsonc.put(added, ["mcpServers", "other"], ENTRY)
    assert jsonc.read(again)["mcpServers"] == {"icm": ENTRY, "other": ENTRY}
    taken = jsonc.take(added, ["mcpServers"])
    assert jsonc.read(taken) == value
    if value:  # an empty object may be drawn together
        assert taken == text


@given(documents(), st.data())
@settings(max_examples=60, deadline=None)
def test_taking_any_member_out_leaves_the_others(
    document: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    text, value = document
    if value:
        name = data.draw(st.sampled_from(sorted(value)))
        left = {key: item for key, item in value.items() if key != name}
        assert jsonc.read(jsonc.take(text, [name])) == left


@given(st.lists(VALUES, max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_items_of_a_list_are_added_and_taken_out(
    value: list[Any], data: st.DataObject
) -> None:
    text = '{"hooks": ' + data.draw(spelled(value)) + "}"
    added = jsonc.append(text, ["hooks"], ENTRY)
    assert jsonc.read(added)["hooks"] == [*value, ENTRY]
    assert jsonc.read(jsonc.take_item(added, ["hooks"], len(value)))["hooks"] == value
    for index in range(len(value)):
        left = [item for at, item in enumerate(value) if at != index]
        assert jsonc.read(jsonc.take_item(text, ["hooks"], index))["hooks"] == left


@pytest.mark.parametrize(
    "text",
    ["{", "}", '{"a"}', '{"a": 1,, "b": 2}', "{a: 1}", '{"a": 1} x', "[1 2]", "nul",
     '{"a": \'x\'}', '{"a": /* }', "{,}", "[,]", '{"a" 1}', "[" * 5000],
)  # fmt: skip
def test_what_is_not_json_is_said_to_be_so(text: str) -> None:
    with pytest.raises(WrongShape):
        jsonc.read(text)


def test_of_two_members_with_one_name_the_last_counts_and_both_are_taken_out() -> None:
    text = '{"icm": 1, "a": 2, "icm": 3}'
    assert jsonc.walk(text, ["icm"]) == 3
    assert jsonc.read(jsonc.take(text, ["icm"])) == {"a": 2}


def test_what_is_added_looks_like_what_is_there() -> None:
    text = '{\r\n\t"a": 1 // keep\r\n}\r\n'
    added = jsonc.put(text, ["b"], {"c": [1]})
    assert added == (
        '{\r\n\t"a": 1, // keep\r\n\t"b": {\r\n\t\t"c": [\r\n\t\t\t1\r\n\t\t]\r\n'
        "\t}\r\n}\r\n"
    )
    assert jsonc.put('{"a": 1}', ["b"], 2) == '{"a": 1, "b": 2}'


@pytest.mark.parametrize(
    "text",
    ["", "# c\n", 'a = 1\n', "[a]\nb = 1\n", "[mcp_servers.x]\na = 1\n# tail\n",
     "mcp_servers = {}\n", "mcp_servers.x.a = 1\n", "[mcp_servers]\n",
     "a = 1\r\n[b]\r\n",
     "mcp_servers = { x = { a = 1 } } # c\n[z]\n", '[mcp_servers."a.b"]\nc = 1\n',
     'x = """\n[mcp_servers.icm]\n"""\n', "[[a]]\nb = 1\n",
     "[mcp_servers.icmx]\na = 1\n"],
)  # fmt: skip
def test_a_toml_table_is_added_and_taken_out(text: str) -> None:
    before = tomllib.loads(text)
    added = toml_text.put(text, ["mcp_servers", "icm"], ENTRY)
    data = tomllib.loads(added)
    assert data["mcp_servers"].pop("icm") == {"command": ENTRY["command"],
                                              "args": ["serve"]}  # fmt: skip
    assert {k: v for k, v in data.items() if v or k in before} == before
    assert toml_text.take(added, ["mcp_servers", "icm"]) == text


def test_a_toml_table_with_tables_in_it_goes_whole_and_comments_after_it_stay() -> None:
    text = (
        'a = 1\n\n[mcp_servers.icm]\ncommand = "x"\n[mcp_servers.icm.env]\nA = "1"\n'
        "\n# of the next\n[mcp_servers.z]\nb = 2\n"
    )
    assert toml_text.take(text, ["mcp_servers", "icm"]) == (
        "a = 1\n\n# of the next\n[mcp_servers.z]\nb = 2\n"
    )


ITEM = {"name": "icm", "type": "stdio", "command": "/opt/icm ü/icm", "args": ["serve"]}


def is_icm(item: Any) -> bool:
    return isinstance(item, dict) and item.get("name") == "icm"


@pytest.mark.parametrize(
    "text",
    ["", "# c\n", "a: 1\n", "mcpServers:\n- name: x\n",
     "mcpServers: # c\n  - a: 1 # d\n",
     "mcpServers:\n    -   name: x\n        b: |\n          t\n\nz: 3\n",
     "mcpServers: [{name: x}] # c\nz: 1\n", "a: 1\r\nmcpServers:\r\n  - name: x\r\n",
     "mcpServers:\n  - name: x\n    args:\n      - a\n# after\nz: {a: [1]}\n",
     "mcpServers:\n  - name: 'x: y'\n    b: >-\n      t\n      u\nrules:\n  - a\n"],
)  # fmt: skip
def test_a_yaml_item_is_added_and_taken_out(text: str) -> None:
    before = yaml.safe_load(text) or {}
    added = yaml_text.append(text, "mcpServers", ITEM)
    data = yaml.safe_load(added)
    assert data["mcpServers"].pop() == ITEM
    assert {k: v for k, v in data.items() if v or k in before} == before
    assert yaml_text.take(added, "mcpServers", is_icm) == text
    twice = yaml_text.append(added, "mcpServers", ITEM)
    assert yaml_text.take(twice, "mcpServers", is_icm) == text


@pytest.mark.parametrize(
    "text", ["", "a", "a\n", "a\n\n", "a\r\nb\r\n", "\n", "# A\n\n"]
)
@pytest.mark.parametrize("after", ["", "more\n", "\n\nmore"])
def test_a_block_is_added_replaced_and_taken_out(text: str, after: str) -> None:
    added = blocks.put(text, "one\n\ntwo") + after
    assert blocks.put(added, "one\n\ntwo") == added
    other = blocks.put(added, "three \\1")
    assert (
        other.count(blocks.START) == 1 and "three \\1" in other and "one" not in other
    )
    left = blocks.take(other)
    assert blocks.START not in left
    assert left.split() == (text + " " + after).split()
    if not after and text[-1:] == "\n":
        assert left == text
