"""Waiting for what must come about: here, and nowhere else, tests ask again and again.

A deadline is only a guard against tests that hang. It is generous, and no test asserts with it how fast something is.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

import trio

GUARD_S = 60.0
NOTHING = object()


class NotInTime(AssertionError):
    """Something that must happen has not, within a generous deadline."""


class _Question:
    """A question, and the newest answer to it."""

    def __init__(self, read: Callable[..., Any], what: str, accept: Callable[[Any], object]) -> None:
        self._what = what or getattr(read, "__qualname__", repr(read))
        self._accept = accept
        self.answer: Any = NOTHING
        self.failure: Exception | None = None

    def accepted(self, answer: Any) -> bool:
        self.answer, self.failure = answer, None
        return bool(self._accept(answer))

    def not_in_time(self, within_s: float) -> NotInTime:
        last = "there was no answer" if self.answer is NOTHING else f"the last answer was {self._shown()}"
        failed = "" if self.failure is None else f"; the last attempt raised {self.failure!r}"
        return NotInTime(f"not within {within_s} s: {self._what}; {last}{failed}")

    def _shown(self) -> str:
        is_long = isinstance(self.answer, str) and "\n" in self.answer
        return f"\n{self.answer}" if is_long else repr(self.answer)


async def eventually(
    read: Callable[..., Any],
    what: str = "",
    *,
    accept: Callable[[Any], object] = bool,
    within_s: float = GUARD_S,
    every_s: float = 0.01,
    despite: tuple[type[Exception], ...] = (),
) -> Any:
    """The first answer of `read()`, a function or a coroutine function, that `accept` finds true.

    `every_s=0` asks at each turn of the event loop: for a state that soon passes, and under a mock clock. An attempt
    that raises one of `despite` has no answer. All other exceptions pass through. Raises NotInTime.
    """
    question = _Question(read, what, accept)
    with trio.move_on_after(within_s):
        while True:
            try:
                answer = read()
                if question.accepted(await answer if inspect.isawaitable(answer) else answer):
                    return question.answer
            except despite as failure:
                question.failure = failure
            await trio.sleep(every_s)
    raise question.not_in_time(within_s) from question.failure


def eventually_sync(
    read: Callable[..., Any],
    what: str = "",
    *,
    accept: Callable[[Any], object] = bool,
    within_s: float = GUARD_S,
    every_s: float = 0.01,
    despite: tuple[type[Exception], ...] = (),
) -> Any:
    """The same as `eventually`, outside of Trio."""
    question = _Question(read, what, accept)
    deadline = time.monotonic() + within_s
    while True:
        try:
            if question.accepted(read()):
                return question.answer
        except despite as failure:
            question.failure = failure
        if time.monotonic() > deadline:
            raise question.not_in_time(within_s) from question.failure
        time.sleep(every_s)


async def eventually_rows(connection: Any, rows: list, query: str, *values: object) -> None:
    """Ask PostgreSQL until a query gives these rows."""

    async def read() -> list:
        return (await connection.execute(query, values)).rows

    await eventually(read, query, accept=lambda found: found == rows)


async def eventually_blocked(connection: Any, count: int = 1, pid: int | None = None) -> None:
    """Ask until so many sessions of the connection's database, or that of a process, wait for a lock."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        " AND pid <> pg_backend_pid() AND pid = coalesce($1, pid)"
    )
    await eventually(
        lambda: connection.execute(query, (pid,)),
        f"{count} sessions wait for locks",
        accept=lambda answer: answer.rows[0][0] >= count,
    )


class Changes:
    """Tells of each change of a state, so that a wait for one asks no more often."""

    def __init__(self) -> None:
        self._next = trio.Event()

    def tell(self) -> None:
        """The state has changed."""
        self._next.set()
        self._next = trio.Event()

    async def until(
        self, read: Callable[..., Any], *, accept: Callable[[Any], object] = bool, within_s: float = GUARD_S
    ) -> Any:
        """The first answer of `read()`, as that of `eventually`, asked again after each change. Raises NotInTime."""
        question = _Question(read, "", accept)
        with trio.move_on_after(within_s):
            while True:
                changed = self._next
                answer = read()
                if question.accepted(await answer if inspect.isawaitable(answer) else answer):
                    return question.answer
                await changed.wait()
        raise question.not_in_time(within_s)
