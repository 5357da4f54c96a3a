"""How many executions run at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class JobTracker:
    """Counts running executions, and says how many more to pull.

    It asks for none while at least `min_concurrent` run, and then for as many as are missing to `max_concurrent`. The
    gap between the two makes pulls few and large.
    """

    min_concurrent: int
    max_concurrent: int
    running: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.min_concurrent <= self.max_concurrent:
            raise ValueError("jobs.min_concurrent must be at least 1 and at most jobs.max_concurrent")

    def next_batch_size(self) -> int | None:
        """How many executions to pull; None while enough run."""
        return self.max_concurrent - self.running if self.running < self.min_concurrent else None

    def dispatched(self) -> None:
        self.running += 1

    def completed(self) -> None:
        self.running -= 1
