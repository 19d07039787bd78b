"""Ask the resident of a database; whatever it cannot do, the client does itself."""

from __future__ import annotations

import _socket
import os
import time

from icm_site import __version__
from icm_site.resident import place, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Until a request is accepted; then between two signs of life. A read that gets none
# is done again, a write never.
ACCEPT_SECONDS = 1.0
READ_SILENCE = 2.0
WRITE_SILENCE = 30.0


class Lost(Exception):
    """The resident was lost after it had begun to write: the outcome is not known."""


def connect(database: str, *, seconds: float = ACCEPT_SECONDS) -> _socket.socket | None:
    """A connection to the database's resident, None where there is none."""
    address = place.read(database)
    if address is None or address.state != place.READY:
        return None
    unix = address.way == "unix"
    if unix and not hasattr(_socket, "AF_UNIX"):
        return None
    family = _socket.AF_UNIX if unix else _socket.AF_INET
    socket = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        socket.settimeout(seconds)
        socket.connect(address.where if unix else ("127.0.0.1", int(address.where)))
        if not unix:
            socket.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
            socket.sendall(wire.frame(wire.TOKEN, address.token.encode()))
    except (OSError, ValueError):
        socket.close()
        return None
    return socket


def request(
    kind: str,
    *,
    env: Mapping[str, str],
    cwd: str,
    flags: Mapping[str, str | bool] | None = None,
    arguments: Sequence[str] = (),
    terminal: str = "",
    body: bytes = b"",
) -> bytes:
    """A request as it travels: who asks for what, from where."""
    encode = wire.encode
    given = [
        f"{name}={'1' if value is True else '' if value is False else value}"
        for name, value in (flags or {}).items()
    ]
    variables = [f"{name}={value}" for name, value in env.items()]
    head = (str(wire.PROTOCOL), __version__, ROOT, kind, cwd, terminal)
    return wire.pack(
        [
            *map(encode, head),
            wire.pack([*map(encode, given)]),
            wire.pack([*map(encode, arguments)]),
            wire.pack([*map(encode, variables)]),
            body,
        ]
    )


def accepted(socket: _socket.socket, asked: bytes, *, seconds: float) -> bytes:
    """Offer a request; READS or WRITES once it may go, b"" if it is declined.

    Raises OSError where the resident is gone or silent.
    """
    end = time.monotonic() + seconds
    socket.sendall(wire.frame(wire.REQUEST, asked))
    while True:
        socket.settimeout(max(end - time.monotonic(), 0.001))
        kind, payload = wire.receive(socket)
        if kind == wire.ACCEPTED:
            return payload
        if kind == wire.DECLINED:
            return b""


def ask(database: str, asked: bytes) -> tuple[int, bytes, bytes] | None:
    """Have a request done: its exit code, what it prints to stdout and to stderr.

    None where the client is to do it itself: without a resident, or with one that
    declines, or does not answer. Raises Lost.
    """
    socket = connect(database)
    if socket is None:
        return None
    try:
        way = accepted(socket, asked, seconds=ACCEPT_SECONDS)
        if not way:
            return None
        return _answer(socket, way)
    except OSError:
        return None
    finally:
        socket.close()


def _answer(socket: _socket.socket, way: bytes) -> tuple[int, bytes, bytes] | None:
    socket.settimeout(READ_SILENCE if way == wire.READS else WRITE_SILENCE)
    try:
        socket.sendall(wire.frame(wire.GO))
        while True:
            kind, payload = wire.receive(socket)
            if kind == wire.DECLINED:
                return None
            if kind == wire.ANSWER:
                code, out, err = wire.unpack(payload)
                return int(code), out, err
    except OSError as error:
        if way == wire.READS:
            return None
        raise Lost(str(error)) from error
