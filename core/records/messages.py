"""Messages: commands of clients, commands between instances and message channels, and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended


class PublishMessage(Command, frozen=True):
    """Publish a message to subscriptions with `name` and `correlation_key`, and to start events with `name`.

    The message channel stores it for `time_to_live_ms` for later subscriptions. `thrower`: the element that publishes
    it, which completes after the delivery; None for a client, which gets the message's key. `business_id`: for an
    instance that the message starts.
    """

    intent: ClassVar[str] = "MESSAGE:PUBLISH"
    home = homes.of_published
    sent_by = Sender.CLIENT
    has_waiter = True
    creates_work = True

    name: str
    correlation_key: str = ""
    time_to_live_ms: int = 0
    message_id: str | None = None
    variables: Variables = {}
    thrower: int | None = None
    business_id: str | None = None
    completes: bool = True
    """Whether the thrower completes after the delivery; False if it throws something else, too."""


class CorrelateMessage(Command, frozen=True):
    """Publish a message without storing it. The answer names the process instance that got it."""

    intent: ClassVar[str] = "MESSAGE_CORRELATION:CORRELATE"
    home = homes.of_published
    sent_by = Sender.CLIENT
    creates_work = True

    name: str
    correlation_key: str = ""
    variables: Variables = {}
    business_id: str | None = None


class ExpireMessage(Command, frozen=True):
    """Let a stored message, or a pending start, expire before its time: it is to be erased. `key` is the key of one."""

    intent: ClassVar[str] = "MESSAGE:EXPIRE"
    home = homes.of_channel
    sent_by = Sender.CLIENT

    key: int
    tenant: str
    correlation_key: str


class OpenSubscription(Command, frozen=True):
    """Internal, to a message channel: an element begins to wait. `key` is the key of its subscription."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CREATE"
    home = homes.of_channel
    sent_by = Sender.TREE
    prompt = True

    key: int
    tenant: str
    name: str
    correlation_key: str
    process_id: str
    interrupting: bool
    business_id: str | None = None


class CloseSubscription(Command, frozen=True):
    """Internal, to a message channel: an element stops waiting."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:DELETE"
    home = homes.of_channel
    sent_by = Sender.TREE
    prompt = True

    key: int
    tenant: str
    correlation_key: str


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A message offered to a subscription, or a signal (`message` None). `variables` are JSON text.

    `request`: the position of the command whose client gets the receiver as an answer. `business_id`: that of the
    instances which may have it, and of one that it starts; None: of any. `process_id`: the process that the message is
    for. If the receiver cannot take it, it goes to the next one of this process.
    """

    name: str
    variables: dict[str, str] = {}
    message: int | None = None
    correlation_key: str = ""
    request: int | None = None
    business_id: str | None = None
    process_id: str | None = None


class TriggerSubscription(Command, frozen=True):
    """Internal, to an instance tree: the event that the subscription `key` awaits has occurred."""

    intent: ClassVar[str] = "PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE"
    home = homes.of_key
    sent_by = Sender.TREE
    while_suspended = WhileSuspended.WAIT
    has_waiter = True

    key: int
    offer: Offer


class AcknowledgeCorrelation(Command, frozen=True):
    """Internal, to a message channel: the subscription took the message and keeps waiting."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CORRELATE"
    home = homes.of_offer
    sent_by = Sender.TREE

    key: int
    tenant: str
    offer: Offer


class RejectCorrelation(Command, frozen=True):
    """Internal, to a message channel: the subscription is closed. The message goes to the next one of its process."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:REJECT"
    home = homes.of_offer
    sent_by = Sender.TREE
    prompt = True

    key: int
    tenant: str
    offer: Offer


class KeptMessage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A message that starts an instance together with others. `subscription`: the key of its start subscription."""

    message: int
    name: str
    subscription: int
    variables: dict[str, str] = {}
    business_id: str | None = None


class StartInstance(Command, frozen=True):
    """Internal: start a process at its start event `element`. `key` is the key of the new instance.

    With `partition` the instance begins there, its key is assigned there, and `key` is that of its lock only.
    `start_lock`: the correlation key that is locked for the process while the instance runs. `variables` are JSON text.
    `offer`: the message that starts it. `process_id`: the process id of the definition. `kept`: the messages that have
    come before, and start it together with this one.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:START"
    home = homes.of_start
    sent_by = Sender.TREE
    has_waiter = True

    key: int
    definition_key: int
    element: str
    variables: dict[str, str] = {}
    start_lock: str | None = None
    subscription: int | None = None
    offer: Offer | None = None
    process_id: str = ""
    partition: int = 0
    kept: tuple[KeptMessage, ...] = ()


class DeliverEvent(Command, frozen=True):
    """Internal: deliver a message or signal to the receivers that do not have it yet.

    The commands in `triggers` and `starts` leave out the variables, which are the same for all. `thrower`: the element
    that completes after the delivery.
    """

    intent: ClassVar[str] = "EVENT:DELIVER"
    home = homes.anywhere
    sent_by = Sender.TREE

    variables: dict[str, str]
    triggers: tuple[TriggerSubscription, ...] = ()
    starts: tuple[StartInstance, ...] = ()
    thrower: int | None = None


class ConfirmStart(Command, frozen=True):
    """Internal, to a message channel: the instance of the lock `key` began in another partition, as `instance`."""

    intent: ClassVar[str] = "MESSAGE_START_EVENT_SUBSCRIPTION:CONFIRM"
    home = homes.of_channel
    sent_by = Sender.TREE

    key: int
    instance: int
    tenant: str
    process_id: str
    correlation_key: str


class ReleaseStart(Command, frozen=True):
    """Internal, to a message channel: the instance `key`, started by a message, has ended. The next one may start."""

    intent: ClassVar[str] = "MESSAGE_START_EVENT_SUBSCRIPTION:RELEASE"
    home = homes.of_channel
    sent_by = Sender.TREE

    key: int
    tenant: str
    process_id: str
    correlation_key: str


class CompleteThrow(Command, frozen=True):
    """Internal, to an instance tree: the event that the element `key` threw is delivered. Complete the element."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:COMPLETE_THROW"
    home = homes.of_key
    sent_by = Sender.TREE
    while_suspended = WhileSuspended.EXECUTE
    has_waiter = True

    key: int


class SubscriptionOpened(Event, frozen=True):
    """`element` waits at the node `target`. `kind`: MESSAGE, SIGNAL or CONDITION; the name of a condition is empty.

    `type`: BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE. `correlation_key` is None except for messages.
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
    """The awaited event has occurred. An interrupting subscription takes no other event until it is closed."""

    key: int


class SubscriptionSuspended(Event, frozen=True):
    """A message came while the process instance was suspended. The channel has closed the subscription since."""

    key: int


class SubscriptionResumed(Event, frozen=True):
    """The suspended subscription awaits messages again."""

    key: int


class SubscriptionClosed(Event, frozen=True):
    key: int


class MessageReceived(Event, frozen=True):
    """For the history: the instance that got a message, and the element, unless the message started the instance."""

    key: int
    message: int
    subscription: int
    name: str
    correlation_key: str
    instance: int
    target: str
    element: int | None = None


class MessagePublished(Event, frozen=True):
    """The message is stored until `deadline` (epoch ms). With None it is not, and the log leaves out `variables`."""

    key: int
    tenant: str
    name: str
    correlation_key: str
    message_id: str | None = None
    deadline: int | None = None
    variables: dict[str, str] = {}
    business_id: str | None = None


class MessageExpired(Event, frozen=True):
    """The stored message goes to nobody any more. (A message whose time is over expires without an event.)"""

    message: int
    tenant: str
    correlation_key: str


class MessageCorrelated(Event, frozen=True):
    """The message goes to `subscription` of a process. With None it starts an instance of the process."""

    message: int
    tenant: str
    correlation_key: str
    process_id: str
    subscription: int | None = None


class CorrelationAnswered(Event, frozen=True):
    """The subscription took the message and keeps waiting, or (`accepted` false) did not take it and is closed.

    `process_id`: if not accepted, the process that has not got the message; None: the process of the subscription.
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
    business_id: str | None = None


class ChannelUnsubscribed(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str


class StartLocked(Event, frozen=True):
    """The instance `key` of `process_id` locks this correlation key. Until its end no other instance starts with it."""

    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartReleased(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartAwaited(Event, frozen=True):
    """Messages have come that start an instance together with others, which are still awaited.

    `key` is the key of the pending start at the start event `element`. `names`: earlier messages that go on counting.
    `deadline`: when it is given up (epoch ms).
    """

    key: int
    tenant: str
    correlation_key: str
    process_id: str
    element: str
    messages: tuple[KeptMessage, ...]
    names: tuple[str, ...]
    deadline: int


class StartCollected(Event, frozen=True):
    """A pending start has ended: all of its messages have come, its time was over, or it was erased."""

    key: int
    tenant: str
    correlation_key: str
    process_id: str
    element: str


class StartOpened(Event, frozen=True):
    """Messages or signals called `name` start `definition` at its start event `element`. `together`: all messages of
    the start event do, with the same correlation key, which none of them may lack."""

    key: int
    definition: int
    tenant: str
    process_id: str
    element: str
    kind: str
    name: str
    together: bool = False


class StartDescribed(Event, frozen=True):
    """The properties for agents and connectors of a start event that has just been opened."""

    key: int
    properties: dict[str, str]


class StartClosed(Event, frozen=True):
    key: int


class MessageReply(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """The answer of publishing a message. For a correlation it names the process instance that got the message.

    For a message that is not stored: `lost`: nobody got it; `pending`: only a pending start has it.
    """

    tenant_id: str
    message_key: int
    process_instance_key: int | None = None
    lost: bool = False
    pending: bool = False
