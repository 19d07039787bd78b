"""What thin clients work out by themselves is what the whole program works out."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from icm_site import cli, conf, paths, terminal
from icm_site.conf_keys import KEYS
from icm_site.resident import bridge, place, quick_json, wire
from icm_site.resident.place import Address


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    names = ("data", "config", "cache")
    places = {f"XDG_{n.upper()}_HOME": str(tmp_path / n) for n in names}
    return {"HOME": str(tmp_path / "home"), **places}


@pytest.mark.parametrize(
    "flags, own",
    [
        ({}, {}),
        ({"store.path": "here.sqlite3"}, {}),
        ({"store.path": "~/x.sqlite3"}, {"ICM_DB": "other.sqlite3"}),
        ({}, {"ICM_DB": "../up.sqlite3"}),
        ({}, {"ICM_DB": "~/home.sqlite3"}),
        ({}, {"XDG_DATA_HOME": "relative"}),
    ],
)
@pytest.mark.parametrize(
    "text", ["", "[log]\nlevel = 'warn'\n", "[store]\npath = 'mine.sqlite3'\n"]
)
def test_the_same_database_is_meant(
    env: dict[str, str],
    tmp_path: Path,
    flags: dict[str, str | bool],
    own: dict[str, str],
    text: str,
) -> None:
    if text:
        file = tmp_path / "config" / "icm-memory" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    env |= own
    whole = conf.load(env, tmp_path, flags=flags).database_path
    assert place.database(env, str(tmp_path), flags) == str(whole)


def test_a_trusted_repository_has_its_own(env: dict[str, str], tmp_path: Path) -> None:
    work = tmp_path / "shop" / "src"
    work.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    own = tmp_path / "shop" / ".icm" / "icm.sqlite3"
    own.parent.mkdir()
    own.touch()
    usual = place.database(env, str(work), {})
    assert not usual.startswith(str(tmp_path / "shop"))
    paths.trust(tmp_path / "shop", env=env)
    assert place.database(env, str(work), {}) == str(own)


def test_a_configuration_can_switch_it_off(env: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "config" / "icm-memory" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[resident]\nenabled = false\n")
    assert place.database(env, str(tmp_path), {}) == ""


def test_the_global_options_are_keys_of_the_configuration() -> None:
    for name, variable, switch in cli.GLOBALS.values():
        key = KEYS[name]
        assert key.env == variable
        assert (key.kind is bool) == (switch is not None)
        assert switch in (None, not key.inverted)


@pytest.mark.parametrize("columns", ["", "0", "-3", "77", "x", "²"])
def test_the_terminal_is_as_wide_as_python_says(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.columns({"COLUMNS": columns}) == shutil.get_terminal_size().columns


def test_an_address_is_read_as_it_was_written(tmp_path: Path) -> None:
    database = str(tmp_path / "a.sqlite3")
    assert place.read(database) is None
    file = Path(database + place.ADDRESS_SUFFIX)
    for text in ("", "ready\n", "\xff", "ready\nx\nunix\n/s\n\n0\n0\n"):
        file.write_text(text)
        assert place.read(database) is None
    made = Address(place.READY, pid=7, way="tcp", where="123", token="ab")
    file.write_text(made.text())
    known = place.read(database)
    assert known is not None
    assert (known.pid, known.way, known.where, known.token) == (7, "tcp", "123", "ab")


def test_a_failed_start_is_tried_again_later() -> None:
    now = time.time()
    assert place.may_start(None)
    assert not place.may_start(Address(place.STARTING, since=now))
    assert place.may_start(Address(place.STARTING, since=now - 60))
    assert not place.may_start(Address(place.FAILED, since=now - 8, tries=1))
    assert place.may_start(Address(place.FAILED, since=now - 12, tries=1))
    assert place.may_start(Address(place.FAILED, since=now - 601, tries=99))


def test_messages_come_back_as_they_were_sent() -> None:
    parts = [b"", b"x" * 70_000, "ü\udc80".encode("utf-8", "surrogatepass")]
    assert wire.unpack(wire.pack(parts)) == parts
    with pytest.raises(wire.Broken):
        wire.unpack(wire.pack(parts)[:-1])
    with pytest.raises(wire.Broken):
        wire.header(b"Q\xff\xff\xff\xff")


VALUES = [
    ('{"id": 1, "method": "ping"}', ("ping", 1)),
    ('{"id": "a", "result": {}}', ("", "a")),
    ('{"method": "notifications/initialized"}', ("notifications/initialized", None)),
    ('{"id": true, "method": 3}', ("", None)),
    ('{"id": 1.5}', ("", None)),
    ("[1]", ("", None)),
    ("{} {}", ("", None)),
    ("", ("", None)),
    ("[" * 100_000, ("", None)),
]


@pytest.mark.parametrize("line, found", VALUES, ids=lambda value: str(value)[:20])
def test_a_bridge_knows_method_and_id(line: str, found: object) -> None:
    assert bridge.named(line.encode()) == found


def test_texts_are_quoted_as_json_quotes_them() -> None:
    text = 'a "b" \\ \n ü 日 \x00'
    assert quick_json.loads(quick_json.quoted(text).encode()) == text
