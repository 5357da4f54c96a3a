"""Message channels: publish, store and correlate messages (docs/design/execution.md §11).

Each process id gets a message once, whatever its version. The subscription that has waited longest gets it; without
one, the message starts an instance of the latest version, if it has a start event for it. Stored messages go to new
subscriptions until they expire, oldest first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

import msgspec

from vivero.core.commands import pending_starts
from vivero.core.events.message import KIND
from vivero.core.needs import Need, NeedKind, Needs, NotLoaded
from vivero.core.records.base import Event
from vivero.core.records.effects import Effects, Reject, Rejection, RejectionCode, Reply, ReplyLater, Send
from vivero.core.records.messages import (
    AcknowledgeCorrelation,
    ChannelSubscribed,
    ChannelUnsubscribed,
    CloseSubscription,
    CompleteThrow,
    ConfirmStart,
    CorrelateMessage,
    CorrelationAnswered,
    ExpireMessage,
    KeptMessage,
    MessageCorrelated,
    MessageExpired,
    MessagePublished,
    MessageReply,
    Offer,
    OpenSubscription,
    PublishMessage,
    RejectCorrelation,
    ReleaseStart,
    StartCollected,
    StartInstance,
    StartLocked,
    StartReleased,
    TriggerSubscription,
)
from vivero.core.shared.deliveries import distribute
from vivero.core.shared.variables import texts_of
from vivero.core.state.message_channels import OPEN, ChannelSubscription, Message, MessageChannel, StartSubscription
from vivero.core.view import View

# ---- publishing


def needs_publish(command: PublishMessage | CorrelateMessage, tenant: str) -> Needs:
    yield Need(NeedKind.CHANNEL, (tenant, command.correlation_key))
    yield Need(NeedKind.STARTS, None)
    if isinstance(command, PublishMessage) and command.message_id is not None:
        yield Need(NeedKind.MESSAGE_ID, (tenant, command.correlation_key, command.name, command.message_id))


def publish(command: PublishMessage, view: View) -> Effects:
    channel = view.channel(view.tenant, command.correlation_key)
    if _is_duplicate(command, channel, view):
        yield from _answer_duplicate(command)
        return
    key, variables = view.key(), texts_of(command.variables)
    deadline = view.now + command.time_to_live_ms if command.time_to_live_ms > 0 else None
    yield MessagePublished(
        key,
        view.tenant,
        command.name,
        command.correlation_key,
        command.message_id,
        deadline,
        {} if deadline is None else variables,
        command.business_id,
    )
    offer = Offer(command.name, variables, key, command.correlation_key, None, command.business_id)
    receivers = _receivers(offer, channel, view, stored=deadline is not None).values()
    lost, pending = False, False
    if deadline is None:
        lost = not receivers
        pending = len(receivers) == 1 and not any(_begins(one, channel, view) for one in receivers)
    yield from _send_to_all(offer, receivers, command.thrower if command.completes else None, view, deadline or 0)
    if command.thrower is None:
        yield Reply(MessageReply(view.tenant, key, lost=lost, pending=pending))


def publish_rejected(command: PublishMessage, _rejection: Rejection, _view: View) -> Effects:
    """The element that publishes the message completes nevertheless."""
    if command.thrower is not None and command.completes:
        yield Send(CompleteThrow(command.thrower))


def _answer_duplicate(command: PublishMessage) -> Effects:
    """Reject a client's duplicate. An element completes: its message has been published before."""
    if command.thrower is None:
        raise Reject(
            RejectionCode.ALREADY_EXISTS,
            f"Expected to publish a new message with id '{command.message_id}', but a message with that id was "
            "already published",
        )
    if command.completes:
        yield Send(CompleteThrow(command.thrower))


def _is_duplicate(command: PublishMessage, channel: MessageChannel, view: View) -> bool:
    """Whether a stored message with the same name, correlation key and id exists."""
    if command.message_id is None:
        return False
    if not channel.complete and (command.name, command.message_id) not in channel.asked:
        raise NotLoaded(
            Need(NeedKind.MESSAGE_ID, (view.tenant, command.correlation_key, command.name, command.message_id))
        )
    return any(
        (message.name, message.message_id) == (command.name, command.message_id) and message.deadline > view.now
        for message in channel.messages.values()
    )


def _receivers(
    offer: Offer, channel: MessageChannel, view: View, *, stored: bool, without: int | None = None
) -> dict[str, ChannelSubscription | StartSubscription]:
    """By process id, one receiver each: the oldest subscription, else a start event of a process without a lock.

    `without`: the key of a subscription to leave out.
    """
    found: dict[str, ChannelSubscription | StartSubscription] = {}
    for subscription in channel.waiting(offer.name):
        fits = subscription.key != without and subscription.business_ids.include(offer.business_id)
        if fits and _can_take(subscription, stored):
            found.setdefault(subscription.process_id, subscription)
    for start in view.starts().named(view.tenant, KIND, offer.name):
        if start.process_id not in channel.locks and pending_starts.can_take(start, channel, view):
            found.setdefault(start.process_id, start)
    return found


def _can_take(subscription: ChannelSubscription, stored: bool) -> bool:
    """Whether the subscription can take a message now.

    While another message is on its way to it, stored messages wait for their turn. A message that is not stored goes
    to it at once, unless the subscription is interrupting."""
    return subscription.state == OPEN or not (subscription.interrupting or stored)


def _send_to_all(
    offer: Offer,
    receivers: Iterable[ChannelSubscription | StartSubscription],
    thrower: int | None,
    view: View,
    until: int = 0,
) -> Effects:
    """Record the receivers in the channel and send them the offer. The first one answers a waiting client."""
    triggers: list[TriggerSubscription] = []
    starts: list[StartInstance] = []
    for receiver in receivers:
        if isinstance(receiver, StartSubscription):
            starts += yield from _correlate_to_start([offer], receiver, view, until)
        else:
            triggers.append((yield from _correlate_to_subscription(offer, receiver)))
        offer = msgspec.structs.replace(offer, request=None)
    yield from distribute(triggers, starts, offer.variables, thrower)


def _send_to_subscription(offer: Offer, subscription: ChannelSubscription) -> Effects:
    yield Send((yield from _correlate_to_subscription(offer, subscription)))


def _correlate_to_subscription(
    offer: Offer, subscription: ChannelSubscription
) -> Generator[Event, None, TriggerSubscription]:
    assert offer.message is not None
    yield MessageCorrelated(
        offer.message, subscription.channel.tenant, offer.correlation_key, subscription.process_id, subscription.key
    )
    return TriggerSubscription(subscription.key, msgspec.structs.replace(offer, process_id=subscription.process_id))


def _send_to_start(offer: Offer, start: StartSubscription, view: View, until: int = 0) -> Effects:
    yield from map(Send, (yield from _correlate_to_start([offer], start, view, until)))


def _correlate_to_start(
    offers: Sequence[Offer], start: StartSubscription, view: View, until: int
) -> Generator[Event, None, tuple[StartInstance, ...]]:
    """Start an instance with the last of the offers; no instance if further messages start it together with them.

    With a correlation key the instance locks its process until it ends: no other one starts meanwhile. If the tenant is
    pinned to other partitions, the instance gets another key there, and names it (`ConfirmStart`). `until`: the last
    deadline of the offered messages (epoch ms); 0 if they are not stored.
    """
    *_, offer = offers
    lock, key = offer.correlation_key or None, view.key()
    kept: tuple[KeptMessage, ...] | None = ()
    for one in offers:
        assert one.message is not None, "signals are not offered by channels"
        yield MessageCorrelated(one.message, start.tenant, offer.correlation_key, start.process_id)
    if start.together:
        kept = yield from pending_starts.take(offers, start, key, view, until)
    if kept is None:
        return ()
    if lock is not None:
        yield StartLocked(key, start.tenant, offer.correlation_key, start.process_id)
    begun = StartInstance(
        *(key, start.definition, start.element, offer.variables, lock, start.key, offer, start.process_id),
        partition=view.partition_for_start(start.tenant, key) or 0,
        kept=kept,
    )
    return (begun,)


def correlate(command: CorrelateMessage, view: View) -> Effects:
    """Publish without storing. The answer names the first instance that gets the message. A process that awaits further
    messages to start gets none, as there is no instance to name."""
    channel = view.channel(view.tenant, command.correlation_key)
    variables, business_id = texts_of(command.variables), command.business_id
    offer = Offer(command.name, variables, None, command.correlation_key, view.request, business_id)
    receivers = _receivers(offer, channel, view, stored=False)
    receivers = {id: one for id, one in receivers.items() if _begins(one, channel, view)}
    if not receivers:
        raise Reject(RejectionCode.NOT_FOUND, no_subscription(command.name, command.correlation_key).reason)
    key = view.key()
    yield MessagePublished(key, view.tenant, command.name, command.correlation_key, business_id=business_id)
    offer = msgspec.structs.replace(offer, message=key)
    yield from _send_to_all(offer, receivers.values(), None, view)
    yield ReplyLater()


def _begins(receiver: ChannelSubscription | StartSubscription, channel: MessageChannel, view: View) -> bool:
    """Whether an instance gets the message that the receiver takes."""
    return isinstance(receiver, ChannelSubscription) or pending_starts.would_begin(
        receiver, channel, view, receiver.name
    )


def no_subscription(name: str, correlation_key: str) -> Rejection:
    """The answer to a message that is not stored and has no receiver."""
    return Rejection(
        RejectionCode.NOT_FOUND,
        f"Expected to find subscription for message with name '{name}' and correlation key '{correlation_key}', "
        "but none was found.",
    )


def expire(command: ExpireMessage, view: View) -> Effects:
    """Nobody gets the message, or the messages of the pending start, any more. Nothing happens if there is none."""
    channel = view.channel(command.tenant, command.correlation_key)
    if channel.is_here(command.key) and channel.messages[command.key].deadline > view.now:
        yield MessageExpired(command.key, command.tenant, command.correlation_key)
    for (process_id, element), pending in channel.pending.items():
        if pending.key == command.key:
            yield StartCollected(command.key, command.tenant, command.correlation_key, process_id, element)


# ---- waiting


def needs_channel(
    command: OpenSubscription
    | CloseSubscription
    | AcknowledgeCorrelation
    | RejectCorrelation
    | ConfirmStart
    | ExpireMessage,
    tenant: str,
) -> Needs:
    key = command.offer.correlation_key if hasattr(command, "offer") else command.correlation_key
    yield Need(NeedKind.CHANNEL, (command.tenant, key))
    if isinstance(command, OpenSubscription):
        yield Need(NeedKind.SUBSCRIPTION, command.key)
    elif isinstance(command, RejectCorrelation):
        yield Need(NeedKind.STARTS, None)


def open_subscription(command: OpenSubscription, view: View) -> Effects:
    """Add the subscription, and correlate the oldest stored message that its process has not got yet.

    Nothing happens if an element of this partition does not wait any more. The command that closes the subscription of
    another partition's element comes later than this one."""
    channel = view.channel(command.tenant, command.correlation_key)
    ended = view.is_of_this_partition(command.key) and view.subscription(command.key) is None
    if ended or command.key in channel.subscriptions:
        return
    yield ChannelSubscribed(
        command.key,
        command.tenant,
        command.correlation_key,
        command.name,
        command.process_id,
        command.interrupting,
        command.business_id,
    )
    subscription = ChannelSubscription(
        *(command.key, channel, command.name, command.process_id, command.interrupting), business_id=command.business_id
    )
    yield from _offer_oldest(subscription, view)


def close_subscription(command: CloseSubscription, view: View) -> Effects:
    channel = view.channel(command.tenant, command.correlation_key)
    if command.key in channel.subscriptions:
        yield ChannelUnsubscribed(command.key, command.tenant, command.correlation_key)


def acknowledge(command: AcknowledgeCorrelation, view: View) -> Effects:
    """The subscription keeps waiting, and takes the next stored message."""
    offer = command.offer
    assert offer.message is not None
    channel = view.channel(command.tenant, offer.correlation_key)
    subscription = channel.subscriptions.get(command.key)
    if subscription is None:
        return
    yield CorrelationAnswered(offer.message, command.tenant, offer.correlation_key, command.key, True)
    yield from _offer_oldest(subscription, view)


def _offer_oldest(subscription: ChannelSubscription, view: View) -> Effects:
    """Offer the oldest stored message that the subscription can take."""
    wanted = subscription.name, subscription.process_id, view.now, subscription.business_ids
    message = subscription.channel.oldest(*wanted)
    if message is not None:
        yield from _send_to_subscription(_offer_of(message), subscription)


def reject(command: RejectCorrelation, view: View) -> Effects:
    """Offer the message to the next receiver of the same process. Without one, the process has not got the message.

    If the subscription was closed or migrated while the message was on its way, only the offer knows the process.
    """
    offer = command.offer
    assert offer.message is not None
    channel = view.channel(command.tenant, offer.correlation_key)
    gone = channel.subscriptions.get(command.key)
    process_id = offer.process_id or (None if gone is None else gone.process_id)
    stored = channel.is_here(offer.message)
    yield CorrelationAnswered(offer.message, command.tenant, offer.correlation_key, command.key, False, process_id)
    receivers = _receivers(offer, channel, view, stored=stored, without=command.key)
    following = None if process_id is None else receivers.get(process_id)
    if isinstance(following, StartSubscription):
        yield from _send_to_start(offer, following, view, channel.messages[offer.message].deadline if stored else 0)
    elif following is not None:
        yield from _send_to_subscription(offer, following)
    elif offer.request is not None:
        yield Reply(to=offer.request, rejection=no_subscription(offer.name, offer.correlation_key))


def reject_rejected(command: RejectCorrelation, rejection: Rejection, view: View) -> Effects:
    """Remove the subscription and answer the client. Nobody else gets an offer."""
    offer = command.offer
    channel = view.state.channels.get((command.tenant, offer.correlation_key))
    if channel is not None and command.key in channel.subscriptions:
        yield ChannelUnsubscribed(command.key, command.tenant, offer.correlation_key)
    if offer.request is not None:
        yield Reply(to=offer.request, rejection=rejection)


def _offer_of(message: Message) -> Offer:
    """Raises NotLoaded if the message is large and its variables are not in memory."""
    key = message.channel.correlation_key
    if message.variables is None:
        raise NotLoaded(Need(NeedKind.BODY, (*message.channel.id, message.key)))
    return Offer(message.name, message.variables, message.key, key, business_id=message.business_id)


# ---- the one-instance lock


def confirm(command: ConfirmStart, view: View) -> Effects:
    """Let the lock have the key of its instance, which began in another partition."""
    lock = view.channel(command.tenant, command.correlation_key).locks.get(command.process_id)
    if lock is not None and lock.key == command.key:
        yield from _rename(command)


def confirm_rejected(command: ConfirmStart, _rejection: Rejection, view: View) -> Effects:
    """The same. Otherwise the lock would outlive its instance."""
    channel = view.state.channels.get((command.tenant, command.correlation_key))
    lock = None if channel is None else channel.locks.get(command.process_id)
    if lock is not None and lock.key == command.key:
        yield from _rename(command)


def _rename(command: ConfirmStart) -> Effects:
    where = command.tenant, command.correlation_key, command.process_id
    yield StartReleased(command.key, *where)
    yield StartLocked(command.instance, *where)


def needs_release(command: ReleaseStart, tenant: str) -> Needs:
    yield Need(NeedKind.CHANNEL, (command.tenant, command.correlation_key))
    yield Need(NeedKind.STARTS, None)


def release(command: ReleaseStart, view: View) -> Effects:
    """Remove the lock. The oldest stored message for a start event of the latest version starts the next instance."""
    channel = view.channel(command.tenant, command.correlation_key)
    lock = channel.locks.get(command.process_id)
    if lock is None or lock.key != command.key:
        return
    yield StartReleased(command.key, command.tenant, command.correlation_key, command.process_id)
    yield from _start_next(command, channel, view)


def _start_next(command: ReleaseStart, channel: MessageChannel, view: View) -> Effects:
    """Give stored messages to the start events that await them, the oldest first, until an instance starts."""
    starts = view.starts().of_process(command.tenant, command.process_id, KIND)
    by_name = {start.name: start for start in starts if pending_starts.can_take(start, channel, view)}
    stored = [channel.oldest(name, command.process_id, view.now) for name in by_name]
    taken: dict[str, list[Message]] = {}
    for message in sorted((one for one in stored if one is not None), key=lambda one: one.key):
        start = by_name[message.name]
        of_start = taken.setdefault(start.element, [])
        of_start.append(message)
        if pending_starts.would_begin(start, channel, view, *(one.name for one in of_start)):
            break
    for messages in taken.values():
        until = max(one.deadline for one in messages)
        begun = yield from _correlate_to_start(
            [_offer_of(one) for one in messages], by_name[messages[-1].name], view, until
        )
        yield from map(Send, begun)


def release_rejected(command: ReleaseStart, _rejection: Rejection, view: View) -> Effects:
    """Remove the lock only. No stored message starts the next instance; the next published one does."""
    channel = view.state.channels.get((command.tenant, command.correlation_key))
    lock = None if channel is None else channel.locks.get(command.process_id)
    if lock is not None and lock.key == command.key:
        yield StartReleased(command.key, command.tenant, command.correlation_key, command.process_id)
