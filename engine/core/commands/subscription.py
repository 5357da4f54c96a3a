"""Trees hear of messages and signals that they wait for, and begin by them."""

from __future__ import annotations

from engine.core.needs import Need, NeedKind, Needs
from engine.core.records import (
    AcknowledgeCorrelation,
    Effects,
    InstanceCreated,
    MessageReceived,
    MessageReply,
    RejectCorrelation,
    ReleaseStart,
    Reply,
    Send,
    StartInstance,
    SubscriptionTriggered,
    TriggerSubscription,
    VariableSet,
)
from engine.core.shared import events
from engine.core.state import Subscription
from engine.core.view import View


def needs(command: TriggerSubscription, tenant: str) -> Needs:
    yield Need(NeedKind.SUBSCRIPTION, command.key)


def trigger(command: TriggerSubscription, at: View) -> Effects:
    """What waits no longer takes nothing; a message then goes back to its channel."""
    subscription, offer = at.subscription(command.key), command.offer
    if subscription is None or not _takes(subscription):
        if offer.message is not None:
            yield Send(RejectCorrelation(command.key, at.tenant, offer))
        return
    element, instance = subscription.element, subscription.element.instance
    yield SubscriptionTriggered(subscription.key)
    if offer.message is not None:
        yield MessageReceived(
            at.key(),
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
    yield from events.happens(element, subscription.target, offer.variables, at)
    if offer.message is not None and offer.request is not None:
        yield Reply(MessageReply(instance.tenant, offer.message, instance.key), to=offer.request)


def _takes(subscription: Subscription) -> bool:
    return subscription.state == "CREATED" and events.can_happen(subscription.type, subscription.element)


def needs_start(command: StartInstance, tenant: str) -> Needs:
    yield Need(NeedKind.DEFINITION, command.definition_key)


def start(command: StartInstance, at: View) -> Effects:
    """What the event brings is there before anything else is evaluated, unless mappings of the start event choose.

    A definition that was deleted meanwhile starts nothing any more, and its lock is given back.
    """
    definition = at.definition(command.definition_key)
    if definition is None or definition.state == "DELETED":
        if command.start_lock is not None and definition is not None:
            yield Send(ReleaseStart(command.key, definition.tenant, definition.process_id, command.start_lock))
        return
    maps = bool(at.model(definition.key).nodes[command.element].outputs)
    yield InstanceCreated(
        command.key,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        definition.tenant,
        None,
        (),
        None,
        (command.element, command.variables if maps else {}),
        command.start_lock,
    )
    for name, value in () if maps else command.variables.items():
        yield VariableSet(at.key(), command.key, name, value)
    offer = command.offer
    if offer is not None and offer.message is not None and command.subscription is not None:
        yield MessageReceived(
            at.key(),
            offer.message,
            command.subscription,
            offer.name,
            offer.correlation_key,
            command.key,
            command.element,
        )
