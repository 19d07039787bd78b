"""What comes up over the dashboard: a question, and the help."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

HELP = """\
1-5, Tab, h, l   tabs
j, k, g, G       down, up, first, last
Enter            open a topic or a branch
/                search the memories; Esc ends it
d                forget the memory
u                undo the last thing done here
c                consolidate the topic
p                prune what has faded
D                let a day pass for all weights
r                read everything anew
q, Esc           leave"""


class Question(ModalScreen[bool]):
    """A question that only `y` answers with yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape,q,enter", "dismiss(False)", "no"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        yield Static(Text(f"{self._text}\n\ny: yes   n: no"), classes="box")


class Help(ModalScreen[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "close")
    ]

    def compose(self) -> ComposeResult:
        yield Static(Text(HELP), classes="box")
