"""Several definitions of one event. BPMN 2.0.2 §10.5.5: an event that waits occurs when the first of them does, and one
that throws throws them all, in document order.

An event waits for messages, signals, at most one timer and at most one condition; two conditions can be one, with `or`.
It throws messages, signals and escalations. What ends its path can only be the last definition of an end event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vivero.core.bpmn.event_definitions.kind import THROWN
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.xml import Element, split

WAITS_FOR = frozenset(
    {"messageEventDefinition", "signalEventDefinition", "timerEventDefinition", "conditionalEventDefinition"}
)
ONCE = {"timerEventDefinition": "timer", "conditionalEventDefinition": "condition"}
THROWS = frozenset({"messageEventDefinition", "signalEventDefinition", "escalationEventDefinition"})
LAST = frozenset({"errorEventDefinition", "terminateEventDefinition", "cancelEventDefinition"})


def problems_of(definitions: Sequence[Element], place: Place) -> Iterator[tuple[Element, str]]:
    """The definitions that cannot stand beside the others, each with the reason."""
    seen: set[str] = set()
    for definition in definitions:
        tag = split(definition)[1]
        if place in THROWN:
            may_end = place is Place.END and tag in LAST
            if may_end and definition is not definitions[-1]:
                yield definition, f"{tag}: the definitions behind it would never be thrown"
            elif not may_end and tag not in THROWS:
                yield definition, f"{tag} cannot be one of several definitions of an event that throws"
        elif tag not in WAITS_FOR:
            yield definition, f"{tag} cannot be one of several definitions of an event that waits"
        elif tag in ONCE and tag in seen:
            yield definition, f"a second {ONCE[tag]}: an event waits for at most one {ONCE[tag]}"
        seen.add(tag)
