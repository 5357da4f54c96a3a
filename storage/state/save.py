"""A batch as the statements that save it: one statement for each table, however many rows changed.

New rows are inserted in their last state; other rows are updated in the columns that may change. All rows are encoded
at once: the next batch may change the same rows while this one is on its way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from vivero.core.execution.outcomes import Handled, InboxCommand
from vivero.core.records.codec import EVENT_FORMAT, encode_events
from vivero.core.state.catalogue import (
    DecisionVersion,
    Definition,
    FormVersion,
    GenericResourceVersion,
    RequirementsVersion,
)
from vivero.core.state.instance_tree import (
    COMPLETED,
    TERMINATED,
    Element,
    ElementState,
    Incident,
    Instance,
)
from vivero.core.state.migrations import Migration
from vivero.core.state.slot_moves import slot_moves
from vivero.core.state.state import State
from vivero.storage.cluster.routes import ROUTES_CHANNEL
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.values import Texts
from vivero.storage.state.durations import NO_DURATION, bucket_of
from vivero.storage.state.saved_rows import RowsByType, statements_for_rows
from vivero.storage.state.variable_documents import Document

_sql = beside(__file__)
_encode = msgspec.json.Encoder().encode

LARGE_EVENTS = 400_000
"""Events with more bytes are stored in a column of their own. A single quantum makes fewer."""

DEFINITIONS_CHANNEL = "vivero_definitions"
"""The caches of all nodes listen on this channel."""


class EventLogRow(NamedTuple):
    """A row of the event log. JSON columns are encoded."""

    position: int
    seq: int
    root: int | None
    request: int | None
    events: bytes
    rejection: bytes | None
    response: bytes | None


def statements_of(
    state: State,
    rows: RowsByType,
    log_rows: Sequence[EventLogRow],
    to_inbox: Sequence[InboxCommand],
    now: int,
    released: Mapping[int, int] = {},
    returned: Mapping[int, int] = {},
) -> Iterator[Call]:
    """All statements of a batch with these rows except its fence.

    `now`: epoch ms; `released`, `returned`: those of `Notices`.
    """
    positions, seqs, roots, requests, *texts = zip(*log_rows, strict=True) if log_rows else [()] * 7
    events, rejections, responses = map(Texts, texts)
    of_batch = state.partition, EVENT_FORMAT, now, LARGE_EVENTS
    yield _sql["event_log"], (positions, seqs, roots, requests, events, rejections, responses, *of_batch)
    for root, commands in returned.items():
        yield _sql["returned_commands"], (root, commands)
    for root, commands in released.items():
        yield _sql["released_commands"], (root, commands, state.partition)
    if to_inbox:
        yield _sql["inbox"], (_encode([_inbox_command(one) for one in to_inbox]),)
    yield from statements_for_rows(state, rows)
    yield from _counts(state.partition, rows, now)
    if state.routes.several:
        yield from _slot_moves(state)
    if moves_definitions(state):
        yield _sql["definitions_moved"], ()
    if definitions := [*rows.new.get(Definition, ()), *rows.changed.get(Definition, ())]:
        announced = [{"tenant": row.tenant, "processId": row.process_id, "key": row.key} for row in definitions]
        yield _sql["tell_definitions"], (_encode(announced), DEFINITIONS_CHANNEL)


def with_leases(
    call: Call, keys: Sequence[int], workers: Sequence[str], tokens: Sequence[str], ends: Sequence[int]
) -> Call:
    """The statement that inserts new jobs, some of them leased up to these ends (epoch ms of the engine's clock)."""
    statement, (documents, *_) = call
    return statement, (documents, keys, workers, tokens, ends)


def moves_definitions(state: State) -> bool:
    """Whether the batch changes the catalogue, so that other partitions must read it anew."""
    return not _OF_CATALOGUE.isdisjoint(map(type, state.dirty))


_OF_CATALOGUE = frozenset((Definition, FormVersion, RequirementsVersion, DecisionVersion, GenericResourceVersion))


def fence(partition: int, epoch: int, old_position: int, new_position: int, next_key: int) -> Call:
    """The first statement of a batch with commands."""
    return _sql["fence"], (partition, epoch, old_position, new_position, next_key)


def fence_between(partition: int, epoch: int, position: int, next_key: int, announced: bool) -> Call:
    """The first statement of a batch between commands, which keeps the cursor. `announced`: a client hears of it."""
    return _sql["fence_between"], (partition, epoch, position, next_key, announced)


def require_untaken(jobs: Iterable[int]) -> Call:
    """Behind the fence of a batch whose commands depend on jobs that no worker has, or has had.

    Its commit raises LeaseTaken if a worker has got one since their leases were read.
    """
    return _sql["require_untaken"], (sorted(set(jobs)),)


def log_row(position: int, row: Handled, response: bytes | None) -> EventLogRow:
    """The row of a command that was handled at `position`. `response` is the answer's JSON, None without an answer."""
    rejection = None if row.rejection is None else _encode(row.rejection)
    return EventLogRow(position, row.seq, row.root, row.request, encode_events(row.events), rejection, response)


def _inbox_command(one: InboxCommand) -> Document:
    return {
        "partition": one.partition,
        "request": one.request,
        "tenant": one.tenant,
        "intent": one.command.intent,
        "key": getattr(one.command, "key", None),
        "payload": one.take_payload().decode(),
        "audit": one.audit,
        "held_by": one.held_by,
    } | ({} if one.context is None else {"trace": one.context})


def _slot_moves(state: State) -> Iterator[Call]:
    """The steps of moves of slots. They come last: the batch has handled earlier commands for the slots."""
    here = state.partition
    for row in slot_moves(state):
        if row.step == "MOVED":
            yield _sql["slot_owners"], (list(row.slots), row.to)
            yield _sql["slot_detours"], (list(row.slots), here, list(row.senders))
            yield _sql["definitions_moved"], ()
            yield _sql["tell_routes"], (ROUTES_CHANNEL,)
        elif row.step == "HELD":
            yield _sql["slots_held"], (here,)
        elif row.step == "SENT":
            yield _sql["held_commands"], (here, row.to, row.count)
        else:
            yield _sql["held_commands"], (here, row.to, None)
            yield _sql["slots_released"], (here,)


def _counts(partition: int, rows: RowsByType, now: int) -> Iterator[Call]:
    """The changes of the numbers of instances, by element and state. Those of the process have the element ''.

    Completed ones are counted by the bucket of their duration. Process instances that begin, and incidents, are counted
    by the definition, with the time of the batch.
    """
    counts: dict[_Counted, list[int]] = {}
    for kind, is_instance in ((Instance, True), (Element, False)):
        for facts, number in Counter(map(_facts_of, rows.new.get(kind, ()))).items():
            if (count := _count(counts, facts, number, is_instance)) is not None and is_instance:
                count[_STARTED] += number
        for facts, number in Counter(map(_facts_of, rows.changed.get(kind, ()))).items():
            if facts[-1] is not None and (count := _count(counts, facts, number, is_instance)) is not None:
                count[_ACTIVE] -= number
    for incident in rows.new.get(Incident, ()):
        _counted(counts, (incident.element.instance.definition_key, "", NO_DURATION))[_INCIDENTS] += 1
    for migration in rows.new.get(Migration, ()):
        _count_moved(migration, counts)
    if counts:
        keys = sorted(counts)
        columns = ([counts[key][column] for key in keys] for column in range(_COLUMNS))
        yield _sql["element_count_changes"], (partition, *map(list, zip(*keys, strict=True)), *columns, now)


def _count_moved(row: Migration, counts: dict[_Counted, list[int]]) -> None:
    """Count the live elements of a migrated instance for its new definition instead of the former one."""
    for moved, by in ((row.left, -1), (row.joined, 1)):
        for (definition, element, type_), number in moved.items():
            if type_ != "MULTI_INSTANCE_BODY":
                _counted(counts, (definition, element, NO_DURATION))[_ACTIVE] += by * number


_Counted = tuple[int, str, int]
"""(definition, element, bucket)"""


_Facts = tuple[int, str, str, ElementState, int, int | None]
_facts_of: Callable[[Element], _Facts] = attrgetter(
    "instance.definition_key", "element", "type", "state", "started_at", "ended_at"
)
"""Rows with the same facts are counted at once: in a batch many begin, and end, at the same moments."""


def _count(counts: dict[_Counted, list[int]], facts: _Facts, number: int, is_instance: bool) -> list[int] | None:
    """Count rows in their state; returns the numbers. Inner instances of a loop count; its body does not."""
    definition, element, type_, row_state, started_at, ended_at = facts
    if type_ == "MULTI_INSTANCE_BODY":
        return None
    state = _COUNTED.get(row_state, _ACTIVE)
    duration, bucket = 0, NO_DURATION
    if state == _COMPLETED and ended_at is not None:
        duration = max(ended_at - started_at, 0)
        bucket = bucket_of(duration)
    count = _counted(counts, (definition, "" if is_instance else element, bucket))
    count[state] += number
    count[_DURATION] += duration * number
    return count


def _counted(counts: dict[_Counted, list[int]], key: _Counted) -> list[int]:
    """The numbers of a key, new ones if need be."""
    count = counts.get(key)
    if count is None:
        count = counts[key] = [0] * _COLUMNS
    return count


_ACTIVE, _COMPLETED, _CANCELED, _DURATION, _STARTED, _INCIDENTS = range(6)
_COLUMNS = 6
_COUNTED = {COMPLETED: _COMPLETED, TERMINATED: _CANCELED}
