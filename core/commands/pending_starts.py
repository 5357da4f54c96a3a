"""Pending starts: messages of one correlation key start an instance together (BPMN 2.0.2 §10.5.5), once all have come.

A pending start belongs to a process, its start event and the key, not to a version: the instance is of the version that
is the latest when the last message comes. A kept message that the start event does not await any more counts no longer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from vivero.core.events.message import KIND
from vivero.core.records.base import Event
from vivero.core.records.messages import KeptMessage, Offer, StartAwaited, StartCollected
from vivero.core.rules import PENDING_START_MS
from vivero.core.state.message_channels import MessageChannel, StartSubscription
from vivero.core.view import View


def can_take(start: StartSubscription, channel: MessageChannel, view: View) -> bool:
    """Whether the start event can take a message of its name now. Messages need a key to start an instance together."""
    if not start.together:
        return True
    return bool(channel.correlation_key) and all(one.name != start.name for one in channel.kept_for(start, view.now))


def would_begin(start: StartSubscription, channel: MessageChannel, view: View, *names: str) -> bool:
    """Whether an instance starts when the start event takes messages of these names."""
    if not start.together:
        return True
    return _awaited(start, view) <= {*names, *(one.name for one in channel.kept_for(start, view.now))}


def take(
    offers: Sequence[Offer], start: StartSubscription, key: int, view: View, until: int
) -> Generator[Event, None, tuple[KeptMessage, ...] | None]:
    """Keep messages until the others come: None. If the last offer completes them, gives those that came before it.

    `key`: the key of a new pending start. `until`: the last deadline of the offered messages."""
    *_, last = offers
    channel = view.channel(start.tenant, last.correlation_key)
    where = start.tenant, last.correlation_key, start.process_id, start.element
    pending, awaited = channel.pending.get(where[2:]), _awaited(start, view)
    before = channel.kept_for(start, view.now)
    kept = tuple(one for one in before if one.name in awaited)
    new = tuple(_kept(offer, start) for offer in offers)
    begins = awaited <= {one.name for one in (*kept, *new)}
    if pending is not None and (begins or not before):
        yield StartCollected(pending.key, *where)
        pending = None
    if begins:
        return (*kept, *new[:-1])
    deadline = max(view.now + PENDING_START_MS, until, 0 if pending is None else pending.deadline or 0)
    yield StartAwaited(key if pending is None else pending.key, *where, new, tuple(one.name for one in kept), deadline)
    return None


def _awaited(start: StartSubscription, view: View) -> set[str]:
    """The names of all messages of the start event."""
    of_process = view.starts().of_process(start.tenant, start.process_id, KIND)
    return {one.name for one in of_process if one.element == start.element}


def _kept(offer: Offer, start: StartSubscription) -> KeptMessage:
    assert offer.message is not None, "signals start no instance together"
    return KeptMessage(offer.message, offer.name, start.key, offer.variables, offer.business_id)
