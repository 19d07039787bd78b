"""Who is behind an HTTP request and what they may do: the one check of all of HTTP.

It imports no app: settings name the function that knows the tokens, as they name
Django's own backends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, cast

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.module_loading import import_string

from icm_site import conf
from icm_site.caller import Caller
from icm_site.errors import Forbidden, Unauthorized
from icm_site.loopback import is_loopback
from icm_site.throttle import Limiter

SCHEME = "bearer"
FAILURES_PER_MINUTE = 60
LIMITER = Limiter()


class Token(Protocol):
    """What a token tells of whoever holds it."""

    name: str
    read_only: bool


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who asks: by a token, by the login of the admin, or from this machine."""

    kind: Literal["token", "login", "local"]
    name: str
    may_write: bool

    # The frameworks ask this of what they take for a user.
    is_authenticated: ClassVar[bool] = True

    def __str__(self) -> str:
        return self.name

    @property
    def caller(self) -> Caller:
        """The caller of operations.

        Not from `origin.detect`: the variables and the folder of the server say
        nothing of whoever asks it.
        """
        return Caller(
            surface="http",
            origin="user",
            host=self.name if self.kind == "token" else "",
            details={self.kind: self.name},
        )


def identify(request: HttpRequest) -> Principal:
    """Tell who asks, and count the request.

    Raises Unauthorized, Forbidden for a login that may not or a forged request,
    TooMany.
    """
    try:
        principal = _proven(request)
    except Unauthorized:
        LIMITER.count(f"failed {_address(request)}", limit=FAILURES_PER_MINUTE)
        raise
    limit = conf.current().web.requests_per_minute
    LIMITER.count(f"{principal.kind} {principal.name}", limit=limit)
    return principal


def require_write(principal: Principal) -> None:
    """Raises Forbidden where only reading is allowed."""
    if principal.may_write:
        return
    if principal.kind == "token":
        raise Forbidden(f"the token {principal.name!r} may only read")
    raise Forbidden("without a token or a login only reading is allowed")


def _proven(request: HttpRequest) -> Principal:
    header = request.headers.get("Authorization")
    if header is not None:
        return _by_token(header)
    if request.user.is_authenticated:
        return _by_login(request)
    if conf.current().web.open_read and _is_local(request):
        return Principal(kind="local", name="this machine", may_write=False)
    raise Unauthorized("a token is needed: Authorization: Bearer <token>")


def _by_token(header: str) -> Principal:
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != SCHEME:
        raise Unauthorized("only Authorization: Bearer <token> is understood")
    verify = cast(Callable[[str], Token | None], import_string(settings.TOKEN_CHECK))
    token = verify(secret.strip())
    if token is None:
        raise Unauthorized("the token is not known: it is wrong, or was revoked")
    return Principal(kind="token", name=token.name, may_write=not token.read_only)


def _by_login(request: HttpRequest) -> Principal:
    if not (request.user.is_active and getattr(request.user, "is_superuser", False)):
        raise Forbidden("this login may not use the interfaces for programs")
    # A browser sends the cookie of a login along with whatever another site makes it
    # send; a token it never sends by itself.
    reason = _Forgery(_never).found(request)
    if reason is not None:
        raise Forbidden(f"refused as forged: {reason.rstrip('.')}")
    return Principal(kind="login", name=request.user.get_username(), may_write=True)


class _Forgery(CsrfViewMiddleware):
    """Django's check for forged requests, answering with the reason alone."""

    def found(self, request: HttpRequest) -> str | None:
        self.process_request(request)
        return cast(str | None, self.process_view(request, _never, (), {}))

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason


def _never(request: HttpRequest) -> HttpResponseBase:
    raise NotImplementedError


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _is_local(request: HttpRequest) -> bool:
    host, _ = split_domain_port(request.get_host())
    return is_loopback(_address(request)) and is_loopback(host)
