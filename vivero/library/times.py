"""Times of the library, `datetime` with a time zone, and of the engine, epoch milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def to_ms(time: datetime) -> int:
    """Epoch milliseconds. Raises ValueError for a time without a time zone."""
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone: write datetime.now(UTC), not datetime.now()")
    return (time - EPOCH) // MILLISECOND


def from_ms(time: int) -> datetime:
    return EPOCH + time * MILLISECOND


def optional(time: int | None) -> datetime | None:
    return None if time is None else from_ms(time)
