"""What programs may give to an operation, over MCP or HTTP: schema and check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from icm_site.errors import InvalidInput
from icm_site.operation import Command, Operation, Tool


def schema(operation: Operation, shown: Tool | Command) -> dict[str, Any]:
    """The JSON schema of the arguments, without what tells a model nothing."""
    found = {"type": "object", "properties": _properties(operation, shown)}
    needed = _required(operation, shown)
    return found | {"required": needed} if needed else found


def given(
    operation: Operation, shown: Tool | Command, arguments: Mapping[str, object]
) -> dict[str, object]:
    """The arguments that the operation has; a hidden one counts as unknown.

    Raises InvalidInput where one is missing, or true and false stand for a number,
    which pydantic takes for 1 and 0.
    """
    known = {
        name: value
        for name, value in arguments.items()
        if name in operation.params.model_fields and name not in shown.hidden
    }
    for name in _required(operation, shown):
        if known.get(name) is None:
            raise InvalidInput(f"missing required field: {name}")
    for name, value in known.items():
        if isinstance(value, bool) and (kind := _number(operation, name)):
            raise InvalidInput(f"{name}: input should be a valid {kind}")
    return known


def _number(operation: Operation, name: str) -> str:
    """What a field is called that holds a number; "" for any other."""
    annotation = operation.params.model_fields[name].annotation
    kinds = {annotation, *get_args(annotation)}
    return "integer" if int in kinds else "number" if float in kinds else ""


def _required(operation: Operation, shown: Tool | Command) -> list[str]:
    also = shown.required if isinstance(shown, Tool) else ()
    return [
        name
        for name, info in operation.params.model_fields.items()
        if name in also or (info.is_required() and name not in shown.fill)
    ]


def _properties(operation: Operation, shown: Tool | Command) -> dict[str, Any]:
    full = operation.params.model_json_schema()
    definitions = full.get("$defs", {})
    found = {
        name: _compact(each, definitions)
        for name, each in full.get("properties", {}).items()
        if name not in shown.hidden
    }
    for name, (low, high) in shown.ranges.items():
        found[name] |= {"minimum": low, "maximum": high}
    return found


def _compact(each: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """One property without titles, references, null alternatives, empty defaults."""
    whole = dict(each)
    if "$ref" in whole:
        whole = definitions[whole.pop("$ref").rpartition("/")[2]] | whole
    options = [o for o in whole.pop("anyOf", []) if o.get("type") != "null"]
    if len(options) == 1:
        return _compact(options[0] | whole, definitions)
    if options:
        whole["anyOf"] = [_compact(option, definitions) for option in options]
    if "items" in whole:
        whole["items"] = _compact(whole["items"], definitions)
    # What an argument is when it is left out goes without saying where it is nothing.
    if not whole.get("default"):
        whole.pop("default", None)
    whole.pop("title", None)
    return whole
