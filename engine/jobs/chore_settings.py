"""Settings of the program's own chores: how often each runs, and how much it does at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """The deletion of expired messages. Seconds and messages."""

    every_s: float = 1.0
    messages: int = 500
    pause_s: float = 0.05
    """The pause between two batches while there is more to delete."""

    def __post_init__(self) -> None:
        if self.messages < 1 or self.every_s <= 0:
            raise ValueError("messages must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Log partitions, the cursor and the element counts. Seconds and rows."""

    every_s: float = 2.0
    changes: int = 20_000
    """The number of differences of element counts that are added up at once."""

    def __post_init__(self) -> None:
        if self.changes < 1 or self.every_s <= 0:
            raise ValueError("changes must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long ended rows and audit records stay, and how they are deleted."""

    ended_days: float = 30.0
    """0 keeps them for ever."""
    audit_days: float = 365.0
    """How long records of the audit log stay, by the database's time; 0 keeps them for ever."""
    every_s: float = 60.0
    rows: int = 500
    """Rows of one table that are deleted at once."""
    pause_s: float = 0.2
    """The pause between two batches while there is more to delete."""

    def __post_init__(self) -> None:
        if min(self.ended_days, self.audit_days) < 0 or self.rows < 1 or self.every_s <= 0:
            raise ValueError(
                "ended_days and audit_days must not be negative, rows must be at least 1, and every_s more than 0"
            )
