"""Clients that speak no HTTP, or half of it: raw sockets, from an address that is not that of others."""

import socket
import struct
from contextlib import contextmanager

import psutil
import trio

BAD = "127.0.0.2"
RESET = struct.pack("ii", 1, 0)
END_S = 30.0


def connect(port, *, address=BAD, receive_buffer=None):
    """A connected socket that does not wait."""
    raw = socket.socket()
    if receive_buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.bind((address, 0))
    raw.connect(("127.0.0.1", port))
    raw.setblocking(False)
    return raw


def reset(raw):
    """Close it with a reset."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    raw.close()


@contextmanager
def many(port, count, data=b"", **options):
    """This number of connections, each of which has sent this."""
    opened = []
    try:
        for _ in range(count):
            raw = connect(port, **options)
            opened.append(raw)
            try_to_send(raw, data)
        yield opened
    finally:
        for raw in opened:
            raw.close()


def try_to_send(raw, data):
    """Send what the socket takes; False when the server has closed it."""
    try:
        raw.send(data)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


async def exchange(port, data, **options):
    """Send bytes, and read until the server closes: all that it said."""
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(connect(port, **options)))
    said = b""
    async with stream:
        with trio.fail_after(END_S):
            try:
                await stream.send_all(data)
                await stream.send_eof()
                while part := await stream.receive_some(65536):
                    said += part
            except trio.BrokenResourceError:
                return said
    return said


def statuses(said):
    """The statuses of the answers in what the server said."""
    return [int(line[9:12]) for line in said.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def resident(target):
    """Bytes of memory that the program has now."""
    return psutil.Process(target.program.pid).memory_info().rss
