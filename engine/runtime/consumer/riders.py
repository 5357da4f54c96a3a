"""Statements of others that ride on a batch: run at its end, in its transaction, and answered after its commit.

Who waits for what a batch makes available has it looked for by the batch itself: one flush and one round trip instead
of two (docs/adr/0011). A rider can do no more harm than to have its batch done again without
it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from vivero.storage.postgres.driver import Call, Result

Subject = tuple[str, str]
"""A job type and a tenant."""


class Rider(Protocol):
    """Somebody who waits for jobs of a type, and the statement that leases them. Neither answer to it may wait."""

    @property
    def subject(self) -> Subject: ...

    @property
    def call(self) -> Call: ...

    def arrived(self, result: Result) -> bool:
        """The batch is committed, and this is what the statement gave: whether it left nothing of the type behind."""

    def lost(self) -> None:
        """The batch was not committed, or nobody knows."""


class Riders:
    """Those of one batch, each of whom is told once how it ended."""

    def __init__(self, riders: Sequence[Rider] = ()) -> None:
        self._riders = riders

    @property
    def calls(self) -> list[Call]:
        """Their statements."""
        return [rider.call for rider in self._riders]

    def left(self, results: Sequence[Result], available: Mapping[Subject, int]) -> dict[Subject, int]:
        """The batch is committed: tells them, whose results are the last ones, what of the jobs there may be left."""
        riders, self._riders = self._riders, ()
        answered = zip(riders, results[len(results) - len(riders) :], strict=True)
        served = {rider.subject for rider, result in answered if rider.arrived(result)}
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
        riders, self._riders = self._riders, ()
        for rider in riders:
            rider.lost()
