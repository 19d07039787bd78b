"""A text cut into the sentences that might be facts; no code, quotes or tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories import fence

MOST = 500
LEAST, LEAST_UNSPACED = 30, 10
# Widths of a line that was cut at a margin, whatever the next one begins with.
MARGIN = range(58, 101)

PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
# What hosts put into messages by themselves; the name's case and attributes vary.
_HOST_TAGS = "|".join(
    """
    system-reminder environment_context hook_context user_instructions instructions
    permissions command-message command-name command-args local-command-stdout
    local-command-stderr local-command local-command-caveat bash-input bash-stdout
    bash-stderr thinking task-notification ide_opened_file ide_selection tool_use_error
    session_context turn_aborted attached_files open_and_recently_viewed additional_data
    user_info rules skill collaboration_mode
    """.split()
)
_INJECTED = re.compile(
    rf"<({_HOST_TAGS})(?:\s[^<>]*)?>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG_LINE = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>\n]*)?/?>")
_CODE_FENCE = re.compile(
    r"^[ \t]*(?:[>*+-][ \t]+)?(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
# A fence that opens inside a line, as texts without line breaks have it.
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

# Markdown that is no prose, prompts of shells, diffs, logs, listings, statements.
_SKIPPED_LINE = re.compile(
    r"""\s*(?:
      >(?:\s|$) | \#{1,6}(?:\s|$) | \| | [-*+]\s\[[ xX]\] | (?:[-=_*]\s?){3,}$
    | <!-- | //|/\*|\*/ | \#! | \#\s?include | \$\s | %\s | >>> | \.\.\.\s
    | @@ | diff\s--git | index\s[0-9a-f]{7} | [-+]{3}\s[ab]/
    | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \d+[:|→\t] | [-d][r-][w-][x-] | File\s"
    | [➜❯λ↑↓⏺⎿✗✘●├└│╭╰]
    | ["']?(?:/|~/|\./)\S+["']?\s*$ | ["']?(?:/[\w.-]+){3} | \(?[A-Z]:\\
    | \[[\w\s]+:\s | [\]})]+[;,)]*\s*$ | ["'][\w$-]+["']\s*:
    | (?:const|let|var|def|class|import|from|return|elif|func|fn|pub)\s+[\w{*.]+\s*
      (?:[=({:;,]|import\b|$)
    | (?:if|for|while|switch|catch)\s*\(
    )""",
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*(?:[-*+•·]\s+|\(?\d{1,2}[.)]\s+)")
_MARKUP = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_LINK = re.compile(r"\[([^\]\n]+)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_SPAN = re.compile(r"`[^`\n]*`")
_CODE_MARK = re.compile(
    r"[{};]\s*$|=>|->|::|&&|\|\||[!=]==?|\+=|</|/>|\w\(\)|\w\[\w*\]|\\n|0x[0-9a-f]{2}"
    r"|\w\([\w\"',. ]*\)\.\w|^\s*\w+\s=\s|\$\{|\$\(|^\s*[.@]\w+\("
)

# A stop ends a sentence before white space; the wide ones do so anywhere.
_BOUNDARY = re.compile(
    r"(?<=[.?!])[\"'”’»)\]*]*(?=\s)|(?<=[。！？｡．।॥؟])[」』”）)]*\s*"
)
_NO_END = re.compile(
    r"(?:^|[\s(\"'])(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|Rev|Hon|Lt|Sgt|Cpl|Pvt|Gen|Col|Maj"
    r"|Capt|Cmdr|vs|approx|e\.g|i\.e|cf|z\.B|d\.h|bzw|ca|Nr|No|p\.ej|т\.е|т\.д|[A-Z])\.$"
)
_DANGLING = re.compile(r"(?:://|[/\\=])$")
_SUBORDINATE = re.compile(
    r"(?:because|rather than|instead of|although|though|since|while|whereas|whether"
    r"|due to|such that|so that|as if|as though|in order to)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Sentence:
    """One sentence; `lead` if it is the first of its text.

    `follows` if it stands right behind the sentence that was given before it.
    """

    text: str
    lead: bool = False
    follows: bool = False


def prose(text: str) -> str:
    """The text without private parts, injected blocks and fenced code.

    A part whose end is missing reaches to the end of the text.
    """
    text = PRIVATE.sub("\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = fence.without_injected(text)
    if "<" in text:
        text = _INJECTED.sub("\n", text)
    if "```" in text or "~~~" in text:
        text = _INLINE_FENCE.sub("\n", _CODE_FENCE.sub("\n", text))
    return text


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text that may be facts, in order."""
    first = True
    for paragraph in _paragraphs(prose(text)):
        follows = False
        for sentence in split(paragraph):
            complete = is_complete(sentence)
            if complete:
                yield Sentence(sentence, lead=first, follows=follows)
            first, follows = False, complete


def _paragraphs(text: str) -> Iterator[str]:
    """Lines of prose without bullets and markup, hard-wrapped ones joined."""
    held, width = "", 0
    for line in text.split("\n"):
        if not line.strip() or _SKIPPED_LINE.match(line) or looks_like_code(line):
            if held:
                yield held
            held = ""
            continue
        bullet = _BULLET.match(line)
        plain = plain_text(line[bullet.end() :] if bullet else line)
        if held and not bullet and _continues(held, plain, width):
            held = f"{held} {plain}"
        else:
            if held:
                yield held
            held = plain
        width = len(line)
    if held:
        yield held


def plain_text(line: str) -> str:
    """A line without emphasis, links and HTML tags around its words."""
    line = _LINK.sub(r"\1", line)
    return _MARKUP.sub("", _TAG_LINE.sub("", line)).strip()


def _continues(held: str, line: str, width: int) -> bool:
    """Whether a line goes on with the sentence of a line that was cut at a margin."""
    if held[-1] in ".?!:;。！？।":
        return False
    return width >= 45 and (line[:1].islower() or held[-1] in ",(" or width in MARGIN)


def looks_like_code(line: str) -> bool:
    """Whether a line is of a program, a listing or data, and not of a language."""
    bare = _SPAN.sub("code", line).strip()
    if _CODE_MARK.search(bare):
        return True
    letters = len(_LETTER.findall(bare))
    spaces = bare.count(" ")
    return bool(bare) and (letters + spaces) / len(bare) < 0.6


def split(paragraph: str) -> Iterator[str]:
    """Sentences of one paragraph; URLs, versions and titles stay whole."""
    start = 0
    for match in _BOUNDARY.finditer(paragraph):
        piece = paragraph[start : match.end()]
        if match.end() < len(paragraph) and _NO_END.search(piece):
            continue
        if piece.strip():
            yield piece.strip()
        start = match.end()
    if paragraph[start:].strip():
        yield paragraph[start:].strip()


def is_unspaced(text: str) -> bool:
    """Whether a text is mostly of a script that needs few characters."""
    letters = len(_LETTER.findall(text))
    return letters > 0 and 3 * len(_UNSPACED.findall(text)) >= letters


def is_complete(sentence: str) -> bool:
    """Whether a piece is long enough, complete and not subordinate to another."""
    least = LEAST_UNSPACED if is_unspaced(sentence) else LEAST
    if not least <= len(sentence) <= MOST:
        return False
    first = sentence.lstrip("([{\"'“*")[:1]
    # What ends in a colon announces what is not in it.
    if not first or first.islower() or first in "|>" or sentence[-1] in ":：":
        return False
    return not (_SUBORDINATE.match(sentence) or _DANGLING.search(sentence.split()[-1]))
