"""A batch as the statements that save it: one JSON document a table, however many rows changed (invariant 7).

Rows born in the batch are inserted in their last state, the others updated in the columns that may change. Everything
is encoded here, at once: the next batch may change the same rows while this one is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from vivero.engine.core.outcomes import Handled, InboxCommand
from vivero.engine.core.records.base import PARTITION_SHIFT
from vivero.engine.core.records.codec import EVENT_FORMAT, encode_command, encode_events
from vivero.engine.core.state.catalogue import Definition, Deployment, Usage
from vivero.engine.core.state.instance_tree import (
    COMPLETED,
    TERMINATED,
    Element,
    Incident,
    Instance,
    Job,
    LoopItem,
    LoopItems,
    LoopResult,
    Subscription,
    Timer,
    UserTask,
    Variable,
)
from vivero.engine.core.state.loop_rows import first_of
from vivero.engine.core.state.message_channels import ChannelSubscription, Correlation, Message, Start, StartLock
from vivero.engine.core.state.rows import Row
from vivero.engine.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import Statement, beside
from vivero.storage.postgres.values import Params, Texts
from vivero.storage.state import documents
from vivero.storage.state.bulk_end import BulkEnd

_sql = beside(__file__)
_encode = msgspec.json.Encoder().encode

Document = documents.Document | msgspec.Struct

LARGE_EVENTS = 400_000
"""From this many bytes of events on, a row has them in a column of their own. One quantum makes fewer."""

DEFINITIONS_CHANNEL = "vivero_definitions"
"""The caches of all nodes listen here."""


EventLogRow = tuple[int, int, int | None, int | None, bytes, bytes | None, bytes | None]
"""Position, seq, root, request, events, rejection, response."""


def statements_of(
    state: State, log_rows: Sequence[EventLogRow], to_inbox: Sequence[InboxCommand], now: int
) -> Iterator[Call]:
    """Everything that a batch writes but its fence, a statement at a time. `now`: epoch ms."""
    positions, seqs, roots, requests, *texts = zip(*log_rows, strict=True) if log_rows else [()] * 7
    events, rejections, responses = map(Texts, texts)
    of_batch = state.partition, EVENT_FORMAT, now, LARGE_EVENTS
    yield _sql["event_log"], (positions, seqs, roots, requests, events, rejections, responses, *of_batch)
    if to_inbox:
        yield _sql["inbox"], (_encode([_inbox_command(one, state.partition) for one in to_inbox]),)
    yield from _tables(state)
    yield from _counts(state)
    definitions = [row for row in state.dirty if isinstance(row, Definition)]
    if definitions:
        told = [{"tenant": row.tenant, "processId": row.process_id, "key": row.key} for row in definitions]
        yield _sql["definitions_moved"], ()
        yield _sql["tell_definitions"], (_encode(told), DEFINITIONS_CHANNEL)


def moves_definitions(state: State) -> bool:
    """Whether the batch adds or changes a definition."""
    return any(isinstance(row, Definition) for row in state.dirty)


def fence(partition: int, epoch: int, old_position: int, new_position: int, next_key: int) -> Call:
    """The statement that every batch begins with."""
    return _sql["fence"], (partition, epoch, old_position, new_position, next_key)


def fence_between(partition: int, epoch: int, position: int, next_key: int, told: bool) -> Call:
    """Instead of `fence`, for a batch between commands: the cursor stays. `told`: somebody is told of its commit."""
    return _sql["fence_between"], (partition, epoch, position, next_key, told)


def log_row(position: int, row: Handled, response: bytes | None) -> EventLogRow:
    """A row of the event log, of what was handled at `position`; `response` is the answer's JSON, if it answers."""
    rejection = None if row.rejection is None else _encode(row.rejection)
    return position, row.seq, row.root, row.request, encode_events(row.events), rejection, response


def _inbox_command(one: InboxCommand, partition: int) -> Document:
    key = getattr(one.command, "key", None)
    return {
        "partition": partition if key is None else key >> PARTITION_SHIFT,
        "request": one.request,
        "tenant": one.tenant,
        "intent": one.command.intent,
        "key": key,
        "payload": encode_command(one.command).decode(),
    }


def _tables(state: State) -> Iterator[Call]:
    bulk_end, written = BulkEnd(), _Written()
    begun: list[LoopItems] = []
    for row in state.dirty:
        if isinstance(row, LoopItems):
            begun.append(row)
        elif isinstance(row, Usage):
            continue  # counted by _counts
        elif row in state.fresh:
            written.add(row, new=True)
        elif not bulk_end.take(row):
            written.add(row, new=False)
    ended = {_sql[name]: params for name, params in bulk_end.statements().items()}
    for row in bulk_end.others():
        written.add(row, new=False)
    for row in state.dirty:
        if type(row) is Job:
            row.lease = None
    for statement in sorted([*written.rows, *ended], key=_ORDER.__getitem__):
        yield statement, ended[statement] if statement in ended else written.params(statement, state)
    yield from map(_paged_items, begun)


class _Written:
    """The rows of a batch that are saved by a document each, by statement."""

    def __init__(self) -> None:
        self.rows: dict[Statement, list[Document]] = {}

    def add(self, row: Row, new: bool) -> None:
        table = _TABLES[type(row)]
        statement, document = (table[0], table[1]) if new else (table[2], table[3])
        self.rows.setdefault(statement, []).append(document(row))

    def params(self, statement: Statement, state: State) -> Params:
        encoded = _encode(self.rows[statement])
        return (encoded, state.partition) if statement in _WITH_PARTITION else (encoded,)


def _paged_items(row: LoopItems) -> Call:
    """The items of a paged loop as it starts: columns of parameters, as a document of so many takes long to read."""
    firsts = [first_of(number) for number in range(len(row.rows))]
    return _sql["paged_loop_items"], ([row.key] * len(firsts), firsts, Texts(map(str.encode, row.rows)))


def _counts(state: State) -> Iterator[Call]:
    """By how many the instances of each element in each state change; of the process under ''. The body of a loop does
    not count, its inner instances do."""
    counts: dict[tuple[int, str], list[int]] = {}
    for row in state.dirty:
        fresh = row in state.fresh
        if isinstance(row, Element) and row.type != "MULTI_INSTANCE_BODY" and (fresh or row.ended_at is not None):
            element = "" if row is row.instance else row.element
            count = counts.setdefault((row.instance.definition_key, element), [0, 0, 0])
            count[_COUNTED.get(row.state, _ACTIVE)] += 1
            if not fresh:
                count[_ACTIVE] -= 1
    if counts:
        keys = sorted(counts)
        columns = ([counts[key][column] for key in keys] for column in range(3))
        yield (
            _sql["element_count_changes"],
            (state.partition, [key for key, _ in keys], [id for _, id in keys], *columns),
        )


_ACTIVE = 0
_COUNTED = {COMPLETED: 1, TERMINATED: 2}


_TABLES: dict[type[Row], tuple[Statement, Callable[[Any], Document], Statement, Callable[[Any], Document]]] = {
    Instance: (_sql["new_instances"], documents.new_instance, _sql["instances"], documents.changed_instance),
    Element: (_sql["new_elements"], documents.new_element, _sql["elements"], documents.changed_element),
    LoopItem: (_sql["new_loop_items"], documents.new_loop_item, _sql["loop_items"], documents.changed_loop_item),
    LoopResult: (
        _sql["paged_loop_results"],
        documents.loop_result,
        _sql["paged_loop_results"],
        documents.loop_result,
    ),
    Variable: (_sql["new_variables"], documents.new_variable, _sql["variables"], documents.changed_variable),
    Job: (_sql["new_jobs"], documents.new_job, _sql["jobs"], documents.changed_job),
    Timer: (_sql["new_timers"], documents.new_timer, _sql["timers"], documents.changed_timer),
    UserTask: (_sql["new_user_tasks"], documents.new_user_task, _sql["user_tasks"], documents.changed_user_task),
    Incident: (_sql["new_incidents"], documents.new_incident, _sql["incidents"], documents.changed_incident),
    Definition: (_sql["new_definitions"], documents.columns, _sql["definitions"], documents.changed_definition),
    Subscription: (
        _sql["new_subscriptions"],
        documents.new_subscription,
        _sql["subscriptions"],
        documents.changed_subscription,
    ),
    Start: (_sql["new_start_subscriptions"], documents.columns, _sql["start_subscriptions"], documents.state_of),
    Message: (_sql["new_messages"], documents.new_message, _sql["messages"], documents.changed_message),
    ChannelSubscription: (
        _sql["new_channel_subscriptions"],
        documents.new_channel_subscription,
        _sql["channel_subscriptions"],
        documents.state_of,
    ),
    StartLock: (_sql["new_start_locks"], documents.new_start_lock, _sql["start_locks"], documents.state_of),
    Correlation: (_sql["message_correlations"], documents.columns, _sql["message_correlations"], documents.columns),
    Deployment: (_sql["new_deployments"], documents.deployment, _sql["new_deployments"], documents.deployment),
}
"""Row → the statement and document of a new one, and of a changed one."""

_WITH_PARTITION = {_sql["new_timers"], _sql["new_messages"]}
_ORDER = {statement: place for place, statement in enumerate(_sql.values())}
"""Tables are written in the order of the file: every batch takes its locks in the same order."""
