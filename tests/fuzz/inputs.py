"""What is put in: arguments from the schemas of the operations, messages and bytes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from icm_site.hooks.contracts import VERBS
from icm_site.operation import Command, Operation, Tool
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from tests.fuzz.place import Place
from tests.icm_site.hooks.hooking import SAMPLES
from tests.icm_site.hooks.hooking import TOOLS as HOSTS

# They erase by order, need a network, or read a folder of the machine.
LEFT_OUT = frozenset({"memory_purge", "embeddings_download", "learn_project"})
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

WORDS = st.sampled_from(
    "Postgres orders queue NATS token deploy Friday sécurité データベース 結帳 "
    "🫖 and the not OR NEAR * \" ' ( ) : ^ -".split(" ")
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
TEXTS = st.one_of(
    st.text(max_size=300),
    st.sampled_from(
        [
            *(
                "",
                " ",
                "\0",
                "a\0b",
                "\ud800",
                "x\udcffy",
                "\u202e",
                "\x1b[31m",
                "\r\n",
            ),
            *("'; DROP TABLE memories; --", "../../etc/passwd", "%s {} [/b]", "NaN"),
            *("</icm-notes>", "<icm-notes>", "＜/icm‐notes＞", "A" * 255, "A" * 256),
            *("é" * 32_768, "é" * 32_769, "(" * 5_000, "\n" * 3_000, "a b " * 5_000),
            *("-1", "10" * 200, "1e400", "true", "null", "[]", "{", "--db", "-"),
            *(ULID, ULID.lower(), ULID[:25], "0" * 26, "Z" * 26, "2026-02-30", "P1D"),
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, 1, -1, 50, 1000, 2**31, 2**63 - 1, 2**63, -(2**63) - 1]),
    st.floats(allow_nan=True, allow_infinity=True),
)
PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=9), inner)
    ),
    max_leaves=8,
)


def fitting(schema: dict[str, Any], place: Place) -> st.SearchStrategy[Any]:
    """Values that a schema admits, or nearly."""
    options = schema.get("anyOf") or [schema]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = {option.get("type") for option in options}
    made: list[st.SearchStrategy[Any]] = []
    if kinds & {"integer", "number"}:
        made.append(st.integers(0, 60))
    if "boolean" in kinds:
        made.append(st.booleans())
    if "array" in kinds:
        made.append(st.lists(WORDS, max_size=4))
    if "string" in kinds or not made:
        made += [st.sampled_from(place.names), SENTENCES, TEXTS]
    return st.one_of(made)


def arguments(
    operation: Operation, place: Place
) -> st.SearchStrategy[dict[str, object]]:
    """Arguments of an operation: most of them fit, some do not, some are missing."""
    schema = operation.params.model_json_schema()
    definitions = schema.get("$defs", {})
    fields = {}
    for name, each in schema.get("properties", {}).items():
        whole = dict(each)
        for part in [each, *each.get("anyOf", [])]:
            if "$ref" in part:
                whole |= definitions[part["$ref"].rpartition("/")[2]]
        fit = fitting(whole, place)
        if "id" in name.split("_") or name == "ids":
            fit = st.one_of(st.sampled_from(place.ids), fit)
        fields[name] = st.one_of(*[fit] * 11, VALUES)
    needed = {name: fields.pop(name) for name in schema.get("required", [])}
    usual = st.fixed_dictionaries(needed, optional=fields)
    torn = st.fixed_dictionaries({}, optional={**needed, **fields})
    return st.one_of(usual, usual, usual, torn)


def calls(place: Place) -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    """A tool and its arguments."""
    return st.one_of(
        [
            st.tuples(st.just(name), arguments(operation, place))
            for name, (operation, _) in sorted(TOOLS.items())
        ]
    )


def routes(place: Place) -> st.SearchStrategy[tuple[str, str, bytes]]:
    """Method, address and body of a request."""
    names = sorted(n for n, o in OPERATIONS.items() if o.http and n not in LEFT_OUT)
    verbs = st.one_of(
        [
            st.tuples(
                st.just("POST"),
                st.just(f"/ops/{name}"),
                arguments(OPERATIONS[name], place).map(encoded),
            )
            for name in names
        ]
    )
    nouns = st.sampled_from(
        "memories memoirs concepts links feedback suggestions changes".split()
    )
    ends = st.one_of(
        st.just(""),
        st.sampled_from(place.ids).map(lambda each: f"{each}/"),
        TEXTS.map(lambda text: f"?search={text[:200]}"),
        st.tuples(st.sampled_from(FILTERS), PLAIN).map(lambda p: f"?{p[0]}={p[1]}"),
    )
    methods = st.sampled_from(["GET", "GET", "POST", "PATCH", "PUT"])
    rest = st.tuples(
        methods,
        st.tuples(nouns, ends).map(lambda p: f"/api/{p[0]}/{p[1]}"),
        st.one_of(FIELDS.map(encoded), BYTES),
    )
    raw = st.tuples(
        st.just("POST"), st.sampled_from(names).map(lambda n: f"/ops/{n}"), BYTES
    )
    return st.one_of(verbs, verbs, rest, rest, raw)


FILTERS = (
    *("topic", "project", "importance", "state", "page", "page_size", "ordering"),
    *("created_after", "created_before", "limit", "offset", "cursor", "keyword"),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            *("topic", "summary", "content", "importance", "keywords", "name"),
            *("definition", "labels", "description", "memoir", "confidence", "state"),
        ),
        VALUES,
    ),
)


def encoded(value: object) -> bytes:
    """JSON as a program writes it, with what JSON has no word for."""
    return json.dumps(value).encode()


BYTES = st.one_of(
    st.binary(max_size=200),
    VALUES.map(encoded),
    st.sampled_from([b"[" * 50_000, b'{"a":' * 20_000, b"\xff\xfe{}", b"", b"nul"]),
)


def lines(place: Place) -> st.SearchStrategy[bytes]:
    """A line that a client of MCP sends."""
    ids = st.one_of(st.integers(0, 99), st.text(max_size=5), PLAIN)
    called = calls(place).map(
        lambda c: ("tools/call", {"name": c[0], "arguments": c[1]})
    )
    others = st.tuples(st.sampled_from(METHODS), VALUES)
    message = st.tuples(ids, st.one_of(called, called, others)).map(
        lambda m: {"jsonrpc": "2.0", "id": m[0], "method": m[1][0], "params": m[1][1]}
    )
    # A line break would make two lines of one.
    return st.one_of(message.map(encoded), message.map(encoded), BYTES).map(
        lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")
    )


METHODS = (
    *("initialize", "tools/list", "tools/call", "ping", "notifications/cancelled"),
    *("notifications/initialized", "resources/list", "prompts/get", "", "x" * 300),
)


def words(place: Place) -> st.SearchStrategy[list[str]]:
    """What is typed after `icm`."""
    known = sorted(w for w, (o, _) in COMMANDS.items() if o.name not in LEFT_OUT)
    typed = st.one_of([_line(names, place) for names in known])
    wild = st.tuples(st.sampled_from(known), st.lists(TEXTS, max_size=4)).map(
        lambda pair: [*pair[0], *pair[1]]
    )
    return st.one_of(typed, typed, typed, wild)


def _line(names: tuple[str, ...], place: Place) -> st.SearchStrategy[list[str]]:
    operation, command = COMMANDS[names]
    return arguments(operation, place).map(
        lambda given: [*names, *_typed(operation, command, given)]
    )


def _typed(
    operation: Operation, command: Command | Tool, given: dict[str, object]
) -> list[str]:
    made: list[str] = []
    last: list[str] = []
    for name, value in given.items():
        flags = {} if isinstance(command, Tool) else command.flags
        spelled = flags.get(name, (f"--{name.replace('_', '-')}",))
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        if operation.params.model_fields[name].annotation is bool:
            made += spelled[:1]
        elif spelled:
            made += [spelled[-1], text]
        else:
            last.append(text)
    return [*made, *last]


def payloads() -> st.SearchStrategy[tuple[str, str, bytes]]:
    """Verb, host and payload of a hook: samples with other values, and torn ones."""
    return st.one_of(
        [
            st.tuples(
                st.sampled_from(VERBS),
                st.sampled_from([host, ""]),
                st.one_of(_changed(json.loads(file.read_text("utf-8"))), BYTES),
            )
            for folder, host in HOSTS.items()
            for file in sorted((SAMPLES / folder).glob("*.json"))
        ]
    )


def _changed(found: dict[str, Any]) -> st.SearchStrategy[bytes]:
    names = sorted({*found, "prompt", "cwd", "messages", "tool_input", "output"})
    changes = st.dictionaries(st.sampled_from(names), VALUES, max_size=3)
    whole = changes.map(lambda given: encoded(found | given))
    cut = st.tuples(whole, st.integers(0, 400)).map(lambda p: p[0][: p[1]])
    return st.one_of(whole, whole, whole, cut)
