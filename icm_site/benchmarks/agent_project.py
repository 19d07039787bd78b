"""A small invented project of twelve files, and what sessions on it want to know."""

from __future__ import annotations

from pathlib import Path

from icm_site.benchmarks.questions import Question

TOPIC = "context-lantern"

# File -> what it says of itself, and its code.
FILES: dict[str, tuple[str, str]] = {
    "README.md": (
        "Lantern sends reminders to the keepers of 240 mountain huts; it runs on a "
        "single machine in Chur and has no web page.",
        "Start it with `python -m lantern`.\n",
    ),
    "lantern/__main__.py": (
        "The main loop wakes every 45 seconds and stops cleanly on SIGUSR2.",
        "import time\n\nfrom lantern import outbox\n\n\n"
        "def main():\n    while True:\n        outbox.send_due()\n"
        "        time.sleep(45)\n",
    ),
    "lantern/outbox.py": (
        "The outbox is a table in DuckDB; a reminder that failed is tried again after "
        "7 minutes, at most 5 times.",
        "RETRY_MINUTES = 7\nMOST = 5\n\n\n"
        "def send_due():\n    raise NotImplementedError\n",
    ),
    "lantern/radio.py": (
        "Huts without a telephone are reached by LoRa through the gateway Edelweiss.",
        "GATEWAY = 'edelweiss'\n\n\n"
        "def send(hut, text):\n    return (GATEWAY, hut, text)\n",
    ),
    "lantern/texts.py": (
        "Texts are cut at 160 characters and are written in Romansh first, then "
        "German.",
        "LENGTH = 160\nORDER = ('rm', 'de')\n\n\n"
        "def cut(text):\n    return text[:LENGTH]\n",
    ),
    "lantern/snow.py": (
        "Snow depth comes from the service Firn; above 180 centimetres a hut counts as "
        "closed.",
        "CLOSED_CM = 180\n\n\ndef closed(depth):\n    return depth > CLOSED_CM\n",
    ),
    "lantern/keepers.py": (
        "A keeper is known by the number of a brass badge, never by name, as the data "
        "protection officer asked in 2021.",
        "def keeper(badge):\n    return {'badge': int(badge)}\n",
    ),
    "lantern/clock.py": (
        "Times are kept in solar time of the hut, since supply flights go by daylight.",
        "def solar(longitude, utc):\n    return utc + longitude / 15\n",
    ),
    "lantern/audit.py": (
        "The audit log is a chain of BLAKE2 sums and is printed on paper every "
        "quarter.",
        "import hashlib\n\n\ndef link(before, line):\n"
        "    return hashlib.blake2b(before + line).digest()\n",
    ),
    "tests/test_texts.py": (
        "Tests use the sentences of hut Terri, because they hold every special letter.",
        "from lantern.texts import cut\n\n\ndef test_cut():\n"
        "    assert len(cut('a' * 200)) == 160\n",
    ),
    "deploy.sh": (
        "Releases are carried out by rsync on the first Thursday of a month.",
        "rsync -a lantern/ chur:/srv/lantern/\n",
    ),
    "settings.toml": (
        "The pager of the person on duty is Ursin's; the limit of cost is 35 "
        "francs a day.",
        "francs_a_day = 35\non_duty = 'ursin'\n",
    ),
}

SESSIONS = (
    Question(
        "How often is a failed reminder tried again?", ("7 minutes", "5 times"), 2
    ),
    Question(
        "By what way are huts without a phone line reached?", ("lora", "edelweiss"), 2
    ),
    Question("At what depth of snow is a hut closed?", ("180", "firn"), 1),
    Question("How is the person who keeps a hut identified?", ("brass", "badge"), 1),
    Question("In what order are languages used in a text?", ("romansh", "german"), 2),
    Question("Which clock are times kept in, and why?", ("solar", "daylight"), 1),
    Question("How is the audit log protected?", ("blake2", "chain", "paper"), 2),
    Question("When and how is a release made?", ("rsync", "thursday"), 2),
    Question(
        "How does the main loop stop, and when does it wake?", ("sigusr2", "45"), 1
    ),
    Question(
        "What may it cost in a day, and who is on duty?", ("35 francs", "ursin"), 2
    ),
)


def write(folder: Path) -> None:
    """Put the files there."""
    for name, (says, code) in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        mark = "" if name.endswith(".md") else "# "
        file.write_text(f"{mark}{says}\n{code}", "utf-8")


def read() -> str:
    """All files with their names, as somebody has read them who looked at each."""
    return "\n".join(f"{name}\n{says}\n{code}" for name, (says, code) in FILES.items())
