"""Signals: everybody who waits for one now gets it, and what starts with it starts. BPMN 2.0.2 §10.5.5.

Who waits is told in pages, each a command of its own, so that no number of them holds up the log. What a process throws
its own tree hears first, before it goes on.
"""

from __future__ import annotations

from vivero.engine.core.events.signal import KIND
from vivero.engine.core.needs import Need, NeedKind, Needs
from vivero.engine.core.records.effects import Effects, Rejection, Reply, Send
from vivero.engine.core.records.messages import CompleteThrow, Offer, StartInstance, TriggerSubscription
from vivero.engine.core.records.signals import BroadcastSignal, DeliverSignal, SignalBroadcast, SignalReply
from vivero.engine.core.shared.deliveries import distribute, page_of
from vivero.engine.core.shared.variables import texts_of
from vivero.engine.core.view import View

SUBSCRIPTIONS_PER_PAGE = 50
"""Others wait for a page at most: twice as many took them twice as long, and were done hardly sooner."""


def needs_broadcast(command: BroadcastSignal, tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    yield Need(NeedKind.SIGNAL, (tenant, command.name, 0))
    if command.thrower is not None:
        yield Need(NeedKind.ELEMENT, command.thrower)


def broadcast(command: BroadcastSignal, view: View) -> Effects:
    key, variables = view.key(), texts_of(command.variables)
    yield SignalBroadcast(key, command.name, variables)
    told = _own(command, view)[: _page_of(variables)]
    for subscription in told:
        yield Send(TriggerSubscription(subscription, Offer(command.name, variables)))
    if command.thrower is not None:
        yield Send(CompleteThrow(command.thrower))
    yield Send(DeliverSignal(key, command.name, 0, variables, told))
    starts = view.starts().named(view.tenant, KIND, command.name)
    yield from distribute(
        (), [StartInstance(view.key(), one.definition, one.element, variables) for one in starts], variables
    )
    if command.thrower is None:
        yield Reply(SignalReply(view.tenant, key))


def broadcast_rejected(command: BroadcastSignal, _rejection: Rejection, _view: View) -> Effects:
    """The process that throws it goes on without."""
    if command.thrower is not None:
        yield Send(CompleteThrow(command.thrower))


def _own(command: BroadcastSignal, view: View) -> tuple[int, ...]:
    """What waits in the thrower's own tree, the oldest first. A page of it; the pages tell the others, later."""
    thrower = None if command.thrower is None else view.element(command.thrower)
    if thrower is None:
        return ()
    waiting = view.state.waiting[KIND].get((view.tenant, command.name), {})
    own = sorted(key for key, subscription in waiting.items() if subscription.element.root is thrower.root)
    return tuple(own[:SUBSCRIPTIONS_PER_PAGE])


def needs_deliver(command: DeliverSignal, tenant: str) -> Needs:
    yield Need(NeedKind.SIGNAL, (tenant, command.name, command.after))


def deliver(command: DeliverSignal, view: View) -> Effects:
    """Those on the page that has been loaded, and those whose trees were in memory already."""
    last = view.signal_page(command.name, command.after)
    waiting = view.state.waiting[KIND].get((view.tenant, command.name), {})
    upto = command.upto if last is None else min(last + 1, command.upto)
    keys = sorted(key for key in waiting if command.after < key < upto and key not in command.told)
    offer, page = Offer(command.name, command.variables), _page_of(command.variables)
    for key in keys[:page]:
        yield Send(TriggerSubscription(key, offer))
    if len(keys) > page:
        yield Send(_behind(command, keys[page - 1]), later=True)
    elif last is not None and last < command.upto:
        yield Send(_behind(command, last), later=True)


def _page_of(variables: dict[str, str]) -> int:
    """How many are told at once."""
    return min(SUBSCRIPTIONS_PER_PAGE, page_of(variables))


def _behind(command: DeliverSignal, after: int) -> DeliverSignal:
    told = tuple(key for key in command.told if key > after)
    return DeliverSignal(command.key, command.name, after, command.variables, told)
