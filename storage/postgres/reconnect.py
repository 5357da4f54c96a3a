"""A task that owns one connection for as long as it lasts, and then makes another one."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Never, Protocol

import structlog
import trio

from vivero.storage.postgres.driver import CONNECT_TIMEOUT_S, Connection
from vivero.storage.postgres.errors import Outage, Retry

log = structlog.get_logger(__name__)

Connect = Callable[[float], Awaitable[Connection]]
"""Makes a connection before a deadline (a point on Trio's clock)."""


class Beats(Protocol):
    """How a task proves that it lives; `engine.runtime.supervision.beat.Beat` is one."""

    def beat(self) -> None:
        """The task made a turn."""

    def report_progress(self, progress: Callable[[], bool], /) -> None:
        """Whether the task, though alive, can do its work is asked for here."""

    def waiting(self, deadline_s: float, /) -> AbstractContextManager[None]:
        """PostgreSQL is waited for, at most for so long: silence until then is no hang."""

    async def sleep(self, seconds: float, /) -> None:
        """Sleeps, beating."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before another connection is tried: at first, and, doubling, at most."""

    first_s: float = 0.1
    most_s: float = 2.0


async def keep_connected(
    name: str, connect: Connect, use: Callable[[Connection], Awaitable[None]], beats: Beats, backoff: Backoff
) -> Never:
    """Runs `use` on a connection again and again, closing it when `use` ends or the connection is lost.

    `Retry` and `Outage` lead to the next connection, after a pause that starts anew once a connection has lasted longer
    than the longest pause. Everything else is raised. Without a connection the task reports no progress.
    """
    link = _Link()
    beats.report_progress(lambda: link.up)
    pause_s = backoff.first_s
    while True:
        beats.beat()
        began = trio.current_time()
        try:
            await _use_one(connect, use, beats, link)
        except (Retry, Outage) as error:
            lasted_s = trio.current_time() - began
            log.warning("connection lost", task=name, error=str(error), lasted_s=round(lasted_s, 1))
            if lasted_s > backoff.most_s:
                pause_s = backoff.first_s
        await beats.sleep(pause_s)
        pause_s = min(2 * pause_s, backoff.most_s)


@dataclass(slots=True)
class _Link:
    up: bool = False


async def _use_one(connect: Connect, use: Callable[[Connection], Awaitable[None]], beats: Beats, link: _Link) -> None:
    with beats.waiting(CONNECT_TIMEOUT_S):
        connection = await connect(trio.current_time() + CONNECT_TIMEOUT_S)
    link.up = True
    try:
        await use(connection)
    finally:
        link.up = False
        connection.close()
