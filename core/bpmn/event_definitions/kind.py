"""The reading of event definitions of one tag. Each file that is named after a tag has one, `KIND`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vivero.core.bpmn.model import SingleEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place
from vivero.core.bpmn.reading.references import EventReading

STARTS = frozenset({Place.PROCESS_START, Place.EVENT_SUB_PROCESS_START})
CAUGHT = STARTS | {Place.CATCH, Place.BOUNDARY}
THROWN = frozenset({Place.THROW, Place.END})


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a definition. At one place no two events may wait for the same target."""

    tag: str
    """The tag of the target: message, signal, error or escalation. The attribute is `messageRef` and so on."""
    attribute: str
    """The attribute that identifies the target: its name or code."""
    every: bool = False
    """Whether a definition without a reference waits for all targets."""


@dataclass(frozen=True, slots=True)
class EventKind:
    what: str
    """The name in problems, such as "a message event"."""
    places: frozenset[Place]
    read: Callable[[EventReading], SingleEvent | None]
    children: frozenset[str] = frozenset()
    """The executed or accepted BPMN child elements, by local name."""
    reference: Reference | None = None
    behind_gateway: bool = False
    """Whether it may follow an event-based gateway."""
    throwing_extensions: frozenset[str] = frozenset()
    """The executed `zeebe:` elements of an event that throws it."""
    throwing_definition_extensions: frozenset[str] = frozenset()
    """The executed `zeebe:` elements of the definition in an event that throws it."""
    definition_extensions: frozenset[str] = frozenset()
    """The executed `zeebe:` elements of the definition at every place."""
    check: Callable[[Member, Draft], None] | None = None
    """Checks an event of this kind once the whole draft is read."""
