"""Signals: all elements that wait now get the signal, and it starts processes. BPMN 2.0.2 §10.5.5.

Delivery goes in pages, each a command of its own, so that any number of receivers does not block the log. A signal
that an element throws goes to the element's own instance tree first, before the element completes. It reaches the
elements of other partitions that wait when it arrives there.
"""

from __future__ import annotations

import msgspec

from vivero.core.events.signal import KIND
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Rejection, Reply, Send
from vivero.core.records.messages import CompleteThrow, Offer, StartInstance, TriggerSubscription
from vivero.core.records.signals import BroadcastSignal, DeliverSignal, SignalBroadcast, SignalReply
from vivero.core.shared.deliveries import distribute, page_of
from vivero.core.shared.variables import texts_of
from vivero.core.view import View

SUBSCRIPTIONS_PER_PAGE = 50
"""Other commands wait for at most one page. A page twice as large doubled their wait and hardly sped up delivery."""


def needs_broadcast(command: BroadcastSignal, tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    if command.thrower is not None:
        yield Need(NeedKind.ELEMENT, command.thrower)
    yield Need(NeedKind.SIGNAL, (tenant, command.name, 0))


def broadcast(command: BroadcastSignal, view: View) -> Effects:
    key, variables = view.key(), texts_of(command.variables)
    yield SignalBroadcast(key, command.name, variables)
    told = _waiting_in_own_tree(command, view)[: _page_of(variables)]
    for subscription in told:
        yield Send(TriggerSubscription(subscription, Offer(command.name, variables)))
    if command.thrower is not None and command.completes:
        yield Send(CompleteThrow(command.thrower))
    yield Send(DeliverSignal(key, command.name, 0, variables, told))
    for partition in view.other_partitions():
        yield Send(DeliverSignal(key, command.name, 0, variables, partition=partition))
    starts = view.starts().named(view.tenant, KIND, command.name)
    yield from distribute(
        (), [StartInstance(view.key(), one.definition, one.element, variables) for one in starts], variables
    )
    if command.thrower is None:
        yield Reply(SignalReply(view.tenant, key))


def broadcast_rejected(command: BroadcastSignal, _rejection: Rejection, _view: View) -> Effects:
    """The throwing element completes nevertheless."""
    if command.thrower is not None and command.completes:
        yield Send(CompleteThrow(command.thrower))


def _waiting_in_own_tree(command: BroadcastSignal, view: View) -> tuple[int, ...]:
    """Up to one page of waiting subscriptions in the thrower's own instance tree, oldest first, by key."""
    thrower = None if command.thrower is None else view.element(command.thrower)
    if thrower is None:
        return ()
    waiting = view.state.waiting[KIND].get((view.tenant, command.name), {})
    own = sorted(key for key, subscription in waiting.items() if subscription.element.tree is thrower.tree)
    return tuple(own[:SUBSCRIPTIONS_PER_PAGE])


def needs_deliver(command: DeliverSignal, tenant: str) -> Needs:
    yield Need(NeedKind.SIGNAL, (tenant, command.name, command.after))


def deliver(command: DeliverSignal, view: View) -> Effects:
    """Deliver to the subscriptions of the loaded page, and to those that were in memory already.

    A signal of another partition gets a key of this one: all elements that wait here when it arrives get it.
    """
    if not view.is_of_this_partition(command.key):
        command = msgspec.structs.replace(command, key=view.key(), partition=0)
    last = view.signal_page(command.name, command.after)
    waiting = view.state.waiting[KIND].get((view.tenant, command.name), {})
    upto = command.upto if last is None else min(last + 1, command.upto)
    keys = sorted(key for key in waiting if command.after < key < upto and key not in command.told)
    offer, page = Offer(command.name, command.variables), _page_of(command.variables)
    for key in keys[:page]:
        yield Send(TriggerSubscription(key, offer))
    if len(keys) > page:
        yield Send(_page_after(command, keys[page - 1]), later=True)
    elif last is not None and last < command.upto:
        yield Send(_page_after(command, last), later=True)


def _page_of(variables: dict[str, str]) -> int:
    """The number of receivers in one command."""
    return min(SUBSCRIPTIONS_PER_PAGE, page_of(variables))


def _page_after(command: DeliverSignal, after: int) -> DeliverSignal:
    told = tuple(key for key in command.told if key > after)
    return DeliverSignal(command.key, command.name, after, command.variables, told)
