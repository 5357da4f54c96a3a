"""A batch as the statements that save it: one JSON document a table, however many rows changed (invariant 7).

Rows born in the batch are inserted in their last state, the others updated in the columns that may change. Everything
is encoded here, at once: the next batch may change the same rows while this one is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from engine.core.channels import ChannelSubscription, Correlation, Message, Start, StartLock
from engine.core.records import EVENT_FORMAT, PARTITION_SHIFT, encode_command, encode_events
from engine.core.state import (
    Definition,
    Deployment,
    Element,
    ElementState,
    Incident,
    Instance,
    Job,
    LoopItem,
    Row,
    State,
    Subscription,
    Timer,
    Usage,
    UserTask,
    Variable,
)
from engine.core.step import Handled, Spilled
from storage.driver import Call
from storage.sql_files import SQL_DIRECTORY, Statement, load

_sql = load(SQL_DIRECTORY / "save.sql")
_encode = msgspec.json.Encoder().encode

Document = dict[str, Any]

DEFINITIONS_CHANNEL = "vivero_definitions"
"""The caches of all nodes listen here."""


def statements_of(state: State, log_rows: Sequence[bytes], spilled: Sequence[Spilled], now: int) -> Iterator[Call]:
    """Everything that a batch writes but its fence, a statement at a time. `now`: epoch ms."""
    yield _sql["event_log"], (b"[" + b",".join(log_rows) + b"]", state.partition, EVENT_FORMAT, now)
    if spilled:
        yield _sql["inbox"], (_encode([_spilled(one, state.partition) for one in spilled]),)
    yield from _tables(state)
    yield from _counts(state)
    definitions = [row for row in state.dirty.values() if isinstance(row, Definition)]
    if definitions:
        told = [{"tenant": row.tenant, "processId": row.process_id, "key": row.key} for row in definitions]
        yield _sql["definitions_moved"], ()
        yield _sql["tell_definitions"], (_encode(told), DEFINITIONS_CHANNEL)


def moves_definitions(state: State) -> bool:
    """Whether the batch adds or changes a definition."""
    return any(isinstance(row, Definition) for row in state.dirty.values())


def fence(partition: int, epoch: int, old_position: int, new_position: int, next_key: int) -> Call:
    """The statement that every batch begins with."""
    return _sql["fence"], (partition, epoch, old_position, new_position, next_key)


def log_row(position: int, row: Handled, response: bytes | None) -> bytes:
    """A row of the event log, of what was handled at `position`; `response` is the answer's JSON, if it answers."""
    document = {
        "position": position,
        "seq": row.seq,
        "root_key": row.root,
        "request": row.request,
        "events": msgspec.Raw(encode_events(row.events)),
        "rejection": row.rejection,
        "response": None if response is None else response.decode(),
    }
    return _encode(document)


def _spilled(one: Spilled, partition: int) -> Document:
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
    documents: dict[Statement, list[Document]] = {}
    for identity, row in state.dirty.items():
        table = _TABLES[type(row)]
        statement, document = (table[0], table[1]) if identity in state.fresh else (table[2], table[3])
        documents.setdefault(statement, []).append(document(row))
    for row in state.dirty.values():
        if isinstance(row, Job):
            row.lease = None
    for statement, rows in sorted(documents.items(), key=lambda item: _ORDER[item[0]]):
        yield statement, (_encode(rows), state.partition) if statement in _WITH_PARTITION else (_encode(rows),)


def _counts(state: State) -> Iterator[Call]:
    """By how many each element has more in each state. The body of a loop is none: its instances are."""
    counts: dict[tuple[int, str], list[int]] = {}
    for identity, row in state.dirty.items():
        fresh = identity in state.fresh
        if type(row) is Element and row.type != "MULTI_INSTANCE_BODY" and (fresh or row.ended_at is not None):
            count = counts.setdefault((row.instance.definition_key, row.element), [0, 0, 0])
            count[_COUNTED.get(row.state, _ACTIVE)] += 1
            if not fresh:
                count[_ACTIVE] -= 1
    if counts:
        keys = sorted(counts)
        columns = ([counts[key][column] for key in keys] for column in range(3))
        yield _sql["element_counts"], (state.partition, [key for key, _ in keys], [id for _, id in keys], *columns)


_ACTIVE = 0
_COUNTED = {ElementState.COMPLETED: 1, ElementState.TERMINATED: 2}


def _changed_element(row: Element) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "tokens": row.tokens,
        "live": row.live,
        "then_": row.then,
        "interrupted": row.interrupted,
        "loop": row.loop,
        "request": row.request,
        "incidents": row.incidents,
        "incident": row.incident,
        "ended_at": row.ended_at,
        "flows": row.flows or None,
    }


def _new_element(row: Element) -> Document:
    instance = row.instance
    return {
        **_changed_element(row),
        "root": row.root.key,
        "instance": instance.key,
        "scope": row.path[1],
        "path": row.path,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "element": row.element,
        "name": row.label,
        "type": row.type,
        "tenant": instance.tenant,
        "index": row.index,
        "occurred": row.occurred,
        "started_at": row.started_at,
    }


def _changed_instance(row: Instance) -> Document:
    return _changed_element(row) | {"work": row.work or None, "revision": row.revision}


def _new_instance(row: Instance) -> Document:
    return {
        **_changed_instance(row),
        "root": row.root.key,
        "parent": row.parent_instance,
        "caller": row.scope.key if row.scope is not None else None,
        "definition": row.definition_key,
        "process_id": row.process_id,
        "number": row.version_number,
        "version_tag": row.version_tag,
        "name": row.name,
        "tenant": row.tenant,
        "business_id": row.business_id,
        "tags": row.tags,
        "depth": row.depth,
        "started_at": row.started_at,
        "position": row.created_position,
        "start": row.start,
        "start_lock": row.start_lock,
    }


def _changed_loop_item(row: LoopItem) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def _new_loop_item(row: LoopItem) -> Document:
    return _changed_loop_item(row) | {"item": row.item}


def _changed_variable(row: Variable) -> Document:
    return {"key": row.key, "value": row.value}


def _new_variable(row: Variable) -> Document:
    instance = row.scope.instance
    return {
        "key": row.key,
        "value": row.value,
        "scope": row.scope.key,
        "instance": instance.key,
        "root": instance.root.key,
        "tenant": instance.tenant,
        "name": row.name,
    }


def _changed_job(row: Job) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "retries": row.retries,
        "priority": row.priority,
        "error_code": row.error_code,
        "error_message": row.error_message,
        "updated_at": row.updated_at,
        "ended_at": row.ended_at,
        "lease": row.lease,
        "available_at": row.available_at if row.lease == "backoff" else None,
    }


def _new_job(row: Job) -> Document:
    element, instance = row.element, row.element.instance
    return {
        **_changed_job(row),
        "root": instance.root.key,
        "instance": instance.key,
        "element": element.key,
        "path": element.path,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "number": instance.version_number,
        "element_id": element.element,
        "type": row.type,
        "kind": row.kind,
        "listener_event": row.listener_event,
        "listener_index": row.listener_index,
        "headers": row.headers,
        "business_id": instance.business_id,
        "tags": instance.tags,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def _changed_timer(row: Timer) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "due_at": row.due_at,
        "triggered_at": row.triggered_at,
        "ended_at": row.ended_at,
    }


def _new_timer(row: Timer) -> Document:
    element = row.element
    return {
        **_changed_timer(row),
        "root": None if element is None else element.root.key,
        "instance": None if element is None else element.instance.key,
        "element": None if element is None else element.key,
        "definition": row.definition,
        "process_id": row.process_id,
        "target": row.target,
        "type": row.type,
        "repetitions": row.repetitions,
        "cycle": row.cycle,
        "tenant": row.tenant,
        "created_at": row.created_at,
    }


def _changed_user_task(row: UserTask) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "assignee": row.assignee,
        "groups": row.candidate_groups,
        "users": row.candidate_users,
        "due_at": row.due_at,
        "follow_up_at": row.follow_up_at,
        "priority": row.priority,
        "ended_at": row.ended_at,
    }


def _new_user_task(row: UserTask) -> Document:
    element, instance = row.element, row.element.instance
    return _changed_user_task(row) | {
        "root": instance.root.key,
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "number": instance.version_number,
        "process_name": instance.name,
        "element_id": element.element,
        "name": element.label,
        "headers": row.headers,
        "external_form": row.external_form,
        "form_key": row.form_key,
        "business_id": instance.business_id,
        "tags": instance.tags,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def _changed_incident(row: Incident) -> Document:
    return {"key": row.key, "state": row.state, "resolved_at": row.resolved_at}


def _new_incident(row: Incident) -> Document:
    element, instance = row.element, row.element.instance
    return _changed_incident(row) | {
        "root": instance.root.key,
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "element_id": element.element,
        "job": row.job,
        "stage": row.stage,
        "argument": row.argument,
        "type": row.type,
        "message": row.message,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def _changed_subscription(row: Subscription) -> Document:
    return {"key": row.key, "state": row.state, "updated_at": row.updated_at, "ended_at": row.ended_at}


def _new_subscription(row: Subscription) -> Document:
    element, instance = row.element, row.element.instance
    return _changed_subscription(row) | {
        "root": instance.root.key,
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "process_name": instance.name,
        "number": instance.version_number,
        "target": row.target,
        "type": row.type,
        "kind": row.kind,
        "name": row.name,
        "correlation_key": row.correlation_key,
        "interrupting": row.interrupting,
        "business_id": instance.business_id,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def _changed_message(row: Message) -> Document:
    return {"key": row.key, "given": row.given}


def _new_message(row: Message) -> Document:
    return _changed_message(row) | {
        "tenant": row.channel.tenant,
        "name": row.name,
        "correlation_key": row.channel.correlation_key,
        "message_id": row.message_id,
        "deadline": row.deadline,
        "variables": row.variables,
    }


def _state_of(row: ChannelSubscription | StartLock | Start) -> Document:
    return {"key": row.key, "state": row.state}


def _new_channel_subscription(row: ChannelSubscription) -> Document:
    return _new_start_lock(row) | {"name": row.name, "interrupting": row.interrupting}


def _new_start_lock(row: StartLock | ChannelSubscription) -> Document:
    return _state_of(row) | {
        "tenant": row.channel.tenant,
        "correlation_key": row.channel.correlation_key,
        "process_id": row.process_id,
    }


def _columns(row: Row) -> Document:
    return {name: getattr(row, name) for name in row.__struct_fields__}


def _deployment(row: Deployment) -> Document:
    return {"key": row.key, "tenant": row.tenant, "deployed_at": row.deployed_at}


def _changed_definition(row: Definition) -> Document:
    return {"key": row.key, "state": row.state}


def _usage(row: Usage) -> Document:
    return {"key": row.key, "running": row.running}


_TABLES: dict[type[Row], tuple[Statement, Callable[[Any], Document], Statement, Callable[[Any], Document]]] = {
    Instance: (_sql["new_instances"], _new_instance, _sql["instances"], _changed_instance),
    Element: (_sql["new_elements"], _new_element, _sql["elements"], _changed_element),
    LoopItem: (_sql["new_loop_items"], _new_loop_item, _sql["loop_items"], _changed_loop_item),
    Variable: (_sql["new_variables"], _new_variable, _sql["variables"], _changed_variable),
    Job: (_sql["new_jobs"], _new_job, _sql["jobs"], _changed_job),
    Timer: (_sql["new_timers"], _new_timer, _sql["timers"], _changed_timer),
    UserTask: (_sql["new_user_tasks"], _new_user_task, _sql["user_tasks"], _changed_user_task),
    Incident: (_sql["new_incidents"], _new_incident, _sql["incidents"], _changed_incident),
    Definition: (_sql["new_definitions"], _columns, _sql["definitions"], _changed_definition),
    Subscription: (_sql["new_subscriptions"], _new_subscription, _sql["subscriptions"], _changed_subscription),
    Start: (_sql["new_start_subscriptions"], _columns, _sql["start_subscriptions"], _state_of),
    Message: (_sql["new_messages"], _new_message, _sql["messages"], _changed_message),
    ChannelSubscription: (
        _sql["new_channel_subscriptions"],
        _new_channel_subscription,
        _sql["channel_subscriptions"],
        _state_of,
    ),
    StartLock: (_sql["new_start_locks"], _new_start_lock, _sql["start_locks"], _state_of),
    Correlation: (_sql["message_correlations"], _columns, _sql["message_correlations"], _columns),
    Deployment: (_sql["new_deployments"], _deployment, _sql["new_deployments"], _deployment),
    Usage: (_sql["usage"], _usage, _sql["usage"], _usage),
}
"""Row → the statement and document of a new one, and of a changed one."""

_WITH_PARTITION = {_sql["usage"], _sql["new_timers"], _sql["new_messages"]}
_ORDER = {statement: place for place, statement in enumerate(_sql.values())}
"""Tables are written in the order of the file: every batch takes its locks in the same order."""
