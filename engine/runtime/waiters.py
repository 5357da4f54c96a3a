"""Waiting for the outcome of a command or the end of an instance, within this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import msgspec
import trio

V = TypeVar("V")


class End(msgspec.Struct, frozen=True, gc=False):
    """How a process instance ended, with its variables (name → JSON text); None: read them from the database."""

    state: str
    variables: Mapping[str, str] | None = None


class NotToldHere(Exception):
    """The program stops. The end may well come, but this node will not report it."""


class Done(Protocol):
    """Hears that a value has come. `trio.Event` is one."""

    def set(self) -> None: ...


class Waiter(Generic[V]):
    """Waits for one value. It is a context manager, which unregisters the waiter."""

    __slots__ = ("_done", "_error", "_forget", "_value", "key")

    def __init__(self, key: int, forget: Callable[[Waiter[V]], None], done: Done | None = None) -> None:
        """`done` is set with the value. By default the waiter has an event of its own."""
        self.key = key
        """The position of the command, or the key of the instance."""
        self._forget = forget
        self._done: Done = trio.Event() if done is None else done
        self._value: V | None = None
        self._error: Exception | None = None

    @property
    def value(self) -> V | None:
        """The value, if it has come."""
        return self._value

    async def wait(self) -> V:
        """Wait for the value, if `done` is an event. A value that has come is returned even after a deadline, which the
        caller sets.

        Raises:
            NotToldHere: the program stops (only for the end of an instance).
            Lost: PostgreSQL crashed before the command was durable (only for the outcome of a command).
        """
        if self._value is None and self._error is None and isinstance(self._done, trio.Event):
            await self._done.wait()
        value = self.result()
        if value is None:
            raise NotToldHere
        return value

    def result(self) -> V | None:
        """The value, if it has come. Raises as `wait` does."""
        if self._value is None and self._error is not None:
            raise self._error
        return self._value

    def fail(self, error: Exception) -> None:
        """Let `wait` raise, unless there is a value."""
        self._error = error
        self._done.set()

    def serve(self, value: V) -> None:
        """Give the waiter its value. Only the first value counts."""
        if self._value is None:
            self._value = value
            self._done.set()

    def close(self) -> None:
        """Unregister the waiter."""
        self._forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._forget(self)


class WaiterTable(Generic[V]):
    """Waiters by key, and the latest values."""

    __slots__ = ("_limit", "_order", "_recent", "waiters")

    def __init__(self, limit: int) -> None:
        self.waiters: dict[int, list[Waiter[V]]] = {}
        self._recent: dict[int, V] = {}
        self._order: deque[int] = deque()
        self._limit = limit

    def add(self, waiter: Waiter[V]) -> bool:
        """Register a waiter. True if it was served at once."""
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
        """Give all waiters of a key its value. True if there were any."""
        waiting = self.waiters.pop(key, None)
        for waiter in waiting or ():
            waiter.serve(value)
        return waiting is not None

    def fail(self, key: int, error: Exception) -> None:
        """Let all waiters of a key raise."""
        for waiter in self.waiters.pop(key, ()):
            waiter.fail(error)

    def remember(self, key: int, value: V) -> None:
        """Keep a value for waiters that come late. The first value of a key counts, and the oldest keys are dropped."""
        if key in self._recent:
            return
        self._recent[key] = value
        self._order.append(key)
        if len(self._order) > self._limit:
            del self._recent[self._order.popleft()]

    def forget_recent(self) -> None:
        """Drop the values that are kept for late waiters."""
        self._recent.clear()
        self._order.clear()
