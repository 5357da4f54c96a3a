"""Statements that are piggybacked on a batch: run at the end of its transaction, answered after its commit.

A worker that waits for jobs gets those that a batch creates from the batch itself: one flush and one round trip instead
of two (docs/adr/0011). The worst that a piggybacked statement can do is to make its batch
run once more without it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from vivero.storage.postgres.driver import Call, QueryResult

Subject = tuple[str, str]
"""A job type and a tenant."""


class PiggybackedStatement(Protocol):
    """A statement that leases jobs of one type for a waiting worker. No method may wait."""

    @property
    def subject(self) -> Subject: ...

    @property
    def call(self) -> Call: ...

    def arrived(self, result: QueryResult) -> bool:
        """The batch is committed with this result. True if no job of the type is left."""

    def lost(self) -> None:
        """The batch was not committed, or its outcome is unknown."""


class PiggybackedStatements:
    """The statements of one batch. Each is told once how the batch ended."""

    def __init__(self, piggybacked: Sequence[PiggybackedStatement] = ()) -> None:
        self._piggybacked = piggybacked

    @property
    def calls(self) -> list[Call]:
        """The SQL of all statements."""
        return [statement.call for statement in self._piggybacked]

    def left(self, results: Sequence[QueryResult], available: Mapping[Subject, int]) -> dict[Subject, int]:
        """Give each statement its result, after the commit. Returns the jobs that may be left, by type and tenant."""
        piggybacked, self._piggybacked = self._piggybacked, ()
        answered = zip(piggybacked, results[len(results) - len(piggybacked) :], strict=True)
        served = {statement.subject for statement, result in answered if statement.arrived(result)}
        return {subject: count for subject, count in available.items() if subject not in served}

    @contextmanager
    def lost_without_result(self) -> Generator[None]:
        """A block around the commit. Statements that got no result in it are told that the batch is lost."""
        try:
            yield
        finally:
            self.lose()

    def lose(self) -> None:
        """Tell the statements that the batch is lost, or its outcome unknown."""
        piggybacked, self._piggybacked = self._piggybacked, ()
        for statement in piggybacked:
            statement.lost()
