"""Subscriptions of elements to messages, signals and conditions."""

from __future__ import annotations

from vivero.core.records.messages import (
    MessageReceived,
    SubscriptionClosed,
    SubscriptionOpened,
    SubscriptionResumed,
    SubscriptionSuspended,
    SubscriptionTriggered,
)
from vivero.core.state.instance_tree import SUBSCRIPTION_WEIGHT, Subscription
from vivero.core.state.message_channels import Correlation
from vivero.core.state.state import State
from vivero.core.state.subscription_index import index_of


def subscription_opened(state: State, event: SubscriptionOpened) -> Subscription:
    element = state.elements[event.element]
    subscription = Subscription(
        event.key,
        element,
        event.target,
        event.type,
        event.kind,
        event.name,
        "CREATED",
        state.now,
        state.now,
        event.interrupting,
        event.correlation_key,
        element.instance.business_id,
    )
    state.add(subscription)
    state.link(state.subscriptions, event.key, subscription)
    state.link(element.own_waits().subscriptions, event.key, subscription)
    found = index_of(state.waiting, subscription)
    if found is not None:
        index, place = found
        if place not in index:
            state.link(index, place, {})
        state.link(index[place], event.key, subscription)
    state.add_weight(element.tree, SUBSCRIPTION_WEIGHT)
    state.written += len(event.name) + len(event.correlation_key or "")
    return subscription


def subscription_triggered(state: State, event: SubscriptionTriggered) -> Subscription:
    subscription = state.subscriptions[event.key]
    state.edit(subscription)
    subscription.updated_at = state.now
    if subscription.interrupting:
        subscription.state = "CORRELATED"
    return subscription


def subscription_suspended(state: State, event: SubscriptionSuspended) -> Subscription:
    return _set_suspended(state, event.key, to=True)


def subscription_resumed(state: State, event: SubscriptionResumed) -> Subscription:
    return _set_suspended(state, event.key, to=False)


def _set_suspended(state: State, key: int, *, to: bool) -> Subscription:
    subscription = state.subscriptions[key]
    state.edit(subscription)
    subscription.suspended = to
    return subscription


def subscription_closed(state: State, event: SubscriptionClosed) -> Subscription:
    subscription = state.subscriptions[event.key]
    element = subscription.element
    state.edit(subscription)
    if subscription.state == "CREATED":
        subscription.state = "DELETED"
        subscription.updated_at = state.now
    subscription.ended_at = state.now
    state.unlink(state.subscriptions, event.key)
    state.unlink(element.waits.subscriptions, event.key)
    found = index_of(state.waiting, subscription)
    if found is not None:
        index, place = found
        state.unlink(index[place], event.key)
        if not index[place]:
            state.unlink(index, place)
    state.add_weight(element.tree, -SUBSCRIPTION_WEIGHT)
    return subscription


def message_received(state: State, event: MessageReceived) -> Correlation:
    instance = state.instance(event.instance)
    correlation = Correlation(
        event.key,
        event.message,
        event.subscription,
        event.name,
        event.correlation_key,
        instance.tree.key,
        instance.key,
        instance.definition_key,
        instance.process_id,
        instance.business_id,
        event.target,
        event.element,
        instance.tenant,
        state.now,
    )
    state.add(correlation)
    return correlation
