"""`icm serve` as a bridge: the client's lines to the resident's MCP server and back."""

from __future__ import annotations

import _thread
import os
import time

from icm_site.resident import client, place, quick_json, start, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Upstream(Protocol):
        """A server's ends: of a socket, or of a process."""

        def sendall(self, data: bytes, /) -> object: ...
        def recv(self, size: int, /) -> bytes: ...
        def settimeout(self, seconds: float, /) -> object: ...
        def close(self) -> object: ...


# Options that the resident understands; with others the command line has the word.
KNOWN = ("--compact", "--tools", "--tools=lean", "--tools=full", "lean", "full")
LINE_LIMIT = 10 << 20
START_SECONDS = 10.0
LOOK_SECONDS = 0.02
# A request without an answer for so long makes us ask whether the resident lives.
SILENCE_SECONDS = 5.0
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
RESTARTED = (
    "the memory server ended before it answered; whether the call took effect is not "
    "known, so look before you repeat it"
)


class Session:
    """How a bridge gets to its server, again if it must."""

    def __init__(
        self,
        arguments: list[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        flags: Mapping[str, str | bool],
    ) -> None:
        self._arguments, self._env, self._cwd = arguments, env, cwd
        self._flags = flags
        self._asked = client.request(
            "mcp", env=env, cwd=cwd, flags=flags, arguments=arguments
        )
        self.database = place.database(env, cwd, flags)

    def open(self) -> Upstream | None:
        """A session with the resident, which is started if it must; None without."""
        if not self.database:
            return None
        end = time.monotonic() + START_SECONDS
        declines = 0
        while time.monotonic() < end and declines < 3:
            socket = client.connect(self.database)
            if socket is None:
                if not self._is_coming():
                    return None
                time.sleep(LOOK_SECONDS)
                continue
            try:
                if client.accepted(socket, self._asked, seconds=client.ACCEPT_SECONDS):
                    socket.sendall(wire.frame(wire.GO))
                    return socket
                # It may be leaving for a newer one.
                declines += 1
                time.sleep(5 * LOOK_SECONDS)
            except OSError:
                declines += 1
            socket.close()
        return None

    def _is_coming(self) -> bool:
        if start.start(self.database, self._env):
            time.sleep(LOOK_SECONDS * 5)
            return True
        known = place.read(self.database)
        return known is not None and known.state != place.FAILED

    def is_alive(self) -> bool:
        """Whether the resident answers at all."""
        asked = client.request("status", env={}, cwd=self._cwd)
        try:
            return client.ask(self.database, asked) is not None
        except client.Lost:
            return False

    def process(self) -> Upstream:
        """A server in a process of its own, where no resident is to be had."""
        from icm_site.resident.own_server import OwnServer

        return OwnServer(self._arguments, env=self._env, cwd=self._cwd)


class Bridge:
    """One MCP client's lines, in both directions, over one server after another."""

    def __init__(self, session: Session, upstream: Upstream) -> None:
        self._session, self._upstream = session, upstream
        self._link = _thread.allocate_lock()
        self._mouth = _thread.allocate_lock()
        self._open: dict[Any, tuple[str, bytes, float]] = {}
        self._handshake: list[bytes] = []
        self._swallowed: set[Any] = set()
        self._ended = False

    def run(self) -> int:
        """Carry lines until the client's input ends and all is answered."""
        _thread.start_new_thread(self._carry_in, ())
        while True:
            try:
                self._carry_out()
            except BrokenPipeError:
                return 0
            except OSError:
                pass
            if self._ended:
                return 0
            self._recover()

    def _carry_in(self) -> None:
        for line in lines(0):
            if line is None:
                self._say(error(INVALID_REQUEST, "the line is longer than 10 MiB"))
            elif line.strip():
                self._pass_on(line)
        with self._link:
            self._ended = True
            self._close_input()

    def _close_input(self) -> None:
        try:
            shutdown = getattr(self._upstream, "shutdown", None)
            if shutdown is not None:
                shutdown(1)
        except OSError:
            self._upstream.close()

    def _pass_on(self, line: bytes) -> None:
        method, number = named(line)
        with self._link:
            if method == "initialize":
                self._handshake = [line]
            elif method == "notifications/initialized":
                self._handshake.append(line)
            if method and number is not None:
                self._open[number] = (method, line, time.monotonic())
            elif method == "notifications/cancelled":
                self._open.pop(cancelled(line), None)
            self._send(line)

    def _send(self, line: bytes) -> None:
        try:
            self._upstream.sendall(line)
        except OSError:
            return  # the other direction sees the same and recovers

    def _carry_out(self) -> None:
        """Pass on what the server says, until it ends. Raises OSError."""
        rest = b""
        self._upstream.settimeout(SILENCE_SECONDS)
        while True:
            try:
                data = self._upstream.recv(1 << 16)
            except TimeoutError:
                if self._is_stuck():
                    return
                continue
            if not data:
                return
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                self._answered(line)

    def _answered(self, line: bytes) -> None:
        method, number = named(line)
        if not method and number is not None:
            with self._link:
                self._open.pop(number, None)
                if number in self._swallowed:
                    self._swallowed.discard(number)
                    return
        self._say(line + b"\n")

    def _is_stuck(self) -> bool:
        with self._link:
            oldest = min((at for _, _, at in self._open.values()), default=None)
        waited = 0.0 if oldest is None else time.monotonic() - oldest
        return waited > SILENCE_SECONDS and not self._session.is_alive()

    def _recover(self) -> None:
        """Go on with another server; calls that may have been done are reported."""
        with self._link:
            self._upstream.close()
            again = []
            for number, (method, line, _) in self._open.items():
                if method == "tools/call":
                    self._say(error(INTERNAL_ERROR, RESTARTED, number))
                else:
                    again.append(line)
            kept = {n: v for n, v in self._open.items() if v[0] != "tools/call"}
            self._open = kept
            self._upstream = self._session.open() or self._session.process()
            begun = self._handshake[:1]
            if begun and begun[0] not in again:
                self._swallowed = {named(begun[0])[1]}
                again = [*self._handshake, *again]
            for line in again:
                self._upstream.sendall(line)
            if self._ended:
                self._close_input()

    def _say(self, line: bytes) -> None:
        with self._mouth:
            while line:
                line = line[os.write(1, line) :]


def lines(descriptor: int) -> Any:
    """Each line with its end; None for one that is longer than the limit."""
    rest, skipping = b"", False
    while data := os.read(descriptor, 1 << 16):
        *whole, last = data.split(b"\n")
        for part in whole:
            line = rest + part
            yield None if skipping or len(line) > LINE_LIMIT else line + b"\n"
            rest, skipping = b"", False
        if not skipping:
            rest += last
        if len(rest) > LINE_LIMIT:
            rest, skipping = b"", True
    if skipping:
        yield None
    elif rest:
        yield rest + b"\n"


def named(line: bytes) -> tuple[str, Any]:
    """Method and id of a message; "" and None for what has none."""
    try:
        message = quick_json.loads(line)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(message, dict):
        return "", None
    method, number = message.get("method"), message.get("id")
    known = type(number) in (int, str)
    return method if isinstance(method, str) else "", number if known else None


def cancelled(line: bytes) -> Any:
    """The id of the request that a client does not want answered any more."""
    params = quick_json.loads(line).get("params")
    number = params.get("requestId") if isinstance(params, dict) else None
    return number if type(number) in (int, str) else None


def error(code: int, message: str, number: Any = None) -> bytes:
    """An error as a line of the protocol."""
    name = quick_json.quoted(number) if isinstance(number, str) else str(number)
    text = quick_json.quoted(message)
    return (
        f'{{"jsonrpc":"2.0","id":{"null" if number is None else name},'
        f'"error":{{"code":{code},"message":{text}}}}}\n'
    ).encode()


def main(
    arguments: list[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    flags: Mapping[str, str | bool],
) -> int | None:
    """Serve a client through the resident; None where this process is to do it."""
    if any(word not in KNOWN for word in arguments):
        return None
    session = Session(arguments, env=env, cwd=cwd, flags=flags)
    upstream = session.open()
    if upstream is None:
        return None
    return Bridge(session, upstream).run()
