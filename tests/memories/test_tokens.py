"""Tokens: made, shown once, kept as a hash, used, revoked."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

import pytest
from django.utils import timezone

from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import tokens
from memories.models import Token
from memories.redact import redact
from tests.conftest import Icm, Run

pytestmark = pytest.mark.django_db


def test_a_token_is_known_by_its_secret_and_no_part_of_that_is_kept() -> None:
    token, secret = tokens.create("scripts")
    assert secret.startswith("icm_") and len(secret) > 40
    found = tokens.verify(secret)
    assert found is not None and found.pk == token.pk
    kept = " ".join(map(str, Token.objects.values_list().get()))
    assert secret not in kept and secret.removeprefix("icm_") not in kept


@pytest.mark.parametrize("secret", ["", "icm_", "icm_nonsense", "\ud800", "x" * 10_000])
def test_any_other_secret_is_unknown(secret: str) -> None:
    tokens.create("scripts")
    assert tokens.verify(secret) is None


def test_a_secret_that_gets_into_a_text_is_masked() -> None:
    _, secret = tokens.create("scripts")
    masked = redact(f"It is {secret}, for icm_memory_store.")
    assert masked.text == "It is [redacted:icm-token], for icm_memory_store."


def test_two_tokens_have_two_secrets() -> None:
    secrets = {tokens.create(name)[1] for name in ("one", "two")}
    assert len(secrets) == 2


def test_a_revoked_token_is_unknown_at_once() -> None:
    _, secret = tokens.create("scripts")
    tokens.revoke("scripts")
    assert tokens.verify(secret) is None
    with pytest.raises(NotFound):
        tokens.revoke("scripts")


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "nul\0", "x" * 65])
def test_a_name_is_one_short_line(name: str) -> None:
    with pytest.raises(InvalidInput):
        tokens.create(name)


def test_a_name_is_used_once() -> None:
    tokens.create("scripts")
    with pytest.raises(Conflict):
        tokens.create(" scripts ")


def test_the_last_use_is_noted_at_most_once_a_minute() -> None:
    _, secret = tokens.create("scripts")
    first = timezone.now()
    uses = [first, first + timedelta(seconds=59), first + timedelta(seconds=61)]
    seen = []
    for now in uses:
        tokens.verify(secret, now=now)
        seen.append(Token.objects.get().last_used)
    assert seen == [uses[0], uses[0], uses[2]]


@pytest.mark.django_db(transaction=True)
def test_a_busy_database_does_not_hold_a_request_up() -> None:
    from django.db import connection

    _, secret = tokens.create("scripts")
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert tokens.verify(secret) is not None
    finally:
        other.close()
    assert Token.objects.get().last_used is None


def test_the_commands_make_list_and_revoke(run: Run) -> None:
    made = run("token", "create", "scripts", "--read-only")
    assert made.code == 0 and made.out.startswith("icm_")
    assert "shown once" in made.err and made.out.strip() not in made.err
    listed = run("token", "list")
    assert "scripts" in listed.out and "read" in listed.out
    assert made.out.strip() not in listed.out
    assert run("token", "revoke", "scripts").out == "Revoked: scripts\n"
    assert run("token", "list").out == "No tokens yet.\n"
    missing = run("token", "revoke", "scripts")
    assert (missing.code, missing.err) == (1, "Error: token not found: scripts\n")


@pytest.mark.slow
def test_read_only_before_the_command_is_about_the_database(icm: Icm) -> None:
    icm("token", "create", "first")
    assert "for reading" in icm("--read-only", "token", "create", "second").stderr
    assert icm("token", "create", "third", "--read-only").returncode == 0
