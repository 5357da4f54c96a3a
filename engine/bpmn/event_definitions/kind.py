"""How event definitions of one tag are read: what each file of this folder says of its own as `KIND`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vivero.engine.bpmn.draft import Draft, Member, Place
from vivero.engine.bpmn.model import EventDefinition
from vivero.engine.bpmn.references import Reading

STARTS = frozenset({Place.PROCESS_START, Place.EVENT_SUB_PROCESS_START})
CAUGHT = STARTS | {Place.CATCH, Place.BOUNDARY}
THROWN = frozenset({Place.THROW, Place.END})


@dataclass(frozen=True, slots=True)
class Reference:
    """What a definition refers to, so that of two that wait for the same in one place the second is refused."""

    tag: str
    """A message, a signal, an error or an escalation; its attribute is `messageRef` and so on."""
    attribute: str
    """What tells one from another."""
    every: bool = False
    """Whether one without a reference waits for all of them."""


@dataclass(frozen=True, slots=True)
class EventKind:
    what: str
    """For problems: "a message event"."""
    places: frozenset[Place]
    read: Callable[[Reading], EventDefinition | None]
    children: frozenset[str] = frozenset()
    """The BPMN child elements that it executes or may have, by local name."""
    reference: Reference | None = None
    behind_gateway: bool = False
    """Whether it may stand behind an event-based gateway."""
    throwing_extensions: frozenset[str] = frozenset()
    """The `zeebe:` elements that execute on an event that throws it."""
    throwing_definition_extensions: frozenset[str] = frozenset()
    """Those that are found on its definition there as well."""
    definition_extensions: frozenset[str] = frozenset()
    """Those that execute on its definition, wherever it stands."""
    check: Callable[[Member, Draft], None] | None = None
    """Looks at an event with it when the whole draft is there."""
