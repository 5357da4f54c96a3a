"""The steps of a move of slots, as rows that a batch saves."""

from __future__ import annotations

from vivero.core.state.rows import Row
from vivero.core.state.state import State


class SlotMove(Row):
    """`step` is MOVED, by the previous owner, or HELD, SENT or RELEASED, by a sender. `count`: those SENT."""

    step: str
    slots: tuple[int, ...] = ()
    to: int = 0
    senders: tuple[int, ...] = ()
    count: int = 0


def slot_moves(state: State) -> list[SlotMove]:
    """The steps that the current batch has made."""
    return [row for row in state.dirty if isinstance(row, SlotMove)]
