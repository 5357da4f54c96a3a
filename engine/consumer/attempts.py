"""Whether the command that a term tried alone caused the end of that term (docs/adr/0014).

An attempt counts only with evidence that its command took so long: the CPU time of the attempt's own steps, or answers
of PostgreSQL to others meanwhile. Outages, kills, stops and step-downs give no such evidence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
import trio

from vivero.engine.consumer.cpu_meter import CpuMeter
from vivero.engine.consumer.rejected_commands import Suspected
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.failures import describe_failure, leaves
from vivero.storage.log import attempts
from vivero.storage.log.attempts import Suspicion
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DeadlineExceeded, StorageError, describe
from vivero.storage.postgres.given_time import given_time

log = structlog.get_logger(__name__)

BEAT, TIMEOUT, BUG, DATA, ERROR = "beat", "timeout", "bug", "data", "error"
"""Ends of an attempt that count, in addition to the watchdog: no beat in time; a deadline or the transaction's timeout
passed; our code raised outside the core, which undoes and rejects by itself; PostgreSQL rejected a value; PostgreSQL
gave up a statement while it served others."""
GIVEN_UP = ("57014", "XX000", "XX001", "XX002")
"""SQLSTATEs: a statement timeout or an administrator; an internal error; a damaged row or index."""
TRANSACTION_TIMEOUT = "25P04"
PROVE_EVERY_S = 0.25
PROMPT_S = 1.0
"""PostgreSQL serves others if a small commit takes no longer than this."""


class Unworkable(Exception):
    """Our code raised while it computed a batch, outside a handler."""


def symptom(error: BaseException | None, beat: Beat) -> str | None:
    """The cause of a term's end, if its commands may have caused it. None for chaos, outages and step-downs."""
    if beat.given_up:
        return None if beat.muted else BEAT
    for leaf in () if error is None else leaves(error):
        if isinstance(leaf, Suspected):
            return DATA
        if isinstance(leaf, Unworkable):
            return BUG
        if isinstance(leaf, DeadlineExceeded) or (
            isinstance(leaf, StorageError) and leaf.sqlstate == TRANSACTION_TIMEOUT
        ):
            return TIMEOUT
        if isinstance(leaf, StorageError) and leaf.sqlstate in GIVEN_UP:
            return ERROR
    return None


class Probe:
    """Tests by repeated small commits, on its own connection, whether PostgreSQL and the network serve others.

    Times exclude what the attempt itself computed, because no answer can arrive meanwhile.
    """

    def __init__(
        self, connect: Callable[[str], Awaitable[Connection]], sessions: list[int], meter: CpuMeter, timeout_s: float
    ) -> None:
        """`sessions` are the backends of the term, which must not wait for a lock."""
        self._connect = connect
        self._sessions = sessions
        self._meter = meter
        self._timeout_s = timeout_s
        self._connection: Connection | None = None
        self._proved_at = float("-inf")
        self._longest_s = 0.0

    def begin(self) -> None:
        """Begin an attempt. Earlier answers do not matter."""
        self._longest_s = 0.0

    @property
    def serves(self) -> bool:
        """Whether PostgreSQL has served others ever since `begin`."""
        return max(self._longest_s, self._now() - self._proved_at) <= PROMPT_S + PROVE_EVERY_S

    async def run_once(self) -> None:
        """Make one commit. An error proves nothing."""
        try:
            if self._connection is None:
                self._connection = await self._connect("vivero:probe")
            proved = await attempts.prove(self._connection, self._sessions, trio.current_time() + self._timeout_s)
        except StorageError as error:
            log.info("PostgreSQL does not serve", error=describe(error))
            self._connection, proved = None, False
        if proved:
            now = self._now()
            self._longest_s, self._proved_at = max(self._longest_s, now - self._proved_at), now

    async def run(self, scope: trio.CancelScope) -> None:
        """Make commits repeatedly until cancelled. A task."""
        try:
            with scope:
                while True:
                    await trio.sleep(PROVE_EVERY_S)
                    await self.run_once()
        finally:
            if self._connection is not None:
                self._connection.abort()
                self._connection = None

    def _now(self) -> float:
        return trio.current_time() - self._meter.seconds


class Trials:
    """The attempts of a term while it tries commands one by one."""

    def __init__(
        self,
        partition: int,
        epoch: int,
        connect: Callable[[str], Awaitable[Connection]],
        sessions: list[int],
        timeout_s: float,
    ) -> None:
        self._partition, self._epoch = partition, epoch
        self._timeout_s = timeout_s
        self.meter = CpuMeter()
        self._probe = Probe(connect, sessions, self.meter, timeout_s)
        self._probing: trio.CancelScope | None = None
        self._began_s = self._began_at = 0.0
        self.under_way: Suspicion | None = None
        """The current attempt, whose command is not committed."""

    async def begin(self, writer: Connection, position: int, nursery: trio.Nursery) -> None:
        """Record an attempt before anything is loaded, decoded or computed for it, once in a term."""
        if self.under_way is not None and self.under_way.first == position:
            return
        if self._probing is None:
            self._probing = trio.CancelScope()
            await self._probe.run_once()
            nursery.start_soon(self._probe.run, self._probing)
        await attempts.begin(writer, self._partition, self._epoch, position)
        self._probe.begin()
        self._began_s, self._began_at = self.meter.seconds, given_time()
        self.under_way = Suspicion(self._partition, self._epoch, position, position, True)

    def passed(self, more: bool) -> None:
        """The command is committed. `more` tells that further commands are tried alone."""
        self.under_way = None
        if not more and self._probing is not None:
            self._probing.cancel()
            self._probing = None

    def cause(self, error: BaseException | None, beat: Beat) -> str | None:
        """The cause of the end of the current attempt, if it counts.

        A very short attempt does not count, because there was no time to test PostgreSQL.
        """
        seen = symptom(error, beat)
        if seen in (None, BUG, DATA):
            return seen
        if seen == ERROR:
            return seen if self._probe.serves else None
        own_s = self.meter.seconds - self._began_s
        limit_s = beat.limit_s if seen == BEAT else self._timeout_s
        waited = given_time() - self._began_at > limit_s / 2
        proved = own_s > limit_s / 2 or (waited and self._probe.serves)
        log.warning(
            "an attempt took too long", position=self.under_way and self.under_way.first, error=describe_failure(error),
            seen=seen, computed_s=round(own_s, 3), counts=proved,
        )  # fmt: skip
        return seen if proved else None
