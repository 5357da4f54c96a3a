"""The loop of a task that owns one connection: when the connection ends, the task opens another one."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Never, Protocol

import trio

from vivero.storage.postgres.driver import CONNECT_TIMEOUT_S, Connect, Connection
from vivero.storage.postgres.errors import Outage, Retry, describe
from vivero.storage.postgres.outage_log import OutageLog


class Beats(Protocol):
    """Signs of life of a task; `engine.supervision.beat.Beat` implements it."""

    def beat(self) -> None:
        """Reports that the task made a turn."""

    def report_progress(self, progress: Callable[[], bool], /) -> None:
        """Registers a function that says whether the task can do its work."""

    def waiting(self, deadline_s: float, /) -> AbstractContextManager[None]:
        """Allows silence of up to `deadline_s` seconds during a block that waits for PostgreSQL."""

    async def sleep(self, seconds: float, /) -> None:
        """Sleeps with beats."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pause before the next connection, in seconds: the first one, and the longest. Each pause doubles."""

    first_s: float = 0.1
    most_s: float = 2.0


async def keep_connected(
    name: str, connect: Connect, use: Callable[[Connection], Awaitable[None]], beats: Beats, backoff: Backoff
) -> Never:
    """Runs `use` on one connection after the other, and closes each connection when `use` ends.

    After `Retry` and `Outage` it opens the next connection, after a pause. The pauses start anew after a connection
    that lasted longer than the longest pause. Other errors propagate. Without a connection the task reports no
    progress.
    """
    link, outage = _Link(name), OutageLog()
    beats.report_progress(lambda: link.up)
    pause_s = backoff.first_s
    while True:
        beats.beat()
        began = trio.current_time()
        try:
            await _use_one(connect, use, beats, link, outage)
        except (Retry, Outage) as error:
            lasted_s = trio.current_time() - began
            outage.failed("connection lost", describe(error), task=name, lasted_s=round(lasted_s, 1))
            if lasted_s > backoff.most_s:
                pause_s = backoff.first_s
        await beats.sleep(pause_s)
        pause_s = min(2 * pause_s, backoff.most_s)


@dataclass(slots=True)
class _Link:
    name: str
    up: bool = False


async def _use_one(
    connect: Connect, use: Callable[[Connection], Awaitable[None]], beats: Beats, link: _Link, outage: OutageLog
) -> None:
    with beats.waiting(CONNECT_TIMEOUT_S):
        connection = await connect(trio.current_time() + CONNECT_TIMEOUT_S)
    link.up = True
    outage.works("connected again", task=link.name)
    try:
        await use(connection)
    finally:
        link.up = False
        connection.close()
