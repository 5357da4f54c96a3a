"""Timers: commands and events."""

from __future__ import annotations

from typing import ClassVar

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, WhileSuspended


class TriggerTimer(Command, frozen=True):
    """The timer is due. It fires only if `due_at` is still its due date."""

    intent: ClassVar[str] = "TIMER:TRIGGER"
    home = homes.of_key
    sent_by = Sender.NODE
    while_suspended = WhileSuspended.WAIT
    has_waiter = True

    key: int
    due_at: int


class FireTimer(Command, frozen=True):
    """Fire the timer now, whatever its due date."""

    intent: ClassVar[str] = "TIMER:FIRE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int


class MoveTimer(Command, frozen=True):
    """Change the due date (epoch ms) of a timer."""

    intent: ClassVar[str] = "TIMER:MOVE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    due_at: int


class TimerScheduled(Event, frozen=True):
    """A timer is due at `due_at` (epoch ms). It belongs to `element`, or it starts `definition`.

    `repetitions`: how often it will still fire, including this time; -1: without end. `cycle`: the data for the next
    due date: (interval or cron text, zone, anchor in epoch ms, number of this occurrence).
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
    """Handling the trigger raised. The timer does not fire until somebody resolves the incident, fires or moves it."""

    key: int


class TimerSuspended(Event, frozen=True):
    """The timer was due while its process instance is suspended. It waits for the resumption."""

    key: int


class TimerMoved(Event, frozen=True):
    """The timer got another due date (epoch ms)."""

    key: int
    due_at: int
