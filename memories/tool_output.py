"""Output of tools read as what it is: compiler errors, failed tests, commits, settings.

Each reader is a row of a table; it claims lines and makes one fact of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# The most facts that one reader makes of one output: errors pass, commits stay.
MOST = {"error": 3}
MOST_OTHERS = 8
# How far below a failed test its panic is looked for.
PANIC_LINES = 200
LONGEST = 400
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")

# text, kind, score, name of the reader
Read = tuple[str, str, float, str]
# A match, all lines and the number of its line become a text; None says nothing.
Make = Callable[[re.Match[str], Sequence[str], int], str | None]


@dataclass(frozen=True)
class Reader:
    """One form of line: what it is called and the fact that it becomes."""

    name: str
    kind: str
    score: float
    pattern: re.Pattern[str]
    make: Make


def _diagnostic(name: str) -> Make:
    def make(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
        del lines, at
        part = match.groupdict()
        code = f" {part['code']}" if part.get("code") else ""
        where = f"{part['file']}:{part['line'] or part.get('other')}"
        return f"{name} error{code} in {where}: {part['text']}"

    return make


def _rustc(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
    place = next(
        (
            found[1]
            for line in lines[at + 1 : at + 4]
            if (found := re.match(r"\s*-->\s+(\S+?:\d+)", line))
        ),
        "",
    )
    if not place and not match["code"]:
        return None
    code = f" {match['code']}" if match["code"] else ""
    where = f" in {place}" if place else ""
    return f"rustc error{code}{where}: {match['text']}"


def _traceback(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
    del match
    place = ""
    for below, line in enumerate(lines[at + 1 :], at + 2):
        frame = re.match(r'\s+File "([^"]+)", line (\d+)(?:, in (\S+))?', line)
        if frame:
            place = f"{frame[1]}:{frame[2]}" + (f" ({frame[3]})" if frame[3] else "")
        elif line[:1] not in (" ", "\t", "") and line.strip():
            # Of a chain the last one is what the program ended with.
            if any(map(_CHAINED.match, lines[below : below + 4])):
                return None
            if _REFERS.search(line):
                return None
            return f"Python error in {place or 'a script'}: {line.strip()}"
    return None


# A message that says nothing but where to read on.
_REFERS = re.compile(r"for (?:help|details|more information),? (?:visit|see)\b", re.I)
_CHAINED = re.compile("During handling of the above|The above exception was the dir")


def _failed_test(
    name: str,
) -> Callable[[re.Match[str], Sequence[str], int], str | None]:
    def make(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
        part = match.groupdict()
        reason = part.get("text") or _reason(lines[at + 1 : at + 8])
        return f"{name} failed: {part['test'].strip()}" + (
            f": {reason}" if reason else ""
        )

    return make


def _reason(lines: Sequence[str]) -> str:
    """The first line below a failed test that says something."""
    for line in lines:
        text = line.strip()
        if text and not re.match(r"[-=~.]{3,}|ok\b|PASS|FAIL|test ", text):
            return text
    return ""


def _cargo(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
    name = match["test"]
    near = lines[at + 1 : at + PANIC_LINES]
    for number, line in enumerate(near):
        if f"'{name}' panicked at" in line:
            same = re.search(r"panicked at '([^']+)'", line)
            below = near[number + 1].strip() if number + 1 < len(near) else ""
            return f"cargo test failed: {name}: {same[1] if same else below}"
    return f"cargo test failed: {name}"


def _commit(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
    del lines, at
    return _subject(match["sha"], match["text"])


def _logged(match: re.Match[str], lines: Sequence[str], at: int) -> str | None:
    for line in lines[at + 1 : at + 9]:
        if line.startswith("    ") and line.strip():
            return _subject(match["sha"], line.strip())
        if line.strip() and not re.match(r"[A-Z][A-Za-z]+:|Merge:", line):
            return None
    return None


_ROUTINE = re.compile(
    r"(?:merge|chore|bump|release|wip|typo|style|docs?|ci|test|lint|format|update|fixup!"
    r"|squash!|revert \"?revert|build)\b|v?\d+\.\d+|initial commit|\.+$",
    re.IGNORECASE,
)


def _subject(sha: str, text: str) -> str | None:
    """A commit as a fact; None for the routine ones, which say nothing."""
    if _ROUTINE.match(text) or len(text) < 20:
        return None
    words = _WORD.findall(re.sub(r"^\w+(?:\([^)]*\))?!?:", "", text).lower())
    if len(set(words) - _VAGUE) < LEAST_WORDS:
        return None
    return f"Commit {sha[:9]}: {text}"


_WORD = re.compile(r"[^\W\d_][\w-]+")
_VAGUE = frozenset(
    (
        *("a", "add", "after", "and", "bug", "bugs", "fix", "fixes", "fixed", "for"),
        *(
            "from",
            "improve",
            "in",
            "issue",
            "issues",
            "minor",
            "of",
            "on",
            "pr",
            "pull",
        ),
        *("request", "review", "small", "some", "the", "to", "update", "various"),
        *("with", "changes", "errors", "code", "comments", "things", "stuff"),
    )
)
# Words that say something in the subject of a commit.
LEAST_WORDS = 2

# What tsc says of options, modules and the environment; its other complaints are about
# the text that is being edited, and gone with the next edit.
_LASTING_TSC = re.compile(
    r"tsc error TS(?:[56]\d{3}|1208|1259|1323|1343|1371|1378|1479|1484|18003|2307|2580"
    r"|2591|2688|2691|2792|2802|283[45]|7016)\b"
)


def is_passing(text: str) -> bool:
    """Whether a fact is a complaint of a type checker about a text being edited."""
    return text.startswith("tsc error ") and not _LASTING_TSC.match(text)


READERS = (
    Reader(
        "tsc",
        "error",
        3.0,
        re.compile(
            r"(?P<file>[^\s(:]+)(?:\((?P<line>\d+),\d+\)|:(?P<other>\d+):\d+)"
            r"\s*[:-]\s+error (?P<code>TS\d+): (?P<text>.+)"
        ),
        _diagnostic("tsc"),
    ),
    Reader(
        "rustc",
        "error",
        3.0,
        re.compile(r"error(?:\[(?P<code>E\d{4})\])?: (?P<text>.+)"),
        _rustc,
    ),
    Reader(
        "compiler",
        "error",
        3.0,
        re.compile(
            r"(?P<file>[\w./\\-]+\.(?:c|cc|cpp|cxx|h|hpp|m|java|kt|swift|scala|cs)):"
            r"(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.+)"
        ),
        _diagnostic("compiler"),
    ),
    Reader(
        "go",
        "error",
        3.0,
        re.compile(
            r"(?:\./)?(?P<file>[\w./-]+\.go):(?P<line>\d+):\d+: "
            r"(?P<text>(?!warning).*(?:undefined|cannot|declared|not used|imported"
            r"|missing|mismatch|too many|not enough|expected|redeclared|invalid).*)"
        ),
        _diagnostic("go"),
    ),
    Reader(
        "traceback",
        "error",
        3.0,
        re.compile(r"Traceback \(most recent call last\):"),
        _traceback,
    ),
    Reader(
        "pytest",
        "error",
        3.0,
        re.compile(r"(?:FAILED|ERROR) (?P<test>\S+\.py(?:::\S+)?)(?: - (?P<text>.+))?"),
        _failed_test("pytest"),
    ),
    Reader(
        "cargo test",
        "error",
        3.0,
        re.compile(r"test (?P<test>[\w:]+) \.\.\. FAILED"),
        _cargo,
    ),
    Reader(
        "jest",
        "error",
        3.0,
        re.compile(r"\s*● (?P<test>.+ › .+)"),
        _failed_test("jest"),
    ),
    Reader(
        "go test",
        "error",
        3.0,
        re.compile(r"\s*--- FAIL: (?P<test>\S+) \([\d.]+s\)"),
        _failed_test("go test"),
    ),
    Reader(
        "git commit",
        "milestone",
        6.0,
        re.compile(
            r"\[\S+(?: \(root-commit\))? (?P<sha>[0-9a-f]{7,40})\] (?P<text>.+)"
        ),
        _commit,
    ),
    Reader(
        "git log",
        "milestone",
        6.0,
        re.compile(r"commit (?P<sha>[0-9a-f]{7,40})\b.*"),
        _logged,
    ),
    Reader(
        "git log",
        "milestone",
        6.0,
        re.compile(
            r"(?:\* )?(?P<sha>[0-9a-f]{7,12}) (?:\([^)]*\) )?"
            r"(?P<text>(?:feat|fix|perf|refactor|revert)(?:\([^)]*\))?!?: .+)"
        ),
        _commit,
    ),
)
_FIX = re.compile(
    r"Commit \w+: (?:fix|hotfix|bugfix)\b|Commit \w+: .*\bfix(?:es|ed)?\b", re.I
)

_DIFF = re.compile(r"(?:\+\+\+ b/|diff --git a/\S+ b/)(?P<file>\S+)")
_CONFIG_FILE = re.compile(
    r"(?:\.(?:toml|ya?ml|ini|cfg|conf|properties|env|tf|json)|Dockerfile|\.env[.\w]*)$"
)
_SETTING = re.compile(
    r"[-+]\s*(?:export\s+)?[\"']?(?P<key>[A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*(?P<value>\S.*?),?\s*$"
)


def read(text: str) -> tuple[list[Read], str]:
    """The facts that readers make of a text, and the text without their lines."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    lines = text.split("\n")
    found: list[Read] = []
    claimed: set[int] = set()
    for at, line in enumerate(lines):
        for reader in READERS:
            match = reader.pattern.match(line)
            made = match and reader.make(match, lines, at)
            if match is None:
                continue
            claimed.add(at)
            if made:
                kind = "fix" if _FIX.match(made) else reader.kind
                found.append((made[:LONGEST], kind, reader.score, reader.name))
            break
    found += settings_changed(lines)
    rest = "\n".join("" if at in claimed else line for at, line in enumerate(lines))
    return grouped(found), rest


def settings_changed(lines: Sequence[str]) -> list[Read]:
    """The settings that a diff changes in files of configuration."""
    file = ""
    old: dict[str, str] = {}
    found: list[Read] = []
    for line in lines:
        if header := _DIFF.match(line):
            file, old = header["file"], {}
            continue
        setting = _SETTING.match(line)
        if not file or not _CONFIG_FILE.search(file) or setting is None:
            continue
        key, value = setting["key"], setting["value"].strip("\"'")
        if line[0] == "-":
            old[key] = value
        elif key in old and old[key] != value:
            text = f"{file}: {key} changed from {old.pop(key)} to {value}"
            found.append((text[:LONGEST], "configuration", 3.0, "settings"))
    return found


def grouped(found: Sequence[Read]) -> list[Read]:
    """One fact for messages that differ in their place alone, a few of each reader."""
    groups: dict[tuple[str, str], list[Read]] = {}
    for row in found:
        text = row[0]
        head, _, message = text.partition(": ")
        key = (row[3], re.sub(r"\d+", "0", message) or head)
        groups.setdefault(key, []).append(row)
    kept: list[Read] = []
    count: dict[str, int] = {}
    for (name, _), rows in groups.items():
        count[name] = count.get(name, 0) + 1
        if count[name] > MOST.get(rows[0][1], MOST_OTHERS):
            continue
        text, kind, score, _ = rows[0]
        more = f" (and at {len(rows) - 1} more places)" if len(rows) > 1 else ""
        kept.append((text + more, kind, score, name))
    return kept
