"""The page of `icm --help`: every command in a line, in the order of need."""

from __future__ import annotations

from collections.abc import Mapping

ABOUT = "The memory that all AI agents on this machine share."

# Title -> command -> what it does; a line fits 80 columns.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "keep and find": {
        "store": "keep a fact under a topic",
        "remember": "keep a fact under the name of the project you are in",
        "recall": "find memories, by words and by meaning",
        "search": "find memories and concepts of memoirs together",
        "list": "the memories of a topic (-t) or all (-a), without a search",
        "show": "one memory in full, with its history",
        "related": "the memories linked with one",
        "topics": "the names under which memories are kept; rename one",
        "projects": "the projects and their other names; merge two",
        "stats": "figures of the whole memory",
    },
    "correct and tidy up": {
        "update": "correct a memory in place",
        "forget": "hide a memory, or all of a topic (-t)",
        "undo": "take back a change",
        "history": "the changes of one memory",
        "suggestions": "pairs that may update, double or contradict each other",
        "feedback": "what was predicted and what was right",
        "health": "topics that need to be tidied up",
        "consolidate": "replace the memories of a topic by one summary",
        "prune": "hide what has faded",
        "decay": "let weights fall by a day; it also happens by itself",
        "purge": "erase for good",
    },
    "set up": {
        "init": "set ICM up in the AI tools of this machine",
        "doctor": "what is wrong here, and the command that mends it",
        "uninstall": "take out of the AI tools what init put in",
        "config": "every setting with its value and where it comes from",
        "completion": "commands and options completed by bash, zsh or fish",
        "trust": "let the .icm folder of a repository count",
    },
    "look and serve": {
        "dashboard": "the memory in the terminal",
        "tui": "the same",
        "web": "pages in a browser, and the HTTP interfaces",
        "token": "tokens by which programs reach the HTTP interfaces",
        "serve": "the MCP server that an AI tool starts",
        "resident": "the warm process: status, stop, run",
    },
    "graphs of lasting knowledge": {
        "memoir": "memoirs: concepts and the links between them",
        "learn": "read a project's folder into a memoir",
        "extract-patterns": "groups of memories that share most keywords",
    },
    "for a session of an agent": {
        "wake-up": "what to know before work",
        "context": "all that is on record of the project",
        "recall-context": "a recall as a block to put before a prompt",
        "recall-project": "what is known of the project as such",
        "save-project": "keep a fact about the project",
        "extract": "find the facts in a text or transcript and keep them",
        "hook": "answer one event of an AI tool; disable: take all hooks out",
        "hook-log": "the runs of hooks",
        "hook-stats": "what hooks cost",
        "pause": "let hooks rest",
        "resume": "end the rest",
    },
    "look after the file": {
        "backup": "a consistent copy of the database",
        "restore": "put a copy in the place of the database",
        "repair": "make indexes anew; save what can be read of a damaged file",
        "export": "everything that is stored, as lines of JSON or to be read",
        "import": "what was exported, or what another program remembers",
        "embed": "give a vector to each memory that lacks one",
        "embeddings": "the model that finds by meaning: status, download",
        "schedule": "schedules for a django-q2 cluster, if you run one",
    },
    "measure": {
        "bench": "speed of the store: insert, search, decay",
        "bench-latency": "hooks, commands and MCP from start to answer",
        "bench-scale": "search and writes with up to a million memories",
        "bench-agent": "an agent's work with the memory and without",
        "bench-agents": "several programs at once on one database",
        "bench-recall": "questions about a document that was read once",
        "bench-format": "bytes and tokens of the forms of an answer",
        "bench-web": "pages and HTTP interfaces over many memories",
        "bench-quality": "retrieval quality on a file or folder of questions",
    },
}
LINES: Mapping[str, str] = {
    name: line for group in GROUPS.values() for name, line in group.items()
}
WIDTH = 17
_EXAMPLES = """\
examples:
  icm store -t decisions-shop -c "Orders live in Postgres."
  icm recall "which database do we use"
  icm init

"""
GLOBALS = """\
global options, before or after the command:
  --db PATH        the database file
  --no-embeddings  words only: no model is loaded
  --read-only      open an existing database without writing
  -V, --version    print the version

icm COMMAND --help tells more of each.
"""


def _group(title: str, lines: Mapping[str, str]) -> str:
    rows = [f"  {name:{WIDTH}}{line}\n" for name, line in lines.items()]
    return f"{title}:\n{''.join(rows)}\n"


EPILOG = _EXAMPLES + "".join(_group(*group) for group in GROUPS.items()) + GLOBALS
