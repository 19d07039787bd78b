"""`icm web`: the pages and interfaces of HTTP on one port, for this machine."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence

from icm_site import conf, loopback, startup
from icm_site.arguments import Parser, whole
from icm_site.errors import Conflict, Unavailable

HOST, PORT = "127.0.0.1", 8420
PORTS = range(65_536)
CONCURRENCY = 100


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal ends it; returns the exit code.

    Raises UsageError for a port that cannot be, Conflict for a host that is
    open to others without a token, Unavailable where it is taken.
    """
    try:
        options = _parser().parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if not loopback.is_loopback(options.host) and not options.expose:
        raise Conflict(
            f"{options.host} can be reached by other machines; say --expose if that "
            "is meant, after `icm token create NAME`"
        )
    with startup.importing():
        _set_up(options)
    _prepare(options)
    if options.new_password:
        return 0
    with _listening(options.host, options.port) as listener:
        return _serve(listener, options)


def _parser() -> Parser:
    parser = Parser(
        prog="icm web",
        description="Serve the admin pages and the HTTP interfaces to this machine.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--host", default=HOST, help=f"address to listen on (default: {HOST})")
    add(
        "--port",
        type=whole(PORTS),
        default=PORT,
        help=f"port, 0 for a free one ({PORT})",
    )
    add("--open", action="store_true", help="log in once in a browser")
    add(
        "--expose",
        action="store_true",
        help="allow an address that other machines reach; needs a token",
    )
    add(
        "--name",
        action="append",
        default=[],
        help="a further host name by which clients reach the server",
    )
    add(
        "--new-password",
        action="store_true",
        help="give the owner a new password, show it, and end",
    )
    return parser


def _set_up(options: argparse.Namespace) -> None:
    from django.conf import settings

    startup.set_up_django(startup.PAGES)
    names = [options.host, *options.name]
    if options.host in ("0.0.0.0", "::"):
        names[0] = socket.gethostname()
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, *map(_as_header, names)]
    # Before a proxy that speaks TLS, the browser's origin has another scheme.
    settings.CSRF_TRUSTED_ORIGINS = [f"https://{name}" for name in options.name]


def _as_header(host: str) -> str:
    """A host as the Host header has it: an IPv6 address stands in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _prepare(options: argparse.Namespace) -> None:
    """The database, the owner, and the condition for other machines."""
    from icm_site import database, owner
    from memories import tokens

    database.ready()
    if not loopback.is_loopback(options.host) and not tokens.exist():
        raise Conflict(
            "there is no token yet, so other machines may not be let in: "
            "`icm token create NAME` makes one"
        )
    if options.new_password:
        _tell(owner.NAME, owner.new_password())
    elif not database.read_only() and (password := owner.ensure()):
        _tell(owner.NAME, password)


def _tell(name: str, password: str) -> None:
    print(f"Log in as {name} with the password {password}", file=sys.stderr)
    print("It is shown this once. --new-password makes another.", file=sys.stderr)


def _open(link: str) -> None:
    """Open a browser, or say where; the link logs in once, within two minutes."""
    if not webbrowser.open(link):
        print(f"Open this within two minutes, it works once: {link}", file=sys.stderr)


def _listening(host: str, port: int) -> socket.socket:
    plain = host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    try:
        return socket.create_server((plain, port), family=family)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise Unavailable(f"cannot listen on {host} port {port}: {reason}") from error


def _serve(listener: socket.socket, options: argparse.Namespace) -> int:
    import uvicorn

    from icm_site.asgi import application

    server = uvicorn.Server(
        uvicorn.Config(
            application,
            lifespan="on",
            ws="none",
            # Whoever is on this machine could otherwise claim to come from it, or not.
            proxy_headers=False,
            server_header=False,
            # Addresses and paths of requests are nobody's business later.
            access_log=False,
            log_config=None,
            log_level=conf.current().log_level.lower(),
            limit_concurrency=CONCURRENCY,
        )
    )
    address = f"http://{_as_header(options.host)}:{listener.getsockname()[1]}/"
    print(f"Serving {address} (Ctrl+C ends it)", flush=True)
    if options.open:
        from icm_site.one_time import TICKET

        link = f"{address}open/{TICKET.issue()}/"
        threading.Thread(target=_open, args=[link], daemon=True).start()
    server.run(sockets=[listener])
    return 0
