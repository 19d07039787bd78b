"""Messages between the resident and its clients: frames of bytes on a stream.

A frame is one letter, four bytes of length (big-endian) and a payload. A client sends
its request, waits until it is accepted, says GO and waits for the answer. What was not
accepted in time is never run, since GO was never said; what was is run once.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Raised with each change that an older side would not understand.
PROTOCOL = 1

# From the client.
TOKEN, REQUEST, GO = b"T", b"Q", b"G"
# From the resident: accepted (READS or WRITES), declined (why), still at it, answered.
ACCEPTED, DECLINED, BUSY, ANSWER = b"A", b"D", b"B", b"X"
READS, WRITES = b"r", b"w"

HEADER = 5
# More than the 32 MiB that a hook may be given, with the variables beside it.
LIMIT = 40 << 20


class Broken(OSError):
    """The other side is gone, or says what is not of this protocol."""


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """One message as it travels."""
    return kind + len(payload).to_bytes(4, "big") + payload


def header(data: bytes) -> tuple[bytes, int]:
    """Letter and length of a message. Raises Broken for what can be none."""
    size = int.from_bytes(data[1:HEADER], "big")
    if size > LIMIT:
        raise Broken(f"a message of {size} bytes")
    return data[:1], size


def pack(parts: Sequence[bytes]) -> bytes:
    """Several byte strings as one."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    """The byte strings that `pack` joined. Raises Broken."""
    parts, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            raise Broken("a message is cut off")
        parts.append(data[at + 4 : end])
        at = end
    return parts


def encode(text: str) -> bytes:
    """A text that came from the system (argument, variable, path), as bytes."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """What `encode` was given."""
    return data.decode("utf-8", "surrogatepass")


def take(socket: Socket, size: int) -> bytes:
    """Exactly `size` bytes from a blocking socket. Raises Broken at its end."""
    parts = []
    while size:
        part = socket.recv(min(size, 1 << 20))
        if not part:
            raise Broken("the connection has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive(socket: Socket) -> tuple[bytes, bytes]:
    """The next message of a blocking socket: letter and payload. Raises Broken."""
    kind, size = header(take(socket, HEADER))
    return kind, take(socket, size)


if TYPE_CHECKING:
    if sys.platform == "win32":
        from socket import socket as Socket
    else:
        from _socket import socket as Socket
