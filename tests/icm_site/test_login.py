"""Who gets in: the link that works once, and the limit of guesses."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from icm_site import login, owner, web_command
from icm_site.one_time import SECONDS, TICKET, Ticket
from icm_site.throttle import Limiter

pytestmark = pytest.mark.django_db


def local() -> Client:
    """A browser that calls the server by a name of this machine."""
    return Client(SERVER_NAME="localhost")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(login, "LIMITER", Limiter())
    yield
    TICKET.issue()


def test_a_ticket_is_good_once_and_for_a_short_time() -> None:
    ticket = Ticket()
    secret = ticket.issue(now=0.0)
    assert not ticket.spend("wrong", now=1.0)
    assert ticket.spend(secret, now=1.0) and not ticket.spend(secret, now=1.0)
    late = ticket.issue(now=0.0)
    assert not ticket.spend(late, now=SECONDS + 1)
    old = ticket.issue(now=0.0)
    ticket.issue(now=0.0)
    assert not ticket.spend(old, now=1.0)
    assert not Ticket().spend("", now=0.0)


def test_the_link_logs_the_owner_in_once() -> None:
    owner.ensure()
    place = f"/open/{TICKET.issue()}/"
    client = local()
    answer = client.get(place)
    assert answer.headers["Location"] == "/"
    assert client.get("/").status_code == 200
    assert local().get(place).status_code == 403


@pytest.mark.parametrize(
    "where", [{"REMOTE_ADDR": "192.168.1.9"}, {"SERVER_NAME": "memory.lan"}]
)
def test_the_link_is_for_this_machine_alone(
    where: dict[str, Any], settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    owner.ensure()
    place = f"/open/{TICKET.issue()}/"
    assert local().get(place, **where).status_code == 403
    assert local().post(place).status_code == 405
    assert local().get(place).status_code == 302


def test_without_an_account_the_link_leads_nowhere() -> None:
    assert local().get(f"/open/{TICKET.issue()}/").status_code == 403


def test_a_link_that_no_browser_opens_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda link: False)
    web_command._open("http://127.0.0.1:1/open/x/")
    assert "it works once: http://127.0.0.1:1/open/x/" in capsys.readouterr().err


def test_guesses_are_limited_and_the_right_password_is_not_heard_either() -> None:
    get_user_model().objects.create_superuser("ada", password="right")

    def attempt(password: str) -> str:
        fields = {"username": "ada", "password": password}
        answer = Client().post("/admin/login/", fields)
        return "in" if answer.status_code == 302 else answer.content.decode()

    assert attempt("right") == "in"
    for _ in range(login.TRIES_PER_MINUTE - 1):
        assert "Too many tries" not in attempt("wrong")
    assert "Too many tries" in attempt("right")


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "\\\\x"])
def test_a_login_leads_to_no_other_site_and_its_cookie_is_guarded(wanted: str) -> None:
    get_user_model().objects.create_superuser("ada", password="right")
    fields = {"username": "ada", "password": "right", "next": wanted}
    answer = Client().post(f"/admin/login/?next={wanted}", fields)
    assert answer.status_code == 302 and answer.headers["Location"] == "/"
    cookie = answer.cookies["icm_session"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and not cookie["domain"]
