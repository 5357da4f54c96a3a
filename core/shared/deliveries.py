"""Deliver an event to its receivers. Each receiver gets its own copy of the variables, so a transaction delivers to a
limited number of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.core.records.effects import Effects, Send
from vivero.core.records.messages import CompleteThrow, DeliverEvent, Offer, StartInstance, TriggerSubscription
from vivero.core.rules import QUANTUM_CHARACTERS, QUANTUM_ROWS


def page_of(variables: dict[str, str]) -> int:
    """The number of receivers that may get these variables (JSON text) in one transaction, at least 1."""
    size = sum(map(len, variables.values()))
    return max(min(QUANTUM_CHARACTERS // max(size, 1), QUANTUM_ROWS // max(len(variables), 1)), 1)


def distribute(
    triggers: Sequence[TriggerSubscription],
    starts: Sequence[StartInstance],
    variables: dict[str, str],
    thrower: int | None = None,
) -> Effects:
    """Send the triggers first, then the starts. The element `thrower` continues after the last one."""
    page = page_of(variables)
    left = max(page - len(triggers), 0)
    yield from map(Send, triggers[:page])
    yield from map(Send, starts[:left])
    if len(triggers) > page or len(starts) > left:
        later = tuple(_trigger_with({}, one) for one in triggers[page:])
        yield Send(
            DeliverEvent(variables, later, tuple(_start_with({}, one) for one in starts[left:]), thrower), later=True
        )
    elif thrower is not None:
        yield Send(CompleteThrow(thrower))


def commands_of(command: DeliverEvent) -> tuple[list[TriggerSubscription], list[StartInstance]]:
    """The command's triggers and starts, with the variables."""
    triggers = [_trigger_with(command.variables, one) for one in command.triggers]
    return triggers, [_start_with(command.variables, one) for one in command.starts]


def _trigger_with(variables: dict[str, str], command: TriggerSubscription) -> TriggerSubscription:
    return msgspec.structs.replace(command, offer=_offer_with(variables, command.offer))


def _start_with(variables: dict[str, str], command: StartInstance) -> StartInstance:
    offer = None if command.offer is None else _offer_with(variables, command.offer)
    return msgspec.structs.replace(command, variables=variables, offer=offer)


def _offer_with(variables: dict[str, str], offer: Offer) -> Offer:
    return msgspec.structs.replace(offer, variables=variables)
