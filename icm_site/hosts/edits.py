"""Put our part into a text, tell whether it is there, take it out: by kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from icm_site.hosts import blocks, jsonc, program, toml_text, yaml_text
from icm_site.hosts.errors import WrongShape
from icm_site.hosts.texts import MARK

# What `put` found, or did.
CONFIGURED = "configured"
ALREADY = "already configured"
RENEWED = "renewed"
STALE = "stale"
OTHER = "left as it is"


class Item(NamedTuple):
    """A part of ours in one file of one tool."""

    tool: str
    mode: str
    kind: str
    path: Path
    value: Any
    key: tuple[str, ...] = ()
    start: str = ""


class Outcome(NamedTuple):
    """A text after an edit, what was done, and why where that needs words.

    `runs`: the files of each command of ours that is stale.
    """

    text: str
    state: str
    note: str = ""
    runs: tuple[tuple[str, ...], ...] = ()


class Kind(NamedTuple):
    """What can be done to files of one kind.

    `put(text, item, force)`; `take(text, item, original)`, where `original` is the text
    before us, "" if unknown: containers that are in it stay although they are empty.
    """

    put: Callable[[str, Item, bool], Outcome]
    take: Callable[[str, Item, str], str]


def put(text: str, item: Item, *, force: bool = False) -> Outcome:
    """Add our part, or tell why not; raises WrongShape. `force` renews stale parts."""
    begun = item.start if item.start and not text.strip() else text
    done = KINDS[item.kind].put(begun, item, force)
    return done if done.text != begun else done._replace(text=text)


def take(text: str, item: Item, original: str = "") -> str:
    """Remove our part and what it left empty; raises WrongShape."""
    return KINDS[item.kind].take(text, item, original)


# MCP entries: the same rules for JSON, TOML and YAML


def _entry_state(there: Any, wanted: Mapping[str, Any], key: Sequence[str]) -> str:
    """CONFIGURED for none, else whether the entry runs this program."""
    if there is None:
        return CONFIGURED
    if not isinstance(there, dict):
        raise WrongShape(f"the key {'.'.join(key)!r} is not an object")
    names = [name for name in ("command", "args") if name in wanted]
    if all(there.get(name) == wanted[name] for name in names):
        return ALREADY
    ours = program.is_server(there.get("command"), there.get("args"))
    return STALE if ours else OTHER


def _renewed(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with this program, and all else that stood in it."""
    changed = {name: wanted[name] for name in ("command", "args") if name in wanted}
    return {**there, **changed}


def _left(text: str, state: str, there: Any) -> Outcome:
    """The text as it is, and what its entry runs if that is not this program."""
    if state == STALE:
        runs = _runs(there)
        return Outcome(text, state, f"points to {runs}; --force renews it", ((runs,),))
    if state == OTHER:
        note = f"its entry `icm` runs {_runs(there)}; --force replaces it"
        return Outcome(text, state, note)
    return Outcome(text, state)


def _runs(there: Mapping[str, Any]) -> str:
    command = there.get("command")
    words = program.list_of_texts(command) or [str(command)]
    return words[0]


def _put_json(text: str, item: Item, force: bool) -> Outcome:
    there = jsonc.walk(text, item.key)
    state = _entry_state(there, item.value, item.key)
    if state == CONFIGURED:
        return Outcome(jsonc.put(text, item.key, item.value), CONFIGURED)
    if state == ALREADY or not force:
        return _left(text, state, there)
    if state == OTHER:
        return Outcome(jsonc.put(text, item.key, item.value), RENEWED)
    for name in ("command", "args"):
        if name in item.value and there.get(name) != item.value[name]:
            text = jsonc.put(text, (*item.key, name), item.value[name])
    return Outcome(text, RENEWED)


def _take_json(text: str, item: Item, original: str) -> str:
    there = jsonc.walk(text, item.key)
    if not _is_ours(there):
        return text
    return _prune(jsonc.take(text, item.key), item.key[:-1], original)


def _is_ours(there: Any) -> bool:
    return isinstance(there, dict) and program.is_server(
        there.get("command"), there.get("args")
    )


def _prune(text: str, path: Sequence[str], original: str) -> str:
    """Take out containers on a path that are empty, unless they were there before."""
    for depth in range(len(path), 0, -1):
        inner = path[:depth]
        if jsonc.walk(text, inner) not in ({}, []) or _had(original, inner):
            break
        text = jsonc.take(text, inner)
    return text


def _had(original: str, path: Sequence[str]) -> bool:
    try:
        return jsonc.walk(original, path) is not None
    except WrongShape:
        return False


def _put_toml(text: str, item: Item, force: bool) -> Outcome:
    there = toml_text.walk(text, item.key)
    state = _entry_state(there, item.value, item.key)
    if state == CONFIGURED:
        return Outcome(toml_text.put(text, item.key, item.value), CONFIGURED)
    if state == ALREADY or not force:
        return _left(text, state, there)
    value = item.value if state == OTHER else _renewed(there, item.value)
    return Outcome(toml_text.put(text, item.key, value), RENEWED)


def _take_toml(text: str, item: Item, original: str) -> str:
    there = toml_text.walk(text, item.key)
    return toml_text.take(text, item.key) if _is_ours(there) else text


def _put_yaml(text: str, item: Item, force: bool) -> Outcome:
    (key,) = item.key
    there = next((i for i in yaml_text.items(text, key) if _named_icm(i)), None)
    state = _entry_state(there, item.value, item.key)
    if state == CONFIGURED:
        return Outcome(yaml_text.append(text, key, item.value), CONFIGURED)
    if state == ALREADY or not force:
        return _left(text, state, there)
    value = item.value if state == OTHER else _renewed(there or {}, item.value)
    without = yaml_text.take(text, key, _named_icm)
    return Outcome(yaml_text.append(without, key, value), RENEWED)


def _named_icm(item: Any) -> bool:
    return isinstance(item, dict) and item.get("name") == "icm"


def _take_yaml(text: str, item: Item, original: str) -> str:
    (key,) = item.key
    return yaml_text.take(text, key, lambda i: _named_icm(i) and _is_ours(i))


# A file that another one names


def _put_read(text: str, item: Item, force: bool) -> Outcome:
    (key,) = item.key
    if item.value in yaml_text.items(text, key, single=True):
        return Outcome(text, ALREADY)
    return Outcome(yaml_text.append(text, key, item.value), CONFIGURED)


def _take_read(text: str, item: Item, original: str) -> str:
    (key,) = item.key
    return yaml_text.take(text, key, lambda i: bool(i == item.value))


# Hooks


def commands(entry: Any) -> list[str]:
    """The commands of an entry: of a group's handlers, or of a flat one."""
    return [
        value
        for handler in handlers(entry)
        for value in handler.values()
        if isinstance(value, str) and program.is_hook(value)
    ]


def handlers(entry: Any) -> list[dict[str, Any]]:
    """The handlers of a group, or a flat entry as its only one."""
    if not isinstance(entry, dict):
        return []
    inner = entry.get("hooks")
    listed = inner if isinstance(inner, list) else [entry]
    return [handler for handler in listed if isinstance(handler, dict)]


def _put_hooks(text: str, item: Item, force: bool) -> Outcome:
    state, note = ALREADY, ""
    runs: list[tuple[str, ...]] = []
    for hook in item.value:
        path = (*item.key, hook.event)
        there = jsonc.walk(text, path)
        if there is not None and not isinstance(there, list):
            raise WrongShape(f"the key {'.'.join(path)!r} is not a list")
        old = [command for entry in there or () for command in commands(entry)]
        new = commands(hook.entry)
        stale = [c for c in old if c not in new and program.files_of(c)]
        if stale and not force:
            if state != CONFIGURED:
                state = STALE
            runs += [tuple(program.files_of(command)) for command in stale]
            note = f"{hook.event} runs {runs[-1][0]}; --force renews it"
            continue
        if stale:
            text, state = _without_hooks(text, path), RENEWED
        if stale or not old:
            text = jsonc.append(text, path, dict(hook.entry))
            state = state if state == RENEWED else CONFIGURED
    return Outcome(text, state, note, tuple(runs))


def _take_hooks(text: str, item: Item, original: str) -> str:
    events = jsonc.walk(text, item.key)
    # All events, also those of earlier versions.
    for event in events if isinstance(events, dict) else ():
        path = (*item.key, event)
        if isinstance(events[event], list):
            text = _prune(_without_hooks(text, path), path, original)
    return text


def _without_hooks(text: str, path: Sequence[str]) -> str:
    """A list of an event without our handlers and the groups that these leave empty."""
    there = jsonc.walk(text, path) or []
    for at in reversed(range(len(there))):
        ours = [bool(commands(h)) for h in handlers(there[at])]
        if not any(ours):
            continue
        if all(ours):
            text = jsonc.take_item(text, path, at)
            continue
        inner = [*path, str(at), "hooks"]
        for index in _ours_in(there[at]["hooks"]):
            text = jsonc.take_item(text, inner, index)
    return text


def _ours_in(listed: Sequence[Any]) -> Iterable[int]:
    return reversed([i for i, h in enumerate(listed) if commands(h)])


# Texts


def _put_block(text: str, item: Item, force: bool) -> Outcome:
    there = blocks.find(text)
    if there == blocks.framed(item.value):
        return Outcome(text, ALREADY)
    state = CONFIGURED if there is None else RENEWED
    return Outcome(blocks.put(text, item.value), state)


def _take_block(text: str, item: Item, original: str) -> str:
    return blocks.take(text)


def _put_file(text: str, item: Item, force: bool) -> Outcome:
    if text == item.value:
        return Outcome(text, ALREADY)
    if not text.strip():
        return Outcome(item.value, CONFIGURED)
    if force:
        return Outcome(item.value, RENEWED)
    if MARK in text:
        return Outcome(text, STALE, "differs from this version's; --force renews it")
    return Outcome(text, OTHER, "there is a file of yours; --force replaces it")


def _take_file(text: str, item: Item, original: str) -> str:
    return "" if MARK in text else text


KINDS: Mapping[str, Kind] = {
    "json": Kind(_put_json, _take_json),
    "toml": Kind(_put_toml, _take_toml),
    "yaml-item": Kind(_put_yaml, _take_yaml),
    "yaml-read": Kind(_put_read, _take_read),
    "hooks": Kind(_put_hooks, _take_hooks),
    "block": Kind(_put_block, _take_block),
    "file": Kind(_put_file, _take_file),
    "script": Kind(_put_file, _take_file),
}
