"""The number of changes of a stage, which is charged to its quantum and limited."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.records.effects import Fail, IncidentType, Send
from vivero.core.records.instances import (
    ElementActivating,
    ElementCompleting,
    ElementTerminating,
    InstanceCreated,
)
from vivero.core.rules import SEND_CHANGES, STAGE_CHANGES

FREE_CHANGES = 8
"""Changes of a stage that its item pays for. Each further one costs as much as ending an element."""
_PAID_BY_ITEMS = frozenset({InstanceCreated, ElementActivating, ElementCompleting, ElementTerminating})
"""Events that queue an item, which pays for them."""


def cost_of(effects: Sequence[object], stage: str) -> int:
    """The cost of changed rows without an item of their own, and of follow-ups, beyond the free ones.

    Raises:
        Fail: they exceed the limit. The stage that ends an element has none.
    """
    changes = 0
    for effect in effects:
        if isinstance(effect, Send):
            changes += SEND_CHANGES
        elif type(effect) not in _PAID_BY_ITEMS:
            changes += 1
    if changes > STAGE_CHANGES and stage != "terminate":
        text = f"It would change {changes} variables, waits and others at once, and {STAGE_CHANGES} is the limit."
        raise Fail(IncidentType.UNKNOWN, text)
    return max(changes - FREE_CHANGES, 0)
