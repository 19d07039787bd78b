"""The resident's loop: who connects, what is asked, when it is time to leave."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from icm_site import __version__, conf, folders, paths
from icm_site.conf import Config
from icm_site.resident import claim, place, requests, streams, wire
from icm_site.resident.place import Address
from icm_site.resident.requests import Declined, NewerClient, Request

logger = logging.getLogger(__name__)

REQUEST_SECONDS = 10.0
LINE_LIMIT = 16 << 20
BUSY_SECONDS = 0.25
DRAIN_SECONDS = 10.0
SOCKET_PATH_BYTES = 103

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter


def serve(database: Path) -> int:
    """Set everything up, then serve until it is time to leave."""
    from icm_site.resident.setting_up import set_up

    config = conf.load(os.environ, "/", flags={"store.path": str(database)})
    conf.use(config)
    streams.install()
    set_up()
    return asyncio.run(Resident(database, config).run())


class Resident:
    """One process for one database."""

    def __init__(self, database: Path, config: Config) -> None:
        from icm_site.resident.lanes import Lanes
        from icm_site.resident.watch import Watch

        self.database, self.config = database, config
        self.lanes = Lanes()
        self.watch = Watch(database)
        self.started = self.last_asked = time.time()
        self.served = self.sessions = 0
        self._leaving = asyncio.Event()
        self._open: set[Writer] = set()
        self._token = ""

    async def run(self) -> int:
        """Listen, and take leave in order; returns the exit code."""
        from icm_site.resident import timers

        server, address = await self._listen()
        claim.announce(str(self.database), address)
        self._leave_on_signals()
        background = asyncio.create_task(timers.run(self))
        await self._leaving.wait()
        claim.announce(str(self.database), None)
        server.close()
        if address.way == "unix":
            Path(address.where).unlink(missing_ok=True)
        background.cancel()
        await self._drain()
        return 0

    def leave(self, reason: str) -> None:
        """Take no new requests, finish those at hand, and end."""
        if not self._leaving.is_set():
            logger.info("leaving: %s", reason)
            self._leaving.set()

    @property
    def is_leaving(self) -> bool:
        return self._leaving.is_set()

    async def _listen(self) -> tuple[asyncio.Server, Address]:
        pid, way = os.getpid(), self.config.resident.transport
        if way == "tcp" or (way == "auto" and sys.platform == "win32"):
            self._token = secrets.token_hex(16)
            server = await asyncio.start_server(
                self._client, "127.0.0.1", 0, limit=LINE_LIMIT
            )
            port = str(server.sockets[0].getsockname()[1])
            found = Address(
                place.READY, pid=pid, way="tcp", where=port, token=self._token
            )
            return server, found
        path = socket_path(self.database)
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(
                self._client, path, limit=LINE_LIMIT
            )
        finally:
            os.umask(before)
        self.watch.socket = path
        return server, Address(place.READY, pid=pid, way="unix", where=str(path))

    def _leave_on_signals(self) -> None:
        loop = asyncio.get_running_loop()
        leave: Callable[[], None] = lambda: self.leave("a signal")  # noqa: E731
        if sys.platform == "win32":
            signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(leave))
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, leave)

    async def _drain(self) -> None:
        end = time.monotonic() + DRAIN_SECONDS
        while self.lanes.running and time.monotonic() < end:
            await asyncio.sleep(0.01)
        for writer in list(self._open):
            writer.close()
        await asyncio.sleep(0)
        if not self.lanes.running:
            # Django closes no connection in the thread of an event loop.
            await asyncio.to_thread(self.lanes.close)

    async def _client(self, reader: Reader, writer: Writer) -> None:
        self._open.add(writer)
        try:
            await self._conversation(reader, writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            logger.debug("a client has left")
        # One client's trouble is no other's: it is logged and the client told.
        except Exception:
            logger.exception("a request failed")
        finally:
            self._open.discard(writer)
            writer.close()

    async def _conversation(self, reader: Reader, writer: Writer) -> None:
        async with asyncio.timeout(REQUEST_SECONDS):
            if self._token and not await self._knows_token(reader):
                return
            kind, payload = await receive(reader)
        if kind != wire.REQUEST:
            raise wire.Broken(f"{kind!r} instead of a request")
        try:
            request, config = self._judge(payload)
            work = self._work(request, config)
        except NewerClient as newer:
            await send(writer, wire.DECLINED, str(newer).encode())
            self.leave(f"a newer client: {newer}")
            return
        except Declined as declined:
            logger.debug("declined: %s", declined)
            await send(writer, wire.DECLINED, str(declined).encode())
            return
        self.last_asked = time.time()
        self.served += 1
        await send(writer, wire.ACCEPTED, wire.WRITES if work.writes else wire.READS)
        async with asyncio.timeout(REQUEST_SECONDS):
            kind, _ = await receive(reader)
        if kind == wire.GO and not self.is_leaving:
            await work.go(reader, writer)
        else:
            await send(writer, wire.DECLINED)

    async def _knows_token(self, reader: Reader) -> bool:
        kind, token = await receive(reader)
        return kind == wire.TOKEN and secrets.compare_digest(
            token, self._token.encode()
        )

    def _judge(self, payload: bytes) -> tuple[Request, Config]:
        request = requests.parse(payload)
        if self.is_leaving:
            raise Declined("leaving")
        if reason := self.watch.changed():
            self.leave(reason)
            raise Declined(reason)
        if request.kind in ("status", "stop"):
            return request, self.config
        return request, requests.configured(request, self.config)

    def _work(self, request: Request, config: Config) -> Work:
        from icm_site.resident import answering

        if request.kind == "mcp":
            return Work(self, request, config, session=True)
        if request.kind in ("status", "stop"):
            return Work(self, request, config)
        job, writes = answering.job(request, config)
        return Work(self, request, config, job=job, writes=writes)

    def status(self) -> bytes:
        """What `icm resident status` shows, as JSON."""
        return json.dumps(
            {
                "pid": os.getpid(),
                "version": __version__,
                "database": str(self.database),
                "seconds": round(time.time() - self.started, 1),
                "requests": self.served,
                "sessions": self.sessions,
                "running": self.lanes.running,
            }
        ).encode()


class Work:
    """What is to be done for a request once the client says GO."""

    def __init__(
        self,
        resident: Resident,
        request: Request,
        config: Config,
        *,
        job: Callable[[], bytes] | None = None,
        writes: bool = False,
        session: bool = False,
    ) -> None:
        self._resident, self._request, self._config = resident, request, config
        self._job, self.writes, self._session = job, writes, session

    async def go(self, reader: Reader, writer: Writer) -> None:
        """Do it and send what came of it."""
        if self._session:
            await self._serve_session(reader, writer)
        elif self._job is None:
            await self._control(writer)
        else:
            await self._do(self._job, writer)

    async def _do(self, job: Callable[[], bytes], writer: Writer) -> None:
        run = self._resident.lanes.run(job, config=self._config, writes=self.writes)
        task = asyncio.create_task(run)
        while not task.done():
            done, _ = await asyncio.wait([task], timeout=BUSY_SECONDS)
            if not done and not writer.is_closing():
                writer.write(wire.frame(wire.BUSY))
        await send(writer, wire.ANSWER, task.result())

    async def _control(self, writer: Writer) -> None:
        await send(writer, wire.ANSWER, wire.pack([b"0", self._resident.status(), b""]))
        if self._request.kind == "stop":
            self._resident.leave("asked to")

    async def _serve_session(self, reader: Reader, writer: Writer) -> None:
        from icm_site.resident import sessions

        self._resident.sessions += 1
        try:
            await sessions.serve(
                reader, writer, self._request, self._config, self._resident
            )
        finally:
            self._resident.sessions -= 1
            self._resident.last_asked = time.time()


async def receive(reader: Reader) -> tuple[bytes, bytes]:
    """The next message of a client."""
    kind, size = wire.header(await reader.readexactly(wire.HEADER))
    return kind, await reader.readexactly(size)


async def send(writer: Writer, kind: bytes, payload: bytes = b"") -> None:
    """Send a message to a client."""
    writer.write(wire.frame(kind, payload))
    await writer.drain()


def socket_path(database: Path) -> Path:
    """The socket of a database, short enough for every system, in a private folder."""
    facts = database.stat()
    name = f"{facts.st_dev:x}-{facts.st_ino:x}.sock"
    folder = paths.runtime_dir()
    if len(os.fsencode(folder / name)) > SOCKET_PATH_BYTES:
        folder = Path(folders.per_user("/tmp"))
    return paths.make_private_dir(folder, own=True) / name
