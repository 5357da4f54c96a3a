"""Jobs, user tasks, timers, subscriptions and incidents of a snapshot as objects of the state."""

from __future__ import annotations

from vivero.core.snapshots import wait_entries
from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.core.snapshots.format import Snapshot
from vivero.core.state import loaded_waits
from vivero.core.state.state import State
from vivero.core.state.subscription_index import INDEXED_BY


def add(state: State, snapshot: Snapshot) -> None:
    """Add all of them to the state and to their elements. Raises InvalidSnapshot."""
    for number, entry in enumerate(snapshot.subscriptions):
        if entry.correlation_key is None and entry.kind not in INDEXED_BY:
            place = f"subscriptions[{number}].correlationKey"
            raise InvalidSnapshot(f"{place}: a subscription of kind '{entry.kind}' has one")
    for table, wait in wait_entries.TABLES.items():
        entries = getattr(snapshot, table)
        loaded_waits.add(state, table, (wait.row(entry, state.elements[int(entry.element_key)]) for entry in entries))
