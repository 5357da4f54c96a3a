"""Messages: commands of clients and between instances and channels, and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.engine.core.records.base import Command, Event, Variables


class PublishMessage(Command, frozen=True):
    """A message for whoever waits for `name` with `correlation_key`, or starts with `name`.

    It is kept for `time_to_live_ms` for those who begin to wait later. `thrower`: the element that publishes it, which
    goes on when it has been given to who waits; None: a client, which is told the message's key. `business_id`: of an
    instance that it starts.
    """

    intent: ClassVar[str] = "MESSAGE:PUBLISH"
    name: str
    correlation_key: str = ""
    time_to_live_ms: int = 0
    message_id: str | None = None
    variables: Variables = {}
    thrower: int | None = None
    business_id: str | None = None


class CorrelateMessage(Command, frozen=True):
    """A message that is never kept, and whose publisher is told which process instance got it."""

    intent: ClassVar[str] = "MESSAGE_CORRELATION:CORRELATE"
    name: str
    correlation_key: str = ""
    variables: Variables = {}
    business_id: str | None = None


class OpenSubscription(Command, frozen=True):
    """Internal, to a channel: an element (its subscription has this key) waits for messages from now on."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CREATE"
    key: int
    tenant: str
    name: str
    correlation_key: str
    process_id: str
    interrupting: bool


class CloseSubscription(Command, frozen=True):
    """Internal, to a channel: an element waits no longer."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:DELETE"
    key: int
    tenant: str
    correlation_key: str


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a subscription is offered: a message, or (`message` None) a signal. `variables` are JSON text.

    `request`: the position of the command whose client is told who got the message. `business_id`: of an instance that
    it starts. `process_id`: for whom the message is, so that it can go to the next one of that process.
    """

    name: str
    variables: dict[str, str] = {}
    message: int | None = None
    correlation_key: str = ""
    request: int | None = None
    business_id: str | None = None
    process_id: str | None = None


class TriggerSubscription(Command, frozen=True):
    """Internal, to a tree: what the subscription `key` waits for has happened."""

    intent: ClassVar[str] = "PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE"
    key: int
    offer: Offer


class AcknowledgeCorrelation(Command, frozen=True):
    """Internal, to a channel: the subscription took the message, and still waits."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CORRELATE"
    key: int
    tenant: str
    offer: Offer


class RejectCorrelation(Command, frozen=True):
    """Internal, to a channel: the subscription waits no longer; the message goes to the next one of its process."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:REJECT"
    key: int
    tenant: str
    offer: Offer


class StartInstance(Command, frozen=True):
    """Internal: an event starts a process at its start event `element`. `key` is the instance's, given out already.

    `start_lock`: the correlation key that keeps others with it from being started meanwhile. `variables` are JSON text.
    `offer`: the message that started it. `process_id`: the definition's.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:START"
    key: int
    definition_key: int
    element: str
    variables: dict[str, str] = {}
    start_lock: str | None = None
    subscription: int | None = None
    offer: Offer | None = None
    process_id: str = ""


class DeliverEvent(Command, frozen=True):
    """Internal: a message or signal is given to those that have been chosen for it and do not have it yet.

    Their commands lack the variables, which would be there many times. `thrower`: the element that goes on then.
    """

    intent: ClassVar[str] = "EVENT:DELIVER"
    variables: dict[str, str]
    triggers: tuple[TriggerSubscription, ...] = ()
    starts: tuple[StartInstance, ...] = ()
    thrower: int | None = None


class ReleaseStart(Command, frozen=True):
    """Internal, to a channel: the instance `key`, which a message has started, has ended; the next one may start."""

    intent: ClassVar[str] = "MESSAGE_START_EVENT_SUBSCRIPTION:RELEASE"
    key: int
    tenant: str
    process_id: str
    correlation_key: str


class CompleteThrow(Command, frozen=True):
    """Internal, to a tree: what the element `key` has thrown was given to who waits for it; it completes."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:COMPLETE_THROW"
    key: int


class SubscriptionOpened(Event, frozen=True):
    """`element` waits at the node `target` for a message or a signal (`kind`: MESSAGE, SIGNAL) called `name`.

    `type`: BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE. `correlation_key` is None for signals.
    """

    key: int
    element: int
    target: str
    type: str
    kind: str
    name: str
    correlation_key: str | None = None
    interrupting: bool = True


class SubscriptionTriggered(Event, frozen=True):
    """What an element waited for has happened. An interrupting subscription takes nothing more until it is closed."""

    key: int


class SubscriptionClosed(Event, frozen=True):
    key: int


class MessageReceived(Event, frozen=True):
    """For the history: the instance (and, unless the message started it, the element) that got a message."""

    key: int
    message: int
    subscription: int
    name: str
    correlation_key: str
    instance: int
    target: str
    element: int | None = None


class MessagePublished(Event, frozen=True):
    """`deadline` (epoch ms): until when it is kept; None: not at all, and `variables` (JSON text) are left out."""

    key: int
    tenant: str
    name: str
    correlation_key: str
    message_id: str | None = None
    deadline: int | None = None
    variables: dict[str, str] = {}
    business_id: str | None = None


class MessageCorrelated(Event, frozen=True):
    """The message goes to a process: to `subscription`, or, None, it starts an instance."""

    message: int
    tenant: str
    correlation_key: str
    process_id: str
    subscription: int | None = None


class CorrelationAnswered(Event, frozen=True):
    """The subscription took the message and waits on; or it did not (`accepted` false) and is gone.

    `process_id`: its process, that has not had the message, if it is not accepted. None: as the subscription says.
    """

    message: int
    tenant: str
    correlation_key: str
    subscription: int
    accepted: bool
    process_id: str | None = None


class ChannelSubscribed(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str
    name: str
    process_id: str
    interrupting: bool


class ChannelUnsubscribed(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str


class StartLocked(Event, frozen=True):
    """The instance `key` of `process_id` was started with this correlation key; until it ends no other one is."""

    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartReleased(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartOpened(Event, frozen=True):
    """Messages or signals called `name` start `definition` at its start event `element`."""

    key: int
    definition: int
    tenant: str
    process_id: str
    element: str
    kind: str
    name: str


class StartClosed(Event, frozen=True):
    key: int


class MessageReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What publishing a message answers; correlating one also tells the process instance that got it."""

    tenant_id: str
    message_key: int
    process_instance_key: int | None = None
