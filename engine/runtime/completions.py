"""Who waits for what comes of a command, or for the end of an instance (docs/design/log.md §8).

A waiter is served in the same uninterrupted step in which the consumer says what it committed and up to where
(`committed`): the watermark. Who registers for a position below the watermark is too late for that and is served from
what was remembered of the latest commits, or else from PostgreSQL by the next sweep, which is asked for at once. The
sweep asks for everything that is outstanding in one query, at least once a second and whenever a term begins: so the
outcomes of batches whose commit was in doubt, and of other nodes, arrive too. What is sent in this process is an
optimisation of that path, not a second one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec
import trio

from vivero.engine.core.outcomes import Ended
from vivero.engine.core.state.tree import Variable
from vivero.engine.runtime.appender.admission import Lost, Overloaded
from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage import log
from vivero.storage.log import Outcome
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection

__all__ = ["Completions", "CompletionsSettings", "NotToldHere", "Outcome", "Waiter"]

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class CompletionsSettings:
    """Limits of the completions."""

    waiters: int = 10_000
    sweep_s: float = 1.0
    recent: int = 4_096
    """Outcomes, and ends, of the latest commits that are remembered for those who register late."""
    recent_bytes: int = 16_384
    """Larger responses are not remembered, but read from the event log."""
    recent_bytes_of_variables: int = 2_048
    """Larger variables of an instance that ended are read from the database by who waits for it."""


class End(msgspec.Struct, frozen=True, gc=False):
    """How a process instance ended; its variables (name → JSON text), unless only the database has them."""

    state: str
    variables: Mapping[str, str] | None = None


class NotToldHere(Exception):
    """The program is stopping: what is waited for may well come, but this node will not tell it."""


class Waiter(Generic[V]):
    """Waits for one value; a context manager that forgets it afterwards."""

    __slots__ = ("_done", "_error", "_forget", "_value", "key")

    def __init__(self, key: int, forget: Callable[[Waiter[V]], None]) -> None:
        self.key = key
        """The position or the instance's key."""
        self._forget = forget
        self._done = trio.Event()
        self._value: V | None = None
        self._error: Exception | None = None

    @property
    def value(self) -> V | None:
        """The value, if it is there."""
        return self._value

    async def wait(self) -> V:
        """The value, when it is there; at once if it is, even past a deadline. Put a deadline around this.

        Raises:
            NotToldHere: the program is stopping (only who waits for an end).
            Lost: PostgreSQL crashed before the command was flushed (only who waits for an outcome).
        """
        if self._value is None and self._error is None:
            await self._done.wait()
        if self._value is not None:
            return self._value
        raise self._error or NotToldHere

    def fail(self, error: Exception) -> None:
        """Have `wait` raise, unless there is a value."""
        self._error = error
        self._done.set()

    def serve(self, value: V) -> None:
        """Give the waiter what it waits for; the first value counts."""
        if self._value is None:
            self._value = value
            self._done.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._forget(self)


class _Table(Generic[V]):
    """Waiters by key, and the values that were announced last."""

    __slots__ = ("_limit", "_order", "_recent", "waiters")

    def __init__(self, limit: int) -> None:
        self.waiters: dict[int, list[Waiter[V]]] = {}
        self._recent: dict[int, V] = {}
        self._order: deque[int] = deque()
        self._limit = limit

    def add(self, waiter: Waiter[V]) -> bool:
        """Register a waiter; True when it could be served at once."""
        value = self._recent.get(waiter.key)
        if value is not None:
            waiter.serve(value)
            return True
        self.waiters.setdefault(waiter.key, []).append(waiter)
        return False

    def remove(self, waiter: Waiter[V]) -> None:
        waiting = self.waiters.get(waiter.key)
        if waiting is None or waiter not in waiting:
            return
        waiting.remove(waiter)
        if not waiting:
            del self.waiters[waiter.key]

    def serve(self, key: int, value: V) -> bool:
        """Give everybody who waits for this key its value; whether there was anybody."""
        waiting = self.waiters.pop(key, None)
        for waiter in waiting or ():
            waiter.serve(value)
        return waiting is not None

    def fail(self, key: int, error: Exception) -> None:
        """Let nobody wait for this key any more."""
        for waiter in self.waiters.pop(key, ()):
            waiter.fail(error)

    def remember(self, key: int, value: V) -> None:
        """Keep a value for who comes late. The first of a key counts; the oldest keys are forgotten."""
        if key in self._recent:
            return
        self._recent[key] = value
        self._order.append(key)
        if len(self._order) > self._limit:
            del self._recent[self._order.popleft()]


class Completions:
    """The handle of requests and of the consumer; `run` is the child that sweeps."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], settings: CompletionsSettings | None = None
    ) -> None:
        self._connection = DedicatedConnection(connect)
        self._settings = settings = settings or CompletionsSettings()
        self._outcomes: _Table[Outcome] = _Table(settings.recent)
        self._ends: _Table[End] = _Table(settings.recent)
        self._waiting = 0
        self._stopping = False
        self._watermarks: dict[int, int] = {}
        self._due = trio.Event()

    # -- for requests; none of these has a checkpoint ---------------------------------------------------------------

    def register(self, partition: int, position: int) -> Waiter[Outcome]:
        """Wait for the answer to the command at `position`.

        Raises:
            Overloaded: too many are waiting.
        """
        waiter = self._enter(Waiter(position, self._forget_outcome))
        # Nobody has told us yet how far the partition is (the program was just started): look at once, too.
        if not self._outcomes.add(waiter) and position <= self._watermarks.get(partition, position):
            self._due.set()
        return waiter

    def register_end(self, instance_key: int) -> Waiter[End]:
        """Wait for the end of a process instance. One that ended long ago is found by the
        next sweep: who needs it sooner registers, and then reads.

        Raises:
            Overloaded: too many are waiting.
        """
        waiter = self._enter(Waiter(instance_key, self._forget_end))
        if not self._ends.add(waiter) and self._stopping:
            waiter.fail(NotToldHere())
        return waiter

    def give_up_ends(self) -> None:
        """The program is stopping: nobody waits for an end any more, which may be far. (Outcomes are near.)"""
        self._stopping = True
        for waiters in self._ends.waiters.values():
            for waiter in waiters:
                waiter.fail(NotToldHere())

    @property
    def waiting(self) -> int:
        """How many are registered."""
        return self._waiting

    def _enter(self, waiter: Waiter[Any]) -> Waiter[Any]:
        if self._waiting >= self._settings.waiters:
            raise Overloaded(f"{self._waiting} requests wait for what comes of their commands")
        self._waiting += 1
        return waiter

    def _forget_outcome(self, waiter: Waiter[Outcome]) -> None:
        self._waiting -= 1
        self._outcomes.remove(waiter)

    def _forget_end(self, waiter: Waiter[End]) -> None:
        self._waiting -= 1
        self._ends.remove(waiter)

    # -- for the consumer and the listener; none of these has a checkpoint either -----------------------------------

    def committed(self, partition: int, watermark: int, outcomes: Sequence[Outcome], ended: Sequence[Ended]) -> None:
        """A batch of this node was committed: everything up to `watermark` is known. Serves who waits for it."""
        self._watermarks[partition] = watermark
        for outcome in outcomes:
            if not self._outcomes.serve(outcome.position, outcome) and self._small(outcome):
                self._outcomes.remember(outcome.position, outcome)
        for key, state, variables in ended:
            end = End(state, self._small_texts(variables))
            if not self._ends.serve(key, end):
                self._ends.remember(key, end)

    def _small_texts(self, variables: Mapping[str, Variable]) -> dict[str, str] | None:
        texts = {name: variable.value for name, variable in variables.items()}
        return texts if sum(map(len, texts.values())) <= self._settings.recent_bytes_of_variables else None

    def _small(self, outcome: Outcome) -> bool:
        return outcome.response is None or len(outcome.response) <= self._settings.recent_bytes

    def processed(self, partition: int, watermark: int) -> None:
        """Another node has processed the partition up to `watermark`: what came of it is in the event log."""
        if watermark > self._watermarks.get(partition, 0):
            self._watermarks[partition] = watermark
            self.sweep_soon()

    def sweep_soon(self) -> None:
        """Ask PostgreSQL for everything outstanding now: a term began, or something may have been missed."""
        if self._outcomes.waiters or self._ends.waiters:
            self._due.set()

    # -- the child --------------------------------------------------------------------------------------------------

    async def run(self, beat: Beat) -> None:
        """Sweep when it is due, and once a second. A connection that is new may come after a crash."""
        async with self._connection.opened(beat) as connection:
            with beat.waiting(2 * CALL_TIMEOUT_S):
                await self.sweep_once(connection)
                await self.give_up_lost(connection)
            while True:
                with beat.waiting(2 * CALL_TIMEOUT_S):
                    await self.sweep_once(connection)
                with trio.move_on_after(self._settings.sweep_s):
                    await beat.idle(self._due.wait)
                beat.beat()

    def close(self) -> None:
        """Shut the sweeper's socket, so that a call behind a black hole ends."""
        self._connection.close()

    async def sweep_once(self, connection: Connection) -> None:
        """Ask for all outstanding outcomes and ends, and serve those that are there."""
        self._due = trio.Event()
        if self._outcomes.waiters:
            for outcome in await log.outcomes(connection, list(self._outcomes.waiters)):
                self._outcomes.serve(outcome.position, outcome)
        if self._ends.waiters:
            for key, state in await log.ended(connection, list(self._ends.waiters)):
                self._ends.serve(key, End(state))

    async def give_up_lost(self, connection: Connection) -> None:
        """Tell who waits for a command that PostgreSQL has lost. Call it when it may have crashed, after a sweep."""
        if self._outcomes.waiters:
            for position in await log.lost(connection, list(self._outcomes.waiters)):
                self._outcomes.fail(position, Lost(f"PostgreSQL crashed before it kept the command at {position}"))
