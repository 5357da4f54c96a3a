"""Rows that elements wait for, as they come from the database or a snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from vivero.core.state.instance_tree import (
    INCIDENT_WEIGHT,
    JOB_WEIGHT,
    SUBSCRIPTION_WEIGHT,
    TIMER_WEIGHT,
    USER_TASK_WEIGHT,
)
from vivero.core.state.state import State
from vivero.core.state.subscription_index import add_loaded

WEIGHTS = {
    "jobs": JOB_WEIGHT,
    "user_tasks": USER_TASK_WEIGHT,
    "timers": TIMER_WEIGHT,
    "subscriptions": SUBSCRIPTION_WEIGHT,
    "incidents": INCIDENT_WEIGHT,
}
"""Table → the weight of a row. The state and the waits of an element have a dictionary for each table."""


def add(state: State, table: str, rows: Iterable[Any]) -> None:
    """Add loaded rows to the state, to their elements, and to the index of subscriptions."""
    of_state, of_waits, indexed = getattr(state, table), attrgetter(table), table == "subscriptions"
    for row in rows:
        of_state[row.key] = of_waits(row.element.own_waits())[row.key] = row
        if indexed:
            add_loaded(state.waiting, row)
