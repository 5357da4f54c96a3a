"""Loads message channels, start events and pages of signal subscriptions into the state.

Each kind is one statement, however many a batch needs. Rows of the state are never replaced: while a batch is on its
way, the state may be newer than the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from vivero.core.commands.signal import SUBSCRIPTIONS_PER_PAGE
from vivero.core.needs import Need, NeedKind
from vivero.core.partitions.keys import keys_of
from vivero.core.records.messages import KeptMessage
from vivero.core.state import batches
from vivero.core.state.message_channels import (
    ANY_BUSINESS_ID,
    BODY_WITH_MESSAGE,
    MESSAGES_PER_PAGE,
    BusinessIds,
    ChannelKey,
    ChannelSubscription,
    Message,
    MessageChannel,
    StartLock,
    Starts,
    StartSubscription,
)
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_texts = msgspec.json.Decoder(dict[str, str])
_kept = msgspec.json.Decoder(tuple[KeptMessage, ...])

_KINDS = frozenset(
    (
        NeedKind.CHANNEL,
        NeedKind.MESSAGES,
        NeedKind.MESSAGE,
        NeedKind.BODY,
        NeedKind.MESSAGE_ID,
        NeedKind.SIGNAL,
        NeedKind.STARTS,
    )
)

Rows = list[tuple[Any, ...]]
SignalPages = dict[tuple[str, str, int], list[tuple[int, int, int]]]
"""Subscriptions (key, root, part) by page: (tenant, name, the key that the page begins behind)."""


class _MessageRow(NamedTuple):
    """A row of the statements `messages`, `pages`, `message_ids` and `keyed`."""

    tenant: str
    correlation_key: str
    key: int
    name: str
    message_id: str | None
    deadline: int
    variables: str | None
    given: list[str]
    business_id: str | None
    process_id: str | None = None
    own_id: str | None = None
    """The process of a page, and the business id of its receiver; None: it takes any."""

    @property
    def business_ids(self) -> BusinessIds:
        """Those of the page."""
        return ANY_BUSINESS_ID if self.own_id is None else BusinessIds(any=False, own=self.own_id)


class _SignalRow(NamedTuple):
    """A row of the statement `signals`: a page (tenant, name, after), and a subscription on it."""

    tenant: str
    name: str
    after: int
    key: int
    root: int
    part: int


class _LoadPlan:
    """The needs of these kinds, without those that the state answers."""

    def __init__(self, state: State, needs: Iterable[Need]) -> None:
        self.partition = state.partition
        self.channels: set[ChannelKey] = set()
        self.pages: set[tuple[str, str, str, str, int, bool, str]] = set()
        self.keyed: set[tuple[str, str, int]] = set()
        self.bodies: set[tuple[str, str, int]] = set()
        self.ids: set[tuple[str, str, str, str]] = set()
        self.signals: set[tuple[str, str, int]] = set()
        self.starts = False
        for need in needs:
            if need.kind in _KINDS:
                self._ask(need, state)

    def _ask(self, need: Need, state: State) -> None:
        if need.kind is NeedKind.CHANNEL and need.key not in state.channels:
            self.channels.add(need.key)
        elif need.kind is NeedKind.MESSAGES:
            self.pages.add(need.key)
        elif need.kind is NeedKind.MESSAGE:
            self.keyed.add(need.key)
        elif need.kind is NeedKind.BODY:
            self.bodies.add(need.key)
        elif need.kind is NeedKind.MESSAGE_ID and not _knows(state, need.key):
            self.ids.add(need.key)
        elif need.kind is NeedKind.SIGNAL and need.key not in state.loaded_pages:
            self.signals.add(need.key)
        elif need.kind is NeedKind.STARTS and state.catalogue.starts is None:
            self.starts = True

    def calls(self) -> dict[str, Call]:
        calls: dict[str, Call] = {}
        if self.channels:
            channels = _columns(self.channels, 2)
            calls["subscriptions"] = (_sql["subscriptions"], channels)
            calls["locks"] = (_sql["locks"], channels)
            calls["messages"] = (_sql["messages"], (*channels, MESSAGES_PER_PAGE + 1, BODY_WITH_MESSAGE))
        if self.pages:
            pages = _columns(self.pages, 7)
            own_or_any = [None if takes_any else own for takes_any, own in zip(*pages[5:], strict=True)]
            limits = MESSAGES_PER_PAGE, BODY_WITH_MESSAGE
            calls["pages"] = (_sql["pages"], (*pages[:5], own_or_any, *limits))
        if self.ids:
            calls["message_ids"] = (_sql["message_ids"], (*_columns(self.ids, 4), BODY_WITH_MESSAGE))
        if self.keyed:
            calls["keyed"] = (_sql["keyed"], (*_columns(self.keyed, 3), BODY_WITH_MESSAGE))
        if self.bodies:
            calls["bodies"] = (_sql["bodies"], (sorted(key for _, _, key in self.bodies),))
        if self.signals:
            of_signals = (*_columns(self.signals, 3), SUBSCRIPTIONS_PER_PAGE, *keys_of(self.partition))
            calls["signals"] = (_sql["signals"], of_signals)
        if self.starts:
            calls["starts"] = (_sql["starts"], ())
        return calls


def _knows(state: State, key: tuple[str, str, str, str]) -> bool:
    """Whether the state knows if a message with this id exists."""
    channel = state.channels.get(key[:2])
    return channel is not None and (channel.complete or key[2:] in channel.asked)


def _columns(rows: Iterable[tuple[Any, ...]], width: int) -> tuple[list[Any], ...]:
    ordered = sorted(rows)
    return tuple([row[i] for row in ordered] for i in range(width))


async def fill(reader: Connection, state: State, needs: Iterable[Need]) -> SignalPages:
    """Load what `needs` name of this kind and the state lacks. Gives the pages of signals, for `take_signals`."""
    plan = _LoadPlan(state, needs)
    calls = plan.calls()
    if not calls:
        return {}
    results = await reader.pipeline(list(calls.values()))
    rows = {name: result.rows for name, result in zip(calls, results, strict=True)}
    if plan.starts and state.catalogue.starts is None:
        state.catalogue.starts = _starts(rows["starts"])
    _take_channels(state, plan, rows)
    return _signal_pages(plan, rows.get("signals", []))


def _starts(rows: Rows) -> Starts:
    starts = Starts()
    for *row, properties in rows:
        start = StartSubscription(*row)
        if properties is not None:
            start.properties = msgspec.json.decode(properties, type=dict[str, str])
        starts.add(start)
    return starts


def _take_channels(state: State, plan: _LoadPlan, rows: dict[str, Rows]) -> None:
    fresh = {place: MessageChannel(*place) for place in plan.channels if place not in state.channels}
    for tenant, correlation_key, key, *subscribed in rows.get("subscriptions", []):
        channel = fresh.get((tenant, correlation_key))
        if channel is not None:
            channel.subscriptions[key] = ChannelSubscription(key, channel, *subscribed)
    for tenant, correlation_key, key, process_id, element, kept, deadline in rows.get("locks", []):
        channel = fresh.get((tenant, correlation_key))
        if channel is not None and element is None:
            channel.locks[process_id] = StartLock(key, channel, process_id)
        elif channel is not None:
            pending = StartLock(key, channel, process_id, element=element, kept=_kept.decode(kept), deadline=deadline)
            channel.pending[process_id, element] = pending
    state.channels.update(fresh)
    _take_messages(state, plan, fresh, rows)
    for channel in fresh.values():
        batches.measure_channel(state, channel)


def _take_messages(
    state: State, plan: _LoadPlan, fresh: dict[ChannelKey, MessageChannel], rows: dict[str, Rows]
) -> None:
    few = _by_channel(state, rows.get("messages", []))
    for place, channel in fresh.items():
        messages = few.get(place, [])
        channel.complete = len(messages) <= MESSAGES_PER_PAGE
        if channel.complete:
            channel.add_loaded(messages)
    for found in (rows.get("pages", []), rows.get("message_ids", []), rows.get("keyed", [])):
        for place, messages in _by_channel(state, found).items():
            state.channels[place].add_loaded(messages)
    for tenant, correlation_key, key in plan.keyed:
        sought = state.channels.get((tenant, correlation_key))
        if sought is not None:
            sought.sought.add(key)
    _take_bodies(state, plan, rows.get("bodies", []))
    _note_pages(state, plan, rows.get("pages", []))
    for tenant, correlation_key, name, message_id in plan.ids:
        asked = state.channels.get((tenant, correlation_key))
        if asked is not None:
            asked.asked.add((name, message_id))


def _take_bodies(state: State, plan: _LoadPlan, rows: Rows) -> None:
    found = {key: _texts.decode(variables) for key, variables in rows}
    for tenant, correlation_key, key in plan.bodies:
        channel = state.channels.get((tenant, correlation_key))
        if channel is not None:
            channel.add_body(key, found.get(key))
            batches.measure_channel(state, channel)


def _by_channel(state: State, rows: Rows) -> dict[ChannelKey, list[Message]]:
    """The messages of the channels that are in the state."""
    found: dict[ChannelKey, list[Message]] = {}
    for row in (_MessageRow(*columns) for columns in rows):
        channel = state.channels.get((row.tenant, row.correlation_key))
        if channel is not None:
            found.setdefault(channel.id, []).append(_message(channel, row))
    return found


def _note_pages(state: State, plan: _LoadPlan, rows: Rows) -> None:
    """Records how far the channels know their messages for each name and process."""
    keys: dict[tuple[str, str, str, str | None, BusinessIds], list[int]] = {}
    for row in (_MessageRow(*columns) for columns in rows):
        place = row.tenant, row.correlation_key, row.name, row.process_id, row.business_ids
        keys.setdefault(place, []).append(row.key)
    for tenant, correlation_key, name, process_id, after, any_id, own_id in plan.pages:
        channel = state.channels.get((tenant, correlation_key))
        known = name, process_id, BusinessIds(any_id, own_id)
        if channel is not None and channel.known.get(known, 0) == after:
            page = keys.get((tenant, correlation_key, *known), [])
            channel.known[known] = page[-1] if len(page) == MESSAGES_PER_PAGE else None


def _message(channel: MessageChannel, row: _MessageRow) -> Message:
    body = None if row.variables is None else _texts.decode(row.variables)
    return Message(row.key, channel, row.name, row.message_id, row.deadline, body, tuple(row.given), row.business_id)


def _signal_pages(plan: _LoadPlan, rows: Rows) -> SignalPages:
    pages: SignalPages = {page: [] for page in plan.signals}
    for row in map(_SignalRow._make, rows):
        pages[row.tenant, row.name, row.after].append((row.key, row.root, row.part))
    return pages


def take_signals(state: State, pages: SignalPages, beyond: Set[tuple[int, int]]) -> set[Need]:
    """Note where pages end: before the first subscription whose (root, part) is `beyond` the bound of rows.

    Gives the pages of which nothing is loaded.
    """
    left_out = set()
    for page, rows in pages.items():
        loaded = list(takewhile(lambda row: row[1:] not in beyond, rows))
        if rows and not loaded:
            left_out.add(Need(NeedKind.SIGNAL, page))
        else:
            ends = len(loaded) == len(rows) < SUBSCRIPTIONS_PER_PAGE
            state.loaded_pages[page] = None if ends else loaded[-1][0]
    return left_out


async def purge_subscriptions(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` subscriptions that ended more than `age_ms` ago; returns their number."""
    return (await connection.execute(_sql["purge_subscriptions"], (age_ms, limit))).count


async def purge_correlations(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` correlations that happened more than `age_ms` ago; returns their number."""
    return (await connection.execute(_sql["purge_correlations"], (age_ms, limit))).count


async def expire(connection: Connection, partition: int, epoch: int, limit: int) -> int:
    """Deletes up to `limit` expired messages of a partition in its term; returns their number, 0 in another term."""
    return (await connection.execute(_sql["expire"], (partition, limit, epoch))).count
