"""The event log back into state, by appliers alone (docs/design/execution.md §12).

The division into batches matters only for the revision of a tree; everything else follows from the events. Replay gives
out no keys: to go on, create the state with the `next_key` of the last batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vivero.core.apply import apply
from vivero.core.records.base import Event
from vivero.core.state import batches
from vivero.core.state.state import State


class Recorded(NamedTuple):
    """A row of the event log: the events at `position`, at the time `now_ms` (epoch milliseconds)."""

    position: int
    now_ms: int
    events: Sequence[Event]


def replay(state: State, recorded: Iterable[Iterable[Recorded]]) -> None:
    """Apply the rows of each batch to `state`, in the order of (position, seq).

    Raises:
        KeyError: an event refers to a row that no earlier event created: rows are missing or out of order.
    """
    for batch in recorded:
        for row in batch:
            apply_row(state, row)
        retained = batches.close(state)
        state.begin_batch()
        batches.committed(state, retained)


def apply_row(state: State, row: Recorded) -> None:
    """Apply the events of one row."""
    state.position, state.now = row.position, row.now_ms
    for event in row.events:
        apply(state, event)
    state.begin_command()
