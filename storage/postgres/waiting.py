"""Runs psycopg's protocol generators: Trio waits directly on libpq's socket."""

import select
import socket
from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

import trio
from psycopg import generators
from psycopg.pq.abc import PGconn
from psycopg.waiting import Ready, Wait

T = TypeVar("T")


async def drive(protocol: Generator[Wait, Ready, T], fd: int) -> T:
    """Runs a generator whose socket stays the same: all but connecting and cancelling."""
    try:
        want = next(protocol)
        while True:
            if want == Wait.R:
                await trio.lowlevel.wait_readable(fd)
                want = protocol.send(Ready.R)
            else:
                want = protocol.send(await _ready(fd, want))
    except StopIteration as end:
        value: T = end.value
        return value


async def drive_pairs(protocol: Generator[tuple[int, Wait], Ready, T]) -> T:
    """Runs a generator whose socket may change: connecting and cancelling."""
    try:
        fd, want = next(protocol)
        while True:
            fd, want = protocol.send(await _ready(fd, want))
    except StopIteration as end:
        value: T = end.value
        return value


async def _ready(fd: int, want: Wait) -> Ready:
    if want == Wait.R:
        await trio.lowlevel.wait_readable(fd)
        return Ready.R
    if want == Wait.W:
        await trio.lowlevel.wait_writable(fd)
        return Ready.W
    return await _either_ready(fd)


async def _either_ready(fd: int) -> Ready:
    """Waits for readable or writable, whichever comes first.

    In pipeline mode one direction is not enough: a server that cannot send its results stops reading our statements.
    """
    ready = 0
    closed = False

    async def wait(direction: Callable[[int], Awaitable[None]], flag: Ready) -> None:
        nonlocal ready, closed
        try:
            await direction(fd)
        except trio.ClosedResourceError:
            closed = True
        else:
            ready |= flag
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, trio.lowlevel.wait_readable, Ready.R)
        nursery.start_soon(wait, trio.lowlevel.wait_writable, Ready.W)
    if closed:
        raise trio.ClosedResourceError("the connection was closed while it was in use")
    return Ready(ready)


async def request_cancel(pgconn: PGconn) -> None:
    """Asks the server, over another connection, to cancel the query of `pgconn`."""
    canceller = pgconn.cancel_conn()
    canceller.start()
    try:
        await drive_pairs(generators.cancel(canceller))
    finally:
        canceller.finish()


def readable_now(fd: int) -> bool:
    """True if a read would not wait: there is data, or the end of the stream."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def shut_down(fd: int) -> None:
    """Ends both directions of libpq's socket, without closing the descriptor."""
    borrowed = socket.socket(fileno=fd)
    try:
        borrowed.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side was faster; the caller closes the descriptor next either way
    finally:
        borrowed.detach()
