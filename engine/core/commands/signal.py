"""Signals: everybody who waits for one now gets it, and what starts with it starts. BPMN 2.0.2 §10.5.5.

Who waits is told in pages, each a command of its own, so that no number of them holds up the log.
"""

from __future__ import annotations

from engine.core.needs import Need, NeedKind, Needs
from engine.core.records import (
    BroadcastSignal,
    DeliverSignal,
    Effects,
    Offer,
    Reply,
    Send,
    SignalBroadcast,
    SignalReply,
    StartInstance,
    TriggerSubscription,
)
from engine.core.shared.variables import texts_of
from engine.core.view import View

SUBSCRIPTIONS_A_PAGE = 50
"""Others wait for a page at most: twice as many took them twice as long, and were done hardly sooner."""


def needs_broadcast(command: BroadcastSignal, tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    yield Need(NeedKind.SIGNAL, (tenant, command.name, 0))


def broadcast(command: BroadcastSignal, at: View) -> Effects:
    key, variables = at.key(), texts_of(command.variables)
    yield SignalBroadcast(key, command.name, variables)
    yield Send(DeliverSignal(key, command.name, 0, variables))
    for start in at.starts().named(at.tenant, "SIGNAL", command.name):
        yield Send(StartInstance(at.key(), start.definition, start.element, variables))
    if command.answered:
        yield Reply(SignalReply(at.tenant, key))


def needs_deliver(command: DeliverSignal, tenant: str) -> Needs:
    yield Need(NeedKind.SIGNAL, (tenant, command.name, command.after))


def deliver(command: DeliverSignal, at: View) -> Effects:
    """Those on the page that has been loaded, and those whose trees were in memory already."""
    last = at.signal_page(command.name, command.after)
    waiting = at.state.signals.get((at.tenant, command.name), {})
    upto = command.upto if last is None else min(last + 1, command.upto)
    keys = sorted(key for key in waiting if command.after < key < upto)
    offer = Offer(command.name, command.variables)
    for key in keys[:SUBSCRIPTIONS_A_PAGE]:
        yield Send(TriggerSubscription(key, offer))
    if len(keys) > SUBSCRIPTIONS_A_PAGE:
        yield Send(_behind(command, keys[SUBSCRIPTIONS_A_PAGE - 1]), later=True)
    elif last is not None and last < command.upto:
        yield Send(_behind(command, last), later=True)


def _behind(command: DeliverSignal, after: int) -> DeliverSignal:
    return DeliverSignal(command.key, command.name, after, command.variables)
