"""Plain functions that make memoirs, concepts and links, through the product's path."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from icm_site import command_line, mcp_tools
from icm_site.mcp_tools import Answer
from icm_site.registry import COMMANDS
from memoirs import links, write
from memoirs.models import Concept, ConceptLink, Memoir
from tests.factories import AGENT, CALLER

NAME = "system-architecture"


def make_memoir(name: str = NAME, **fields: Any) -> Memoir:
    return write.create_memoir(name, **fields)[0]


def make_concept(
    name: str, definition: str = "", *, memoir: str = NAME, **fields: Any
) -> Concept:
    """A concept of a memoir, which is made if it is missing."""
    if not Memoir.objects.filter(name=memoir).exists():
        make_memoir(memoir)
    text = definition or f"What {name} is."
    fields.setdefault("caller", CALLER)
    return write.add_concept(memoir, name=name, definition=text, **fields).concept


def make_link(
    source: str,
    relation: str,
    target: str,
    *,
    memoir: str = NAME,
    **fields: Any,
) -> ConceptLink:
    fields.setdefault("caller", CALLER)
    return links.link(memoir, source=source, target=target, relation=relation, **fields)


def make_graph(*edges: str) -> None:
    """Concepts and links from lines such as `a depends_on b`."""
    for name in dict.fromkeys(n for edge in edges for n in edge.split()[::2]):
        make_concept(name)
    for edge in edges:
        make_link(*edge.split())


def call(
    tool: str, /, *, compact: bool = False, cwd: str = "", **arguments: Any
) -> Answer:
    caller = replace(AGENT, cwd=cwd)
    return mcp_tools.call(tool, arguments, caller=caller, compact=compact)


def text(tool: str, /, **arguments: Any) -> str:
    answer = call(tool, **arguments)
    assert not answer.failed, answer.text
    return answer.text


def failure(tool: str, /, **arguments: Any) -> str:
    answer = call(tool, **arguments)
    assert answer.failed, answer.text
    return answer.text


def make_pair() -> None:
    make_memoir(description="System design decisions")
    make_concept(
        "auth-service",
        "Handles JWT tokens and OAuth2 flows",
        labels=["domain:auth", "type:service"],
    )
    make_concept("api-gateway", "Routes requests")


def make_files(root: Path, texts: Mapping[str, str]) -> Path:
    """Files by their paths below a folder."""
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


PYPROJECT = """
[project]
name = "shop"
version = "1.2"
description = "Sells things."
dependencies = ["django>=5.2", "PyYAML ; python_version > '3'", "rich"]
[project.scripts]
shop = "shop.cli:main"
[tool.ruff]
[tool.mypy]
"""
CLI = '''"""Commands of the shop.

More."""
import yaml
from shop import orders
def main(): ...
def _hidden(): ...
'''
ORDERS = """
from typing import TYPE_CHECKING
from .stock import Stock
if TYPE_CHECKING:
    import numpy
class Order: ...
if __name__ == "__main__":
    from shop import extra
"""
STOCK = """
import django.db
def late():
    from shop import orders
class Stock: ...
"""


def make_project(root: Path) -> Path:
    return make_files(
        root,
        {
            "pyproject.toml": PYPROJECT,
            "README.md": "# Shop\n",
            "shop/__init__.py": '"""The shop itself."""\n',
            "shop/cli.py": CLI,
            "shop/orders.py": ORDERS,
            "shop/stock.py": STOCK,
            "shop/__main__.py": "from shop.cli import main\nmain()\n",
            "shop/extra.py": "",
            "tests/test_orders.py": "import shop.orders\n",
        },
    )


def run_command(*words: str, cwd: str = "") -> str:
    """What the command line prints, without a process of its own."""
    parsed = vars(command_line.parser(COMMANDS).parse_args(list(words)))
    operation, command = COMMANDS[parsed.pop("words_")]
    form = parsed.pop("format_", None) or next(iter(command.formats))
    caller = replace(CALLER, cwd=cwd)
    params = operation.parse(
        parsed, caller=caller, ranges=command.ranges, fill=command.fill
    )
    console = Console(width=1_000, file=io.StringIO())
    with console.capture() as captured:
        shown = command.formats[form](operation.run(params, caller))
        console.print(shown, markup=False, highlight=False, soft_wrap=True)
    return captured.get()
