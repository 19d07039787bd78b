"""What is put in: arguments from the schemas of the operations, messages and bytes."""

from __future__ import annotations

import json
from typing import Any

from icm_site.hooks.contracts import VERBS
from icm_site.operation import Command, Operation, Tool
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from tests.fuzz import chance
from tests.fuzz.chance import Made
from tests.fuzz.place import Place
from tests.fuzz.served import Request
from tests.icm_site.hooks.hooking import SAMPLES
from tests.icm_site.hooks.hooking import TOOLS as HOSTS

# They erase by order, need a network, or read a folder of the machine.
LEFT_OUT = frozenset({"memory_purge", "embeddings_download", "learn_project"})
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

WORDS = chance.sampled(
    "Postgres orders queue NATS token deploy Friday sécurité データベース 結帳 "
    "🫖 and the not OR NEAR * \" ' ( ) : ^ -".split(" ")
)
SENTENCES = chance.lists(WORDS, least=1, most=12).map(" ".join)
TEXTS = chance.one_of(
    chance.text(300),
    chance.sampled(
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
NUMBERS = chance.one_of(
    chance.integers(-(2**70), 2**70),
    chance.sampled([0, 1, -1, 50, 1000, 2**31, 2**63 - 1, 2**63, -(2**63) - 1]),
    chance.floats(),
)
PLAIN = chance.one_of(chance.just(None), chance.booleans(), NUMBERS, TEXTS)
VALUES = chance.nested(PLAIN)


def fitting(schema: dict[str, Any], place: Place) -> Made[Any]:
    """Values that a schema admits, or nearly."""
    options = schema.get("anyOf") or [schema]
    if "enum" in schema:
        return chance.sampled(schema["enum"])
    kinds = {option.get("type") for option in options}
    made: list[Made[Any]] = []
    if kinds & {"integer", "number"}:
        made.append(chance.integers(0, 60))
    if "boolean" in kinds:
        made.append(chance.booleans())
    if "array" in kinds:
        made.append(chance.lists(WORDS, most=4))
    if "string" in kinds or not made:
        made += [chance.sampled(place.names), SENTENCES, TEXTS]
    return chance.one_of(*made)


def arguments(operation: Operation, place: Place) -> Made[dict[str, object]]:
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
            fit = chance.one_of(chance.sampled(place.ids), fit)
        fields[name] = chance.one_of(*[fit] * 11, VALUES)
    needed = {name: fields.pop(name) for name in schema.get("required", [])}
    usual = chance.fields(needed, fields)
    torn = chance.fields({}, {**needed, **fields})
    return chance.one_of(usual, usual, usual, torn)


def calls(place: Place) -> Made[tuple[str, dict[str, object]]]:
    """A tool and its arguments."""
    return chance.one_of(
        *[
            chance.tuples(chance.just(name), arguments(operation, place))
            for name, (operation, _) in sorted(TOOLS.items())
        ]
    )


def routes(place: Place) -> Made[tuple[str, str, bytes]]:
    """Method, address and body of a request."""
    names = sorted(n for n, o in OPERATIONS.items() if o.http and n not in LEFT_OUT)
    verbs = chance.one_of(
        *[
            chance.tuples(
                chance.just("POST"),
                chance.just(f"/ops/{name}"),
                arguments(OPERATIONS[name], place).map(encoded),
            )
            for name in names
        ]
    )
    nouns = chance.sampled(
        "memories memoirs concepts links feedback suggestions changes".split()
    )
    ends = chance.one_of(
        chance.just(""),
        chance.sampled(place.ids).map(lambda each: f"{each}/"),
        TEXTS.map(lambda text: f"?search={text[:200]}"),
        chance.tuples(chance.sampled(FILTERS), PLAIN).map(lambda p: f"?{p[0]}={p[1]}"),
    )
    methods = chance.sampled(["GET", "GET", "POST", "PATCH", "PUT"])
    rest = chance.tuples(
        methods,
        chance.tuples(nouns, ends).map(lambda p: f"/api/{p[0]}/{p[1]}"),
        chance.one_of(FIELDS.map(encoded), BYTES),
    )
    raw = chance.tuples(
        chance.just("POST"), chance.sampled(names).map(lambda n: f"/ops/{n}"), BYTES
    )
    return chance.one_of(verbs, verbs, rest, rest, raw)


FILTERS = (
    *("topic", "project", "importance", "state", "page", "page_size", "ordering"),
    *("created_after", "created_before", "limit", "offset", "cursor", "keyword"),
)
FIELDS = chance.fields(
    {},
    dict.fromkeys(
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


BYTES = chance.one_of(
    chance.binary(200),
    VALUES.map(encoded),
    chance.sampled([b"[" * 50_000, b'{"a":' * 20_000, b"\xff\xfe{}", b"", b"nul"]),
)


def lines(place: Place) -> Made[bytes]:
    """A line that a client of MCP sends."""
    ids = chance.one_of(chance.integers(0, 99), chance.text(5), PLAIN)
    called = calls(place).map(
        lambda c: ("tools/call", {"name": c[0], "arguments": c[1]})
    )
    others = chance.tuples(chance.sampled(METHODS), VALUES)
    message = chance.tuples(ids, chance.one_of(called, called, others)).map(
        lambda m: {"jsonrpc": "2.0", "id": m[0], "method": m[1][0], "params": m[1][1]}
    )
    # A line break would make two lines of one.
    return chance.one_of(message.map(encoded), message.map(encoded), BYTES).map(
        lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")
    )


def requests(place: Place) -> Made[Request]:
    """What is sent to `/mcp`: mostly a message, sometimes with other headers."""
    odd = chance.one_of(
        chance.just(None),
        chance.sampled(["text/plain", "application/json", "*/*", "\xff", "evil.test"]),
        TEXTS.map(lambda text: "".join(c for c in text if c.isprintable())[:99]),
    )
    usual = chance.just(dict[str, str | None]())
    headers = chance.dictionaries(chance.sampled(HEADERS), odd, most=2)
    return chance.tuples(
        chance.sampled([*["POST"] * 9, "GET", "DELETE"]),
        chance.one_of(
            *[chance.sampled(["", "project=shop"])] * 3,
            TEXTS.map(lambda text: f"project={text[:300]}"),
        ),
        chance.one_of(usual, usual, usual, headers),
        lines(place),
    ).map(lambda parts: Request(*parts))


HEADERS = (
    *("host", "origin", "authorization", "accept", "content-type"),
    *("mcp-protocol-version", "mcp-session-id", "last-event-id", "sec-fetch-site"),
)
METHODS = (
    *("initialize", "tools/list", "tools/call", "ping", "notifications/cancelled"),
    *("notifications/initialized", "resources/list", "prompts/get", "", "x" * 300),
)


def words(place: Place) -> Made[list[str]]:
    """What is typed after `icm`."""
    known = sorted(w for w, (o, _) in COMMANDS.items() if o.name not in LEFT_OUT)
    typed = chance.one_of(*[_line(names, place) for names in known])
    wild = chance.tuples(chance.sampled(known), chance.lists(TEXTS, most=4)).map(
        lambda pair: [*pair[0], *pair[1]]
    )
    return chance.one_of(typed, typed, typed, wild)


def _line(names: tuple[str, ...], place: Place) -> Made[list[str]]:
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


def payloads() -> Made[tuple[str, str, bytes]]:
    """Verb, host and payload of a hook: samples with other values, and torn ones."""
    return chance.one_of(
        *[
            chance.tuples(
                chance.sampled(VERBS),
                chance.sampled([host, ""]),
                chance.one_of(_changed(json.loads(file.read_text("utf-8"))), BYTES),
            )
            for folder, host in HOSTS.items()
            for file in sorted((SAMPLES / folder).glob("*.json"))
        ]
    )


def _changed(found: dict[str, Any]) -> Made[bytes]:
    names = sorted({*found, "prompt", "cwd", "messages", "tool_input", "output"})
    changes = chance.dictionaries(chance.sampled(names), VALUES, most=3)
    whole = changes.map(lambda given: encoded(found | given))
    cut = chance.tuples(whole, chance.integers(0, 400)).map(lambda p: p[0][: p[1]])
    return chance.one_of(whole, whole, whole, cut)
