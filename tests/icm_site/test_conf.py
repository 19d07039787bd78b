from pathlib import Path
from typing import Any

import pytest

from icm_site import conf, paths
from icm_site.conf_keys import KEYS
from icm_site.errors import InvalidInput


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "my config.toml"
    return {"HOME": str(tmp_path / "home"), "ICM_CONFIG": str(file)}


def write(env: dict[str, str], text: str) -> Path:
    file = Path(env["ICM_CONFIG"])
    file.write_text(text, encoding="utf-8")
    return file


def value(config: conf.Config, name: str) -> tuple[Any, str]:
    return next((v.value, v.origin) for v in config.values() if v.key.name == name)


def test_without_a_file_each_key_has_its_default(env: dict[str, str]) -> None:
    config = conf.load(env)
    assert not config.loaded and config.unknown == ()
    for entry in config.values():
        assert (entry.value, entry.origin) == (entry.key.default, "default")
    assert [v.key.name for v in config.values()] == list(KEYS)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('[embeddings]\nmodel = "other"', "embeddings.model", "other"),
        ("[embeddings]\nenabled = false", "embeddings.enabled", False),
        ('[memory]\ndefault_importance = "HIGH"', "memory.default_importance", "high"),
        ("[memory]\ndecay_rate = 0", "memory.decay_rate", 0.0),
        ("[mcp]\ncompact = true", "mcp.compact", True),
        ('[redaction]\nallow = ["^x+$"]', "redaction.allow", ("^x+$",)),
        ('[projects.aliases]\nold = "new"', "projects.aliases", {"old": "new"}),
        ("\ufeff[mcp]\r\ncompact = true\r\n", "mcp.compact", True),
    ],
)
def test_a_key_is_read_from_the_file(
    env: dict[str, str], text: str, name: str, expected: Any
) -> None:
    write(env, text)
    config = conf.load(env)
    assert config.loaded
    assert value(config, name) == (expected, "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[memory]\ndecay_rate =", "line 2"),
        ('[memory]\ndecay_rate = "fast"', "memory.decay_rate must be a number"),
        ("[memory]\ndecay_rate = 1.0", "memory.decay_rate must be a number"),
        ("[memory]\ndecay_rate = nan", "memory.decay_rate must be a number"),
        ("[memory]\ndecay_rate = true", "memory.decay_rate must be a number"),
        ('[memory]\ndefault_importance = "top"', "must be one of critical, high"),
        ("[mcp]\ncompact = 1", "mcp.compact must be true or false"),
        ("[embeddings]\nmodel = 3", "embeddings.model must be a text"),
        ('[redaction]\nextra = ["("]', "redaction.extra must be a list of regular"),
        ('[redaction]\nextra = "x"', "redaction.extra must be a list of regular"),
        ("[projects]\naliases = 3", "projects.aliases must be a table of names"),
        ("[recall]\nlimit = 2.5", "limit must be a whole number from 1 to 50, not 2.5"),
        ("[recall]\nlimit = 0", "limit must be a whole number from 1 to 50, not 0"),
        (f"[recall]\nlimit = 0x{'f' * 9999}", "limit must be a whole number from 1 to"),
        (f"[recall]\nlimit = {'9' * 9999}", "Exceeds the limit"),
        (f"a = {'[' * 50_000}", "is nested too deep"),
        ("#" * (1 << 20) + "\n", "is over 1 MiB"),
        ("[projects.aliases]\na = 3", "projects.aliases must be a table of names"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_the_place(
    env: dict[str, str], text: str, message: str
) -> None:
    file = write(env, text)
    with pytest.raises(InvalidInput) as caught:
        conf.load(env)
    assert str(file) in caught.value.message
    assert message in caught.value.message
    assert conf.load(env, files=False).memory.decay_rate == 0.95


@pytest.mark.parametrize("name", [n for n, k in KEYS.items() if k.low is not None])
@pytest.mark.parametrize("text", ["-1", "-0.5", "nan", "inf", "-inf", "1e300", "true"])
def test_a_number_of_the_configuration_is_within_its_bounds(
    env: dict[str, str], name: str, text: str
) -> None:
    section, _, key = name.partition(".")
    write(env, f"[{section}]\n{key} = {text}\n")
    with pytest.raises(InvalidInput, match=f"{name} must be a .*number from"):
        conf.load(env)


@pytest.mark.parametrize("name", [n for n, k in KEYS.items() if k.kind is int])
def test_what_is_counted_is_whole(env: dict[str, str], name: str) -> None:
    section, _, key = name.partition(".")
    write(env, f"[{section}]\n{key} = 3.0\n")
    found = value(conf.load(env), name)
    assert found == (3, "file") and isinstance(found[0], int)
    write(env, f"[{section}]\n{key} = 3.5\n")
    with pytest.raises(InvalidInput, match="must be a whole number"):
        conf.load(env)


def test_bytes_that_are_no_text_name_their_line(env: dict[str, str]) -> None:
    Path(env["ICM_CONFIG"]).write_bytes(b"# ok\n# \xff\n")
    with pytest.raises(InvalidInput, match="line 2 is not UTF-8"):
        conf.load(env)


def test_a_folder_in_the_place_of_the_file_is_one_sentence(env: dict[str, str]) -> None:
    Path(env["ICM_CONFIG"]).mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        conf.load(env)


def test_unknown_keys_are_listed_with_what_was_meant(env: dict[str, str]) -> None:
    file = write(env, "colour = 1\n[memory]\ndecay_rat = 1\n[project]\nname = 'x'\n")
    assert conf.load(env).unknown == (
        conf.Unknown(file, "colour", None),
        conf.Unknown(file, "memory.decay_rat", "memory.decay_rate"),
        conf.Unknown(file, "project.name", None),
    )


@pytest.mark.parametrize(
    ("variable", "text", "name", "expected"),
    [
        ("ICM_NO_EMBEDDINGS", "1", "embeddings.enabled", (False, "environment")),
        ("ICM_NO_EMBEDDINGS", "yes", "embeddings.enabled", (False, "environment")),
        ("ICM_NO_EMBEDDINGS", "0", "embeddings.enabled", (True, "default")),
        ("ICM_NO_EMBEDDINGS", "", "embeddings.enabled", (True, "default")),
        ("ICM_READONLY", "1", "store.read_only", (True, "environment")),
        ("ICM_READONLY", "0", "store.read_only", (False, "default")),
        ("ICM_LOG", "DEBUG", "log.level", ("debug", "environment")),
        ("ICM_LOG", "", "log.level", ("warn", "default")),
        ("ICM_DB", "/x.db", "store.path", ("/x.db", "environment")),
    ],
)
def test_a_variable_wins_over_the_file(
    env: dict[str, str], variable: str, text: str, name: str, expected: tuple[Any, str]
) -> None:
    assert value(conf.load(env | {variable: text}), name) == expected


def test_a_wrong_variable_is_named(env: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="Variable ICM_LOG: log.level must be one"):
        conf.load(env | {"ICM_LOG": "loud"})


def test_a_flag_wins_over_all(env: dict[str, str], tmp_path: Path) -> None:
    flags = {"store.path": str(tmp_path / "f.db"), "embeddings.enabled": False}
    config = conf.load(env | {"ICM_DB": "/v.db"}, flags=flags)
    assert config.database == (tmp_path / "f.db", "flag")
    assert value(config, "embeddings.enabled") == (False, "flag")


def test_a_trusted_repository_may_set_its_name_and_database_only(
    env: dict[str, str], tmp_path: Path
) -> None:
    root = tmp_path / "repo"
    for folder in (".git", ".icm"):
        (root / folder).mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    text = "[project]\nname='Rocket'\n[store]\npath='m.db'\n[embeddings]\nmodel='z'\n"
    (root / ".icm/config.toml").write_text(text)
    assert conf.load(env, root).project.name is None
    paths.trust(root, env=env)
    config = conf.load(env, root)
    assert value(config, "project.name") == ("Rocket", "repository")
    assert config.database == (root / "m.db", "repository config")
    assert config.repository_file == root / ".icm/config.toml"
    assert config.embeddings.model == "auto"
    assert [u.name for u in config.unknown] == ["embeddings.model"]


def test_the_configuration_of_the_process_is_read_once(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = conf.current()
    monkeypatch.setenv("ICM_CONFIG", env["ICM_CONFIG"])
    write(env, "[mcp]\ncompact = true")
    try:
        assert conf.current() is before
        conf.use(None)
        assert conf.current().mcp.compact
    finally:
        conf.use(before)
