"""The dashboard itself: five tabs over the operations, keys, and what they do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import (
    DataTable,
    Footer,
    Input,
    Static,
    TabbedContent,
    TabPane,
    Tree,
)

from icm_site.dashboard import source, words
from icm_site.dashboard.screens import Help, Question
from icm_site.dashboard.source import LISTED, Failed

TABS = ("overview", "topics", "memories", "health", "memoirs")
REFRESH_SECONDS = 30.0
COLUMNS = {
    "topics": ("Count", "Topic"),
    "memories": ("Score", "Weight", "Topic", "Memory"),
    "health": ("Topic", "Count", "Avg weight", "Stale", "Consol?", "Avg access"),
}
# A step of a graph that leads back is shown, and not opened.
DEPTH = 8


class Dashboard(App[None]):
    """The memory in the terminal."""

    TITLE = "ICM"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    DataTable { height: 1fr; }
    Tree { height: 1fr; }
    .detail { height: 8; border-top: solid $primary; }
    .box { width: 60; height: auto; padding: 1 2; border: round $primary; }
    ModalScreen { align: center middle; }
    Input { display: none; }
    Input.open { display: block; }
    TabPane { padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(at + 1), f"tab({name!r})", name, show=False)
            for at, name in enumerate(TABS)
        ),
        # Before the widgets, which would move a focus or scroll by these.
        Binding("tab,right", "step(1)", show=False, priority=True),
        Binding("shift+tab,left", "step(-1)", show=False, priority=True),
        Binding("l", "step(1)", show=False),
        Binding("h", "step(-1)", show=False),
        Binding("j", "move('cursor_down')", show=False),
        Binding("k", "move('cursor_up')", show=False),
        Binding("g", "move('scroll_home')", show=False),
        Binding("G", "move('scroll_end')", show=False),
        Binding("slash", "search", "search"),
        Binding("d", "forget", "forget"),
        Binding("u", "undo", "undo"),
        Binding("c", "consolidate", "consolidate"),
        Binding("p", "prune", "prune"),
        Binding("D", "decay", "decay", show=False),
        Binding("r", "refresh_all", "refresh", show=False),
        Binding("question_mark", "help", "help"),
        Binding("escape", "leave", show=False),
        Binding("q,ctrl+c", "quit", "quit"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._memories: dict[str, Any] = {}
        self._topic: str | None = None
        self._query = ""
        self._undo: list[str] = []

    def compose(self) -> ComposeResult:
        with TabbedContent(initial="overview"):
            with TabPane("Overview", id="overview"), VerticalScroll():
                yield Static(id="figures")
            with TabPane("Topics", id="topics"):
                yield DataTable(id="topics-table", cursor_type="row")
            with TabPane("Memories", id="memories"):
                yield Input(placeholder="search", id="query")
                yield DataTable(id="memories-table", cursor_type="row")
                with VerticalScroll(classes="detail"):
                    yield Static(id="memory")
            with TabPane("Health", id="health"):
                yield DataTable(id="health-table", cursor_type="row")
            with TabPane("Memoirs", id="memoirs"):
                yield Tree("memoirs", id="graph")
                with VerticalScroll(classes="detail"):
                    yield Static(id="concept")
        yield Footer()

    def on_mount(self) -> None:
        for name, columns in COLUMNS.items():
            self.table(name).add_columns(*columns)
        self.query_one("#graph", Tree).show_root = False
        self.load()
        self.set_interval(REFRESH_SECONDS, self.load)

    def table(self, name: str) -> DataTable[Any]:
        return self.query_one(f"#{name}-table", DataTable)

    @property
    def tab(self) -> str:
        return self.query_one(TabbedContent).active

    # What is shown

    @work(exclusive=True)
    async def load(self) -> None:
        """Read everything anew; the memories last, as the others are quicker."""
        await self.attempt(self._load())

    async def _load(self) -> None:
        shown = await source.overview()
        self.query_one("#figures", Static).update(words.overview(shown))
        rows = [
            ([str(row.count), words.plain(row.topic)], row.topic)
            for row in shown.topics
        ]
        self._fill("topics", rows)
        health = [(words.health_row(row), row.topic) for row in shown.health.topics]
        self._fill("health", health)
        self._fill_memoirs(shown.memoirs)
        await self._load_memories()

    async def _load_memories(self) -> None:
        if self._query:
            asked = {"query": self._query, "limit": 100, "topic": self._topic}
            found = (await source.ask("memory_recall", **asked)).hits
        else:
            every = {"topic": self._topic, "all": True, "limit": LISTED}
            found = (await source.ask("memory_list", **every)).memories
        self._memories = {row.id: row for row in found}
        self._fill("memories", [(words.memory_row(row), row.id) for row in found])
        self._show_memory()

    def _fill(self, name: str, rows: list[tuple[list[Any], str]]) -> None:
        """New rows in a table; the cursor stays at its line."""
        table = self.table(name)
        at = table.cursor_row
        table.clear()
        for cells, key in rows:
            table.add_row(*(_cell(cell) for cell in cells), key=key)
        if rows:
            table.move_cursor(row=min(at, len(rows) - 1))

    def _fill_memoirs(self, memoirs: list[Any]) -> None:
        tree = self.query_one("#graph", Tree)
        known = [node.data for node in tree.root.children]
        wanted = [("memoir", row.name, row.concepts) for row in memoirs]
        if [data[:3] for data in known if data] == wanted:
            return
        tree.clear()
        for data, row in zip(wanted, memoirs, strict=True):
            text = f"{words.plain(row.name)} ({row.concepts} concepts)"
            tree.root.add(Text(text), data=data)
        tree.root.expand()

    # The graph as a tree

    @on(Tree.NodeExpanded)
    async def open_branch(self, event: Tree.NodeExpanded[Any]) -> None:
        """Fill a branch when it is opened: concepts of a memoir, links of a concept."""
        node = event.node
        if not node.data or node.children:
            return
        await self.attempt(self._open_branch(node))

    async def _open_branch(self, node: Any) -> None:
        if node.data[0] == "memoir":
            shown = await source.ask("memoir_show", name=node.data[1])
            for row in shown.concepts:
                data = ("concept", node.data[1], row.name, (row.name,))
                node.add(Text(words.plain(row.name)), data=data)
            return
        _, memoir, name, path = node.data
        found = await source.ask("memoir_neighbors", memoir=memoir, name=name)
        for row in found.neighbors:
            out = row.link.source == name
            sign = f"{row.link.relation} →" if out else f"← {row.link.relation}"
            other = row.concept.name
            text = Text(f"{sign} {words.plain(other)}")
            data = ("concept", memoir, other, (*path, other))
            if other in path or len(path) >= DEPTH:
                node.add_leaf(text, data=data)
            else:
                node.add(text, data=data)

    @on(Tree.NodeHighlighted)
    async def show_concept(self, event: Tree.NodeHighlighted[Any]) -> None:
        """The concept under the cursor, in full."""
        data = event.node.data
        if data and data[0] == "concept":
            await self.attempt(self._show_concept(data[1], data[2]))

    async def _show_concept(self, memoir: str, name: str) -> None:
        found = await source.ask("memoir_neighbors", memoir=memoir, name=name)
        self.query_one("#concept", Static).update(Text(words.concept(found.concept)))

    # Memories

    @on(DataTable.RowHighlighted, "#memories-table")
    def _show_memory(self) -> None:
        row = self._memories.get(self._selected("memories") or "")
        text = words.memory(row) if row else "No memories found."
        self.query_one("#memory", Static).update(Text(text))

    def _selected(self, name: str) -> str | None:
        table = self.table(name)
        if not table.row_count:
            return None
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value

    @on(DataTable.RowSelected, "#topics-table")
    @on(DataTable.RowSelected, "#health-table")
    async def open_topic(self, event: DataTable.RowSelected) -> None:
        """The memories of the topic under the cursor."""
        self._topic, self._query = event.row_key.value, ""
        self.action_tab("memories")
        await self.attempt(self._load_memories())

    @on(Input.Submitted)
    async def ask_for(self, event: Input.Submitted) -> None:
        """Search through recall, ranked."""
        self._query = event.value.strip()
        self.table("memories").focus()
        await self.attempt(self._load_memories())

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing but leaving acts behind a question; a search keeps its arrows."""
        if isinstance(self.screen, ModalScreen):
            return action == "quit"
        return action != "step" or not isinstance(self.focused, Input)

    def action_tab(self, name: str) -> None:
        # A focus that stays behind would bring its own tab back.
        self.set_focus(None)
        self.query_one(TabbedContent).active = name
        self._focus_tab()

    def action_step(self, step: int) -> None:
        at = (TABS.index(self.tab) + step) % len(TABS)
        self.action_tab(TABS[at])

    def _focus_tab(self) -> None:
        if self.tab in COLUMNS:
            self.table(self.tab).focus()
        elif self.tab == "memoirs":
            self.query_one("#graph", Tree).focus()

    def action_move(self, how: str) -> None:
        if isinstance(self.focused, DataTable | Tree):
            getattr(self.focused, f"action_{how}")()

    def action_search(self) -> None:
        self.action_tab("memories")
        field = self.query_one("#query", Input)
        field.add_class("open")
        field.focus()

    async def action_leave(self) -> None:
        """Esc: first out of the search and the topic, then out of the program."""
        if not (self._query or self._topic or isinstance(self.focused, Input)):
            self.exit()
            return
        field = self.query_one("#query", Input)
        field.value, self._query, self._topic = "", "", None
        field.remove_class("open")
        self._focus_tab()
        await self.attempt(self._load_memories())

    def action_help(self) -> None:
        self.push_screen(Help())

    def action_refresh_all(self) -> None:
        self.load()

    # What changes something

    @work
    async def action_forget(self) -> None:
        row = self._memories.get(self._selected("memories") or "")
        if self.tab != "memories" or row is None:
            return
        what = words.plain(row.summary, limit=120)
        await self._change(
            f"Forget this memory? It can be undone.\n\n{what}",
            lambda: source.ask("memory_forget", id=row.id),
            lambda done: f"Forgotten. u brings it back ({done.change}).",
        )

    @work
    async def action_consolidate(self) -> None:
        topic = self._selected(self.tab) if self.tab in ("topics", "health") else None
        if topic is None:
            return
        given = {"topic": topic}
        plan = await self.attempt(
            source.ask("memory_consolidate", **given, dry_run=True)
        )
        if plan is None:
            return
        await self._change(
            f"Join the {len(plan.replaced)} memories of {words.plain(topic)} into one?"
            " They are archived; it can be undone.",
            lambda: source.ask("memory_consolidate", **given),
            lambda done: f"{len(done.replaced)} memories joined. u undoes it.",
        )

    @work
    async def action_prune(self) -> None:
        plan = await self.attempt(source.ask("memory_prune", dry_run=True))
        if plan is None:
            return
        if not plan.memories:
            self.notify(f"Nothing weighs less than {plan.threshold:g}.")
            return
        await self._change(
            f"Hide {len(plan.memories)} memories that weigh less than "
            f"{plan.threshold:g}? It can be undone.",
            lambda: source.ask("memory_prune"),
            lambda done: f"{len(done.memories)} memories hidden. u brings them back.",
        )

    @work
    async def action_decay(self) -> None:
        await self._change(
            "Let all weights fade by a day now? It cannot be undone.",
            lambda: source.ask("memory_decay"),
            lambda done: f"{done.memories} weights have faded.",
        )

    @work
    async def action_undo(self) -> None:
        if not self._undo:
            self.notify("Nothing was done here that could be undone.")
            return
        done = await self.attempt(source.ask("memory_undo", id=self._undo[-1]))
        if done is not None:
            self._undo.pop()
            self.notify(f"Undone: {done.operation}.")
            self.load()

    async def _change(
        self,
        question: str,
        act: Callable[[], Awaitable[Any]],
        tell: Callable[[Any], str],
    ) -> None:
        """Ask, do, tell, and remember how to undo it."""
        if not await self.push_screen_wait(Question(question)):
            return
        done = await self.attempt(act())
        if done is None:
            return
        change = getattr(done, "change", None)
        if change:
            self._undo.append(change)
        self.notify(tell(done))
        self.load()

    async def attempt(self, work: Awaitable[Any]) -> Any:
        """What some work returns, or None after its failure was told."""
        try:
            return await work
        except Failed as error:
            self.notify(words.plain(error), severity="error", markup=False)
            return None


def _cell(value: str | Text) -> Text:
    # A text alone would be read as markup.
    return value if isinstance(value, Text) else Text(value)
