"""Message channels (stored messages, subscriptions, locks) and start subscriptions of processes."""

from __future__ import annotations

from typing import Any

from vivero.core.records.conditionals import ConditionalsEvaluated
from vivero.core.records.messages import (
    ChannelSubscribed,
    ChannelUnsubscribed,
    CorrelationAnswered,
    MessageCorrelated,
    MessageExpired,
    MessagePublished,
    StartAwaited,
    StartClosed,
    StartCollected,
    StartDescribed,
    StartLocked,
    StartOpened,
    StartReleased,
)
from vivero.core.records.signals import SignalBroadcast
from vivero.core.state.message_channels import (
    CLOSED,
    CORRELATING,
    OPEN,
    ChannelSubscription,
    Message,
    MessageChannel,
    StartLock,
    Starts,
    StartSubscription,
)
from vivero.core.state.rows import Row
from vivero.core.state.state import State


def message_published(state: State, event: MessagePublished) -> Row:
    if event.deadline is None:
        return Row(event.key)
    channel = _channel(state, event.tenant, event.correlation_key)
    message = Message(
        event.key, channel, event.name, event.message_id, event.deadline, event.variables, business_id=event.business_id
    )
    state.add(message)
    state.link(channel.messages, event.key, message)
    channel.bytes += message.size()
    return message


def message_expired(state: State, event: MessageExpired) -> Row:
    """It stays in memory, as others do whose time is over. The database deletes it by its deadline."""
    message = _channel(state, event.tenant, event.correlation_key).messages.get(event.message)
    if message is None:
        return Row(event.message)
    state.edit(message)
    message.deadline = 0
    return message


def message_correlated(state: State, event: MessageCorrelated) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    message = channel.messages.get(event.message)
    if message is not None:
        state.edit(message)
        message.given = (*message.given, event.process_id)
    subscription = None if event.subscription is None else channel.subscriptions.get(event.subscription)
    if subscription is not None:
        state.edit(subscription)
        subscription.state = CORRELATING
    return subscription or message or Row(event.message)


def correlation_answered(state: State, event: CorrelationAnswered) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    subscription = channel.subscriptions.get(event.subscription)
    process_id = event.process_id
    if process_id is None and subscription is not None:
        process_id = subscription.process_id
    if process_id is not None and not event.accepted:
        _take_back(state, channel, event.message, process_id)
    if subscription is None:  # closed while the message was on its way
        return Row(event.subscription)
    state.edit(subscription)
    subscription.state = OPEN
    if not event.accepted:
        _close(state, channel, subscription)
    return subscription


def _take_back(state: State, channel: MessageChannel, key: int, process_id: str) -> None:
    message = channel.messages.get(key)
    if message is not None:
        state.edit(message)
        message.given = tuple(given for given in message.given if given != process_id)


def channel_subscribed(state: State, event: ChannelSubscribed) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    subscription = ChannelSubscription(
        event.key, channel, event.name, event.process_id, event.interrupting, business_id=event.business_id
    )
    state.add(subscription)
    state.link(channel.subscriptions, event.key, subscription)
    return subscription


def channel_unsubscribed(state: State, event: ChannelUnsubscribed) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    subscription = channel.subscriptions.get(event.key)
    if subscription is None:  # an erasure has taken away its beginning, which only a replay sees
        return Row(event.key)
    state.edit(subscription)
    _close(state, channel, subscription)
    return subscription


def _close(state: State, channel: MessageChannel, subscription: ChannelSubscription) -> None:
    subscription.state = CLOSED
    state.unlink(channel.subscriptions, subscription.key)


def start_locked(state: State, event: StartLocked) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    lock = StartLock(event.key, channel, event.process_id)
    state.add(lock)
    state.link(channel.locks, event.process_id, lock)
    return lock


def start_released(state: State, event: StartReleased) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    lock = channel.locks.get(event.process_id)
    if lock is None:  # as above
        return Row(event.key)
    state.edit(lock)
    lock.state = CLOSED
    state.unlink(channel.locks, event.process_id)
    return lock


def start_awaited(state: State, event: StartAwaited) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    place = event.process_id, event.element
    pending = channel.pending.get(place)
    if pending is None:
        pending = StartLock(event.key, channel, event.process_id, element=event.element)
        state.add(pending)
        state.link(channel.pending, place, pending)
    else:
        state.edit(pending)
    kept = tuple(one for one in pending.kept or () if one.name in event.names)
    pending.kept, pending.deadline = (*kept, *event.messages), event.deadline
    state.written += sum(len(text) for one in event.messages for text in one.variables.values())
    return pending


def start_collected(state: State, event: StartCollected) -> Row:
    channel = _channel(state, event.tenant, event.correlation_key)
    place = event.process_id, event.element
    pending = channel.pending.get(place)
    if pending is None:  # as above
        return Row(event.key)
    state.edit(pending)
    pending.state = CLOSED
    state.unlink(channel.pending, place)
    return pending


def start_opened(state: State, event: StartOpened) -> Row:
    start = StartSubscription(
        event.key,
        event.definition,
        event.tenant,
        event.process_id,
        event.element,
        event.kind,
        event.name,
        state.now,
        together=event.together,
    )
    state.add(start)
    for where, key in _indexes(_starts(state), start):
        if key not in where:
            state.link(where, key, {})
        state.link(where[key], start.key, start)
    state.link(_starts(state).rows, start.key, start)
    return start


def start_described(state: State, event: StartDescribed) -> Row:
    start = _starts(state).rows[event.key]
    state.edit(start)
    start.properties = event.properties
    return start


def start_closed(state: State, event: StartClosed) -> Row:
    starts = _starts(state)
    start = starts.rows[event.key]
    state.edit(start)
    start.state = CLOSED
    for where, key in _indexes(starts, start):
        state.unlink(where[key], start.key)
    state.unlink(starts.rows, start.key)
    return start


def signal_broadcast(_state: State, event: SignalBroadcast) -> Row:
    """Change nothing: the event is for the history. Other events have the effects."""
    return Row(event.key)


def conditionals_evaluated(_state: State, event: ConditionalsEvaluated) -> Row:
    """Change nothing, as with the broadcast of a signal."""
    return Row(event.key)


def _indexes(starts: Starts, start: StartSubscription) -> tuple[tuple[dict[Any, Any], Any], ...]:
    return (
        (starts.by_name, (start.tenant, start.kind, start.name)),
        (starts.by_process, (start.tenant, start.process_id)),
    )


def _channel(state: State, tenant: str, correlation_key: str) -> MessageChannel:
    """The channel. A handler has loaded it; only a replay may create it here."""
    channel = state.channels.get((tenant, correlation_key))
    if channel is None:
        channel = MessageChannel(tenant, correlation_key)
        state.link(state.channels, channel.id, channel)
    return channel


def _starts(state: State) -> Starts:
    if state.catalogue.starts is None:
        state.catalogue.starts = Starts()
    return state.catalogue.starts
