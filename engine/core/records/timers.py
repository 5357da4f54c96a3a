"""Timers: commands and events."""

from __future__ import annotations

from typing import ClassVar

from vivero.engine.core.records.base import Command, Event


class TriggerTimer(Command, frozen=True):
    """A timer is due. One that was moved, cancelled or triggered since does nothing: `due_at` must still be its own."""

    intent: ClassVar[str] = "TIMER:TRIGGER"
    key: int
    due_at: int


class FireTimer(Command, frozen=True):
    """A person wants a timer to fire now, whatever its due date."""

    intent: ClassVar[str] = "TIMER:FIRE"
    key: int


class MoveTimer(Command, frozen=True):
    """A person wants a timer to fire at another time (epoch ms)."""

    intent: ClassVar[str] = "TIMER:MOVE"
    key: int
    due_at: int


class TimerScheduled(Event, frozen=True):
    """A timer is due at `due_at` (epoch ms). `element` waits for it, or, for a process start, `definition` does.

    `repetitions`: how often it will still fire, this time included, -1 without end. `cycle`: what the next due date is
    computed from: (interval or cron text, zone, anchor in epoch ms, number of this occurrence).
    """

    key: int
    element: int | None
    target: str
    type: str
    due_at: int
    repetitions: int = 1
    cycle: tuple[str, str, int, int] | None = None
    definition: int | None = None
    process_id: str | None = None
    tenant: str | None = None


class TimerTriggered(Event, frozen=True):
    key: int


class TimerCanceled(Event, frozen=True):
    key: int


class TimerFailed(Event, frozen=True):
    """Handling its trigger raised: it does not fire until a person tries again (resolve, fire or move)."""

    key: int


class TimerMoved(Event, frozen=True):
    """A person has given the timer another due date (epoch ms)."""

    key: int
    due_at: int
