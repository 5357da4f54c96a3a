"""Statements that are piggybacked on a batch: run at the end of its transaction, answered after its commit.

A worker that waits for jobs gets those that a batch creates from the batch itself: one flush and one round trip instead
of two (docs/adr/0011). The worst that a piggybacked statement can do is to make its batch
run once more without it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from vivero.storage.postgres.driver import Call, Result

Subject = tuple[str, str]
"""A job type and a tenant."""


class PiggybackedStatement(Protocol):
    """Somebody who waits for jobs of a type, and the statement that leases them. Neither answer to it may wait."""

    @property
    def subject(self) -> Subject: ...

    @property
    def call(self) -> Call: ...

    def arrived(self, result: Result) -> bool:
        """The batch is committed, and this is what the statement gave: whether it left nothing of the type behind."""

    def lost(self) -> None:
        """The batch was not committed, or nobody knows."""


class PiggybackedStatements:
    """Those of one batch, each of whom is told once how it ended."""

    def __init__(self, piggybacked: Sequence[PiggybackedStatement] = ()) -> None:
        self._piggybacked = piggybacked

    @property
    def calls(self) -> list[Call]:
        """Their statements."""
        return [statement.call for statement in self._piggybacked]

    def left(self, results: Sequence[Result], available: Mapping[Subject, int]) -> dict[Subject, int]:
        """The batch is committed: tells them, whose results are the last ones, what of the jobs there may be left."""
        piggybacked, self._piggybacked = self._piggybacked, ()
        answered = zip(piggybacked, results[len(results) - len(piggybacked) :], strict=True)
        served = {statement.subject for statement, result in answered if statement.arrived(result)}
        return {subject: count for subject, count in available.items() if subject not in served}

    @contextmanager
    def told(self) -> Generator[None]:
        """Around the commit: whoever was not told of it by then is told that the batch is lost."""
        try:
            yield
        finally:
            self.lose()

    def lose(self) -> None:
        """The batch is lost, or nobody knows."""
        piggybacked, self._piggybacked = self._piggybacked, ()
        for statement in piggybacked:
            statement.lost()
