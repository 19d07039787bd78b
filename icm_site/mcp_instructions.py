"""What an agent is told about its memory when it connects."""

from __future__ import annotations

TEXT = """\
ICM is your memory across sessions, shared with the other AI tools on this machine.

RECALL with icm_memory_recall when a task starts, and before you decide something \
that may have been decided before. Ask in plain words.

STORE with icm_memory_store, before you answer, when one of these has happened:
1. an error was solved: topic errors-resolved, importance high
2. a design decision was made: topic decisions-{project}, high
3. the user stated a preference: topic preferences, critical
4. a piece of work was finished: topic context-{project}, high
5. about 20 tool calls went by without a store: progress so far, topic \
context-{project}

One fact per memory, in a sentence or two that a stranger can understand, with names, \
numbers and the reason. When a fact has changed, store the new one and name the old \
one's id in `supersedes`.

DO NOT STORE passing chatter, guesses, secrets, code, or what a file in the repository \
says already.

MEMOIRS keep lasting knowledge as a graph, refined and never faded: the parts of a \
system, what depends on what. Ask icm_memoir_search_all before you explain a system; \
add with icm_memoir_add_concept (memoir "{project}", name "auth-service", definition \
"Issues and checks tokens") and icm_memoir_link (from "api-gateway", to \
"auth-service", relation "depends_on").

FEEDBACK keeps mistakes. When you were corrected, record it: icm_feedback_record \
(context "estimating a migration", predicted "one hour", corrected "two days, the \
table is 80 GB"). Search it with icm_feedback_search before you predict again.

IMPORTANCE: critical never fades; high fades slowly; medium is the default; low is \
soon forgotten.\
"""


def instructions(project: str, addition: str | None) -> str:
    """The text for a project (blank for none), with the user's own addition."""
    text = TEXT.format(project=project or "<project>")
    return f"{text}\n\n{addition.strip()}" if addition and addition.strip() else text
