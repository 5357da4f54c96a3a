"""Waiters for the outcome of a command or the end of an instance: the sending ends of their channels, by key.

A waiter is told once: it leaves the table before the message is sent. So one place in its channel is enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
import trio

from vivero.engine.outcomes.admission import Lost
from vivero.engine.outcomes.replies import Reply, tell
from vivero.storage.log.command_log import Appended, CommandOutcome

V = TypeVar("V")
W = TypeVar("W", bound="Waiter[Any]")


class InstanceEnd(msgspec.Struct, frozen=True, gc=False):
    """The end of a process instance, with its variables (name → JSON text); None: read them from the database."""

    state: str
    variables: Mapping[str, str] | None = None


class Table(Protocol[V]):
    """The part of a `WaiterTable` that its waiters need."""

    def remove(self, waiter: Waiter[V]) -> None: ...


class Waiter(Generic[V]):
    """The sending end for one value. It is a context manager, which unregisters the waiter."""

    __slots__ = ("_table", "key")

    def __init__(self, table: Table[V], key: int) -> None:
        self._table = table
        self.key = key
        """The position of the command, or the key of the instance."""

    def tell(self, value: V) -> None:
        """Send the value. It is dropped if the receiver has left."""
        raise NotImplementedError

    def close(self) -> None:
        """Unregister the waiter."""
        self._table.remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._table.remove(self)


class OutcomeWaiter(Waiter[CommandOutcome | Lost]):
    """Waits for the outcome of a command. `appended` is its place in the log, if the registration named it."""

    __slots__ = ("_number", "_send", "appended")

    def __init__(
        self,
        table: Table[CommandOutcome | Lost],
        key: int,
        send: trio.MemorySendChannel[Reply],
        number: int,
        appended: Appended | None,
    ) -> None:
        self._table, self.key = table, key
        self._send, self._number, self.appended = send, number, appended

    def tell(self, value: CommandOutcome | Lost) -> None:
        if isinstance(value, CommandOutcome):
            tell(self._send, Reply(self._number, self.appended, value))
        else:
            tell(self._send, Reply(self._number, self.appended, None, value))


class EndWaiter(Waiter[InstanceEnd]):
    """Waits for the end of an instance. It owns the sending end of the channel."""

    __slots__ = ("_send",)

    def __init__(self, table: Table[InstanceEnd], key: int, send: trio.MemorySendChannel[InstanceEnd]) -> None:
        super().__init__(table, key)
        self._send = send

    def tell(self, value: InstanceEnd) -> None:
        tell(self._send, value)

    def give_up(self) -> None:
        """Close the channel: the end may well come, but this node will not report it."""
        self._send.close()


class WaiterTable(Generic[V, W]):
    """Waiters by key, and the latest values."""

    __slots__ = ("_limit", "_order", "_recent", "count", "waiters")

    def __init__(self, limit: int) -> None:
        self.waiters: dict[int, list[W]] = {}
        self.count = 0
        """The number of waiters."""
        self._recent: dict[int, V] = {}
        self._order: deque[int] = deque()
        self._limit = limit

    def add(self, waiter: W) -> bool:
        """Register a waiter. True if it was told at once."""
        value = self._recent.get(waiter.key)
        if value is not None:
            waiter.tell(value)
            return True
        self.waiters.setdefault(waiter.key, []).append(waiter)
        self.count += 1
        return False

    def remove(self, waiter: Waiter[V]) -> None:
        """Forget a waiter that leaves. Nothing happens if it was told."""
        waiting = self.waiters.get(waiter.key)
        if waiting is None or waiter not in waiting:
            return
        waiting.remove(waiter)
        self.count -= 1
        if not waiting:
            del self.waiters[waiter.key]

    def tell(self, key: int, value: V) -> bool:
        """Send a value to all waiters of a key. True if there were any."""
        waiting = self.waiters.pop(key, None)
        if waiting is None:
            return False
        self.count -= len(waiting)
        for waiter in waiting:
            waiter.tell(value)
        return True

    def take_all(self) -> list[W]:
        """Forget all waiters, which are not told."""
        waiters = [waiter for waiting in self.waiters.values() for waiter in waiting]
        self.waiters.clear()
        self.count = 0
        return waiters

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
