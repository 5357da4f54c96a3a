"""How much a stage changes at once, which is charged to its quantum and bounded."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.engine.core.records.effects import Fail, IncidentType, Send
from vivero.engine.core.records.instances import (
    ElementActivating,
    ElementCompleting,
    ElementTerminating,
    InstanceCreated,
)
from vivero.engine.core.rules import SEND_CHANGES, STAGE_CHANGES

FREE_CHANGES = 8
"""So many rows of a stage its item has paid for; each further one costs as much as an ending."""
_PAID_LATER = frozenset({InstanceCreated, ElementActivating, ElementCompleting, ElementTerminating})
"""Each of them brings an item."""


def cost_of(effects: Sequence[object], stage: str) -> int:
    """Of rows that bring no item of their own, and of follow-ups, beyond the free ones.

    Raises:
        Fail: there are more than may be changed at once. What ends an element may always.
    """
    changes = 0
    for effect in effects:
        if isinstance(effect, Send):
            changes += SEND_CHANGES
        elif type(effect) not in _PAID_LATER:
            changes += 1
    if changes > STAGE_CHANGES and stage != "terminate":
        text = f"It would change {changes} variables, waits and others at once, and {STAGE_CHANGES} is the limit."
        raise Fail(IncidentType.UNKNOWN, text)
    return max(changes - FREE_CHANGES, 0)
