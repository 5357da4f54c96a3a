"""Moves of slots. The routes change with the event, so that the rest of the batch goes by the new ones."""

from __future__ import annotations

from dataclasses import replace

from vivero.core.partitions.routes import Routes
from vivero.core.records.slots import HeldCommandsSent, SlotsHeld, SlotsMoved, SlotsReleased
from vivero.core.state.slot_moves import SlotMove
from vivero.core.state.state import State


def slots_moved(state: State, event: SlotsMoved) -> SlotMove:
    _reroute(state, state.routes.with_owner(event.slots, event.to))
    return _add(state, SlotMove(event.key, "MOVED", event.slots, event.to, event.senders))


def slots_held(state: State, event: SlotsHeld) -> SlotMove:
    if state.routes.detour is not None:  # a replay knows no routes
        _reroute(state, replace(state.routes, detour=replace(state.routes.detour, held=True)))
    return _add(state, SlotMove(event.key, "HELD"))


def held_commands_sent(state: State, event: HeldCommandsSent) -> SlotMove:
    return _add(state, SlotMove(event.key, "SENT", to=_new_owner(state.routes), count=event.count))


def slots_released(state: State, event: SlotsReleased) -> SlotMove:
    to = _new_owner(state.routes)
    state.rerouted = True
    _reroute(state, replace(state.routes, detour=None))
    return _add(state, SlotMove(event.key, "RELEASED", to=to))


def _new_owner(routes: Routes) -> int:
    """The owner of the moved slots; 0 in a replay, which knows no routes."""
    return 0 if routes.detour is None else routes.owner_of(min(routes.detour.slots)) or 0


def _reroute(state: State, routes: Routes) -> None:
    state.link(state.routing, "routes", routes)
    state.link(state.routing, "sending", routes.for_sending(state.partition))


def _add(state: State, row: SlotMove) -> SlotMove:
    state.add(row)
    return row
