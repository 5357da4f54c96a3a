"""Move slots to another partition, so that each sender's commands stay in order (docs/design/partitions.md §6).

Slots move only to partitions with a higher number: a channel orders its messages by their keys.
"""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Command
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send
from vivero.core.records.slots import (
    HeldCommandsSent,
    MoveSlots,
    ProbeSlots,
    ReleaseSlots,
    SlotsHeld,
    SlotsMoved,
    SlotsReleased,
    SwitchSlots,
)
from vivero.core.rules import HELD_AT_ONCE
from vivero.core.view import View


def needs(_command: Command, _tenant: str) -> Needs:
    """Nothing: the new owner loads the channels when it needs them."""
    return iter(())


def release_needs(_command: ReleaseSlots, _tenant: str) -> Needs:
    yield Need(NeedKind.HELD, None)


def move(command: MoveSlots, view: View) -> Effects:
    """From here on the new owner handles the channels, and this partition sends on what arrives for them."""
    _check(command, view)
    senders = tuple(view.other_partitions())
    yield SlotsMoved(view.key(), command.slots, command.to, senders)
    for sender in senders:
        yield Send(SwitchSlots(sender, view.state.partition))


def _check(command: MoveSlots, view: View) -> None:
    routes, here = view.state.routes, view.state.partition
    if not here < command.to <= routes.partitions:
        raise Reject(
            RejectionCode.INVALID_ARGUMENT,
            f"Expected to move slots of partition {here} to a partition with a higher number, at most "
            f"{routes.partitions}, but got '{command.to}'",
        )
    others = [slot for slot in command.slots if routes.owner_of(slot) != here]
    if others:
        raise Reject(
            RejectionCode.INVALID_STATE, f"Expected to move slots of partition {here}, but it does not own {others}"
        )
    if routes.detour is not None:
        raise Reject(RejectionCode.INVALID_STATE, "Expected to move slots, but an earlier move is not complete")


def switch(command: SwitchSlots, view: View) -> Effects:
    """Hold what comes next, and ask the previous owner behind all that was sent before."""
    detour = view.state.routes.detour
    if detour is not None and not detour.held:
        yield SlotsHeld(view.key())
        yield Send(ProbeSlots(command.previous, view.state.partition))


def probe(command: ProbeSlots, _view: View) -> Effects:
    """All earlier commands of the sender were sent on: they stand before this one in the log."""
    yield Send(ReleaseSlots(command.sender))


def release(command: ReleaseSlots, view: View) -> Effects:
    """Send what was held. While there is much of it, send some, and hold what comes behind it."""
    if view.state.routes.detour is None:
        return
    if view.held_commands() > HELD_AT_ONCE:
        yield HeldCommandsSent(view.key(), HELD_AT_ONCE)
        yield Send(command, later=True)
    else:
        yield SlotsReleased(view.key())
