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
    """The maximum number of commands of batches that are appended and not yet processed."""
    delay_s: float = 0.1
    """About how long commands of clients wait behind those of batches. The number in flight follows it."""
    portion: int = 100
    """The maximum number of items that are sent at once."""
    scan_rows: int = 1_000
    """Items that are made of a filter at once."""
    scan_timeout_s: float = 10.0
    """A filter that takes longer for `scan_rows` rows fails its batch."""
    ended_days: float = 30.0
    """How long ended batches and their items stay, by the engine's clock; 0 keeps them for ever."""
    check_s: float = 1.0
    """How often the task looks for batches without a notification."""
    append_timeout_s: float = 5.0
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.portion <= self.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(f"portion and in_flight must satisfy 0 < portion <= in_flight <= {MAX_IN_FLIGHT}")
        if min(self.delay_s, self.scan_timeout_s, self.check_s) <= 0 or self.scan_rows < 1 or self.ended_days < 0:
            raise ValueError("times must be greater than 0, scan_rows at least 1, and ended_days not negative")
