"""The event log back into state: appliers and nothing else (docs/design/execution.md §12).

Which rows were one batch matters to a single column, the revision of a tree; everything else follows from the events.
Keys are not given out here: whoever goes on with the rebuilt state makes it with the `next_key` of the last batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vivero.engine.core.apply import apply
from vivero.engine.core.records.base import Event
from vivero.engine.core.state.state import State


class Recorded(NamedTuple):
    """A row of the event log: what happened at `position`, when it was `now_ms` (epoch milliseconds)."""

    position: int
    now_ms: int
    events: Sequence[Event]


def replay(state: State, batches: Iterable[Iterable[Recorded]]) -> None:
    """Apply the rows, in the order of (position, seq), to `state`; each batch of them is sealed as it once was.

    Raises:
        KeyError: an event is about something that no earlier event made: rows are missing, or out of order.
    """
    for batch in batches:
        for row in batch:
            apply_row(state, row)
        roots = state.seal()
        state.saved()
        state.committed(roots)


def apply_row(state: State, row: Recorded) -> None:
    """Apply the events of one row."""
    state.position, state.now = row.position, row.now_ms
    for event in row.events:
        apply(state, event)
    state.keep()
