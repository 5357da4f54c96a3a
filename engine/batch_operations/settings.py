"""Settings of batch operations."""

from __future__ import annotations

from dataclasses import dataclass

BATCH_OPERATIONS_PARTITION = 1
"""Its owner works on batch operations."""
MAX_IN_FLIGHT = 1_000


@dataclass(frozen=True, slots=True)
class BatchOperationSettings:
    """Limits of batch operations. Times are in seconds."""

    in_flight: int = 400
    """Commands that are sent and not yet processed."""
    delay_s: float = 0.1
    """Time for which the log may hold commands of batch operations while nobody else has any; beside others 5 ms."""
    portion: int = 100
    """Items sent at once."""
    scan_rows: int = 1_000
    """Items made of a filter at once."""
    scan_timeout_s: float = 10.0
    """A filter that takes longer for `batch_operations.scan_rows` rows fails its batch operation."""
    ended_days: float = 30.0
    """Time for which ended batch operations and their items stay, by the engine's clock; 0: for ever."""
    check_s: float = 1.0
    """Interval in which batch operations are looked for without a notification."""
    append_timeout_s: float = 5.0
    """Deadline of an append."""
    call_timeout_s: float = 5.0
    """Deadline of other calls."""

    def __post_init__(self) -> None:
        if not 0 < self.portion <= self.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(f"portion and in_flight must satisfy 0 < portion <= in_flight <= {MAX_IN_FLIGHT}")
        if min(self.delay_s, self.scan_timeout_s, self.check_s) <= 0 or self.scan_rows < 1 or self.ended_days < 0:
            raise ValueError("times must be greater than 0, scan_rows at least 1, and ended_days not negative")
