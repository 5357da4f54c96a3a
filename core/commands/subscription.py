"""Deliver messages and signals to instance trees, or start instances with them."""

from __future__ import annotations

from vivero.core.commands.message import no_subscription
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Rejection, Reply, Send
from vivero.core.records.instances import InstanceCreated, VariableSet
from vivero.core.records.messages import (
    AcknowledgeCorrelation,
    CompleteThrow,
    ConfirmStart,
    DeliverEvent,
    MessageReceived,
    MessageReply,
    Offer,
    RejectCorrelation,
    ReleaseStart,
    StartInstance,
    SubscriptionTriggered,
    TriggerSubscription,
)
from vivero.core.shared import occurrences
from vivero.core.shared.deliveries import commands_of, distribute
from vivero.core.state.instance_tree import Subscription
from vivero.core.view import View


def needs(command: TriggerSubscription, tenant: str) -> Needs:
    yield Need(NeedKind.SUBSCRIPTION, command.key)


def trigger(command: TriggerSubscription, view: View) -> Effects:
    """Trigger the subscription. If it does not wait any more, a message goes back to its channel."""
    subscription, offer = view.subscription(command.key), command.offer
    if subscription is None or not _can_take(subscription):
        if offer.message is not None:
            yield Send(RejectCorrelation(command.key, view.tenant, offer))
        return
    element, instance = subscription.element, subscription.element.instance
    yield SubscriptionTriggered(subscription.key)
    if offer.message is not None:
        yield MessageReceived(
            view.key(),
            offer.message,
            subscription.key,
            offer.name,
            offer.correlation_key,
            instance.key,
            subscription.target,
            element.key,
        )
        if not subscription.interrupting:
            yield Send(AcknowledgeCorrelation(subscription.key, instance.tenant, offer))
    yield from occurrences.happens(element, subscription.target, offer.variables, view, subscription)
    if offer.message is not None and offer.request is not None:
        yield Reply(MessageReply(instance.tenant, offer.message, instance.key), to=offer.request)


def trigger_rejected(command: TriggerSubscription, rejection: Rejection, view: View) -> Effects:
    """Give the message back if the subscription is gone. Else it keeps waiting, and the incident keeps the command."""
    offer = command.offer
    if offer.message is None:
        return
    if view.subscription(command.key) is None:
        yield Send(RejectCorrelation(command.key, view.tenant, offer))
    elif offer.request is not None:
        yield Reply(to=offer.request, rejection=rejection)


def _can_take(subscription: Subscription) -> bool:
    return subscription.state == "CREATED" and occurrences.can_happen(subscription.type, subscription.element)


def needs_deliver(_command: DeliverEvent, _tenant: str) -> Needs:
    """Nothing: the triggers and starts are commands with needs of their own."""
    return iter(())


def deliver(command: DeliverEvent, _view: View) -> Effects:
    yield from distribute(*commands_of(command), command.variables, command.thrower)


def deliver_rejected(command: DeliverEvent, rejection: Rejection, view: View) -> Effects:
    """No receiver gets the event. Handle each like a rejected command of its own."""
    triggers, starts = commands_of(command)
    for trigger_ in triggers:
        if trigger_.offer.message is not None:
            yield Send(RejectCorrelation(trigger_.key, view.tenant, trigger_.offer))
    for start_ in starts:
        yield from start_rejected(start_, rejection, view)
    if command.thrower is not None:
        yield Send(CompleteThrow(command.thrower))


def needs_start(command: StartInstance, tenant: str) -> Needs:
    yield Need(NeedKind.DEFINITION, command.definition_key)


def start(command: StartInstance, view: View) -> Effects:
    """Create the instance and set the event's variables before anything is evaluated.

    If the start event has output mappings, they select the variables instead. A definition that was deleted meanwhile
    starts nothing, and its lock is released.
    """
    definition, offer = view.definition(command.definition_key), command.offer
    if definition is None or definition.state == "DELETED":
        name, key = (offer.name, offer.correlation_key) if offer is not None else ("", "")
        yield from start_rejected(command, no_subscription(name, key), view)
        return
    maps = bool(view.model(definition.key).nodes[command.element].outputs)
    variables = _variables(command)
    instance = view.key() if command.partition else command.key
    yield InstanceCreated(
        instance,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        definition.tenant,
        _business_id(command),
        (),
        None,
        (command.element, variables if maps else {}),
        command.start_lock,
    )
    for name, value in () if maps else variables.items():
        yield VariableSet(view.key(), instance, name, value)
    if offer is not None:
        yield from _received(command, offer, instance, view)
    if command.start_lock is not None and instance != command.key:
        yield Send(ConfirmStart(command.key, instance, view.tenant, command.process_id, command.start_lock))


def _variables(command: StartInstance) -> dict[str, str]:
    """Those of all messages that start the instance together, of later ones over those of earlier ones."""
    if not command.kept:
        return command.variables
    of_all = [*(one.variables for one in command.kept), command.variables]
    return {name: value for variables in of_all for name, value in variables.items()}


def _business_id(command: StartInstance) -> str | None:
    """That of the latest message that has one."""
    ids = [one.business_id for one in command.kept]
    ids += [] if command.offer is None else [command.offer.business_id]
    return next((id for id in reversed(ids) if id is not None), None)


def _received(command: StartInstance, offer: Offer, instance: int, view: View) -> Effects:
    """Record that the instance got the message that started it, or the messages that started it together."""
    assert offer.message is not None, "signals are not offered to start events"
    assert command.subscription is not None, "a message starts an instance through a subscription"
    for one in command.kept:
        of_one = one.message, one.subscription, one.name
        yield MessageReceived(view.key(), *of_one, offer.correlation_key, instance, command.element)
    yield MessageReceived(
        view.key(),
        offer.message,
        command.subscription,
        offer.name,
        offer.correlation_key,
        instance,
        command.element,
    )
    if offer.request is not None:
        yield Reply(MessageReply(view.tenant, offer.message, instance), to=offer.request)


def start_rejected(command: StartInstance, rejection: Rejection, view: View) -> Effects:
    """Release the lock, so that other instances with the key can start, and answer the client."""
    if command.start_lock is not None:
        yield Send(ReleaseStart(command.key, view.tenant, command.process_id, command.start_lock))
    if command.offer is not None and command.offer.request is not None:
        yield Reply(to=command.offer.request, rejection=rejection)
