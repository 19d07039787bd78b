"""Counts lines of texts in which a secret would be masked.

    python -m tests.false_alarms FOLDER

For a folder of texts without secrets that is the number of false alarms.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from memories.redact import redact


def counted(folder: Path) -> tuple[int, Counter[str]]:
    """Lines of all files below a folder, and what was found in how many of them."""
    lines, found = 0, Counter[str]()
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        for line in path.read_text("utf-8", "replace").splitlines():
            lines += 1
            found.update(redact(line).found)
    return lines, found


if __name__ == "__main__":
    lines, found = counted(Path(sys.argv[1]))
    share = 1000 * found.total() / max(lines, 1)
    print(f"{lines} lines, {found.total()} masked ({share:.2f} per 1,000 lines)")
    for name, count in found.most_common():
        print(f"{count:6} {name}")
