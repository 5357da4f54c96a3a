"""What a batch needs, from the tables into the state: in rounds, each a constant number of statements.

References (job, incident, element keys) → parts of trees → their rows → their variables and definitions. A part is a
tree without the inner instances of its paged loops, or one of those (`pages`). What the state has already is
never read again: it may be newer than what the database shows while a batch is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from operator import itemgetter
from typing import Any

import msgspec
import trio

from vivero.engine.core.needs import Need
from vivero.engine.core.state import batches
from vivero.engine.core.state.catalogue import Definition, Usage
from vivero.engine.core.state.instance_tree import (
    ELEMENT_WEIGHT,
    INCIDENT_WEIGHT,
    INSTANCE_WEIGHT,
    JOB_WEIGHT,
    SUBSCRIPTION_WEIGHT,
    TIMER_WEIGHT,
    USER_TASK_WEIGHT,
    Element,
    ElementState,
    Incident,
    Instance,
    Job,
    LoopItem,
    LoopPages,
    LoopState,
    Part,
    Subscription,
    Timer,
    UserTask,
    Variable,
    still_to_come,
)
from vivero.engine.core.state.state import State
from vivero.engine.core.state.subscription_index import add_loaded
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.values import whole_numbers
from vivero.storage.state import message_channels, pages
from vivero.storage.state.load_plan import LoadPlan
from vivero.storage.state.stored_rows import ElementRow, InstanceRow

_sql = beside(__file__)
_decode = msgspec.json.decode

Rows = list[tuple[Any, ...]]
ScopeRow = InstanceRow | ElementRow
ROWS_A_TURN = 2_000
"""So many rows are taken in before others have their turn: some 3 ms."""


class LogRow(msgspec.Struct, frozen=True, gc=False):
    """A command as it stands in the log."""

    position: int
    tenant: str
    intent: str
    request: int | None
    payload: bytes


class Batch(msgspec.Struct, frozen=True):
    """The next rows of the log.

    `now`: the engine's time, epoch ms, not before `asked_at` (Trio's clock). `clock_revision` rises when somebody sets
    the clock, `definitions_seq` with each deployment and deletion.
    """

    rows: list[LogRow]
    now: int
    clock_revision: int
    definitions_seq: int
    asked_at: float


async def read_batch(reader: Connection, partition: int, after: int, limit: int) -> Batch:
    """Up to `limit` rows behind position `after`."""
    asked_at = trio.current_time()
    rows = (await reader.execute(_sql["read_batch"], (partition, after, limit))).rows
    now, clock_revision, definitions = rows[0][5:8]
    found = [LogRow(*row[:5]) for row in rows if row[0] is not None]
    return Batch(found, now, clock_revision, definitions, asked_at)


async def fill(reader: Connection, state: State, needs: Iterable[Need]) -> dict[int, str | None]:
    """Load what `needs` name and the state lacks; the lease tokens that were asked for."""
    needs = list(needs)
    signalled = await message_channels.fill(reader, state, needs)
    plan = LoadPlan(state, needs)
    parts, leases = await _references(reader, state, plan, signalled)
    await _load_parts(reader, state, parts)
    if plan.work:
        await _load_work(reader, state, plan.work)
    if plan.variables:
        await pages.variables(reader, state, plan.variables)
    if plan.items:
        await pages.items(reader, state, (), plan.items)
    if plan.results:
        await pages.results(reader, state, plan.results)
    return leases


async def _load_work(reader: Connection, state: State, roots: set[int]) -> None:
    """What deferred work is about. Of trees without paged loops all is there, but for what has ended."""
    keys = pages.work_of(state, roots)
    if keys:
        found = (await reader.execute(_sql["roots"], ([], [], sorted(keys), [], []))).rows
        await _load_parts(reader, state, _lacking(state, {(root, part) for _, root, part in found}))
    while parts := await pages.children(reader, state, roots):
        await _load_parts(reader, state, parts, to_end=True)
        if not state.parts.keys().isdisjoint(parts):
            break
    await pages.items(reader, state, roots, ())


async def _references(
    reader: Connection, state: State, plan: LoadPlan, signalled: set[tuple[int, int]]
) -> tuple[dict[int, int], dict[int, str | None]]:
    """The parts that are to be loaded (see `_lacking`), and lease tokens."""
    calls: list[Call] = []
    keys = [sorted(plan.jobs), sorted(plan.incidents), sorted(plan.elements), sorted(plan.timers)]
    keys.append(sorted(plan.subscriptions))
    if any(keys):
        calls.append((_sql["roots"], keys))
    if plan.user_tasks:
        calls.append((_sql["user_task_roots"], (sorted(plan.user_tasks),)))
    if plan.leases:
        calls.append((_sql["leases"], (sorted(plan.leases),)))
    if plan.families or plan.definitions or plan.timers:
        calls += _families(state, plan.families, plan.definitions, plan.timers)
    if not calls and not signalled:
        return {}, {}
    results = await reader.pipeline(calls) if calls else []
    answers = {call[0]: result.rows for call, result in zip(calls, results, strict=True)}
    _take_families(state, plan.families, answers.get(_sql["families"], []), answers.get(_sql["start_timers"], []))
    rows = answers.get(_sql["roots"], []) + answers.get(_sql["user_task_roots"], [])
    found = signalled | {(root, part) for _, root, part in rows}
    return _lacking(state, found), dict(answers.get(_sql["leases"], []))


def _lacking(state: State, found: set[tuple[int, int]]) -> dict[int, int]:
    """Which of these (root, part) the state lacks and the database may have, roots included; by part: its root."""
    gone = state.ended | batches.ended_in_batch(state)
    lacking: dict[int, int] = {}
    for root, part in found:
        if root not in gone and part not in gone:
            if root not in state.trees:
                lacking[root] = root
            if part != root and part not in state.parts:
                lacking[part] = root
    return lacking


async def _load_parts(reader: Connection, state: State, parts: dict[int, int], to_end: bool = False) -> None:
    """`parts`: their keys, with those of their roots. `to_end`: without variables, for nobody is to ask for them."""
    if not parts:
        return
    weights = {root: state.trees[root].weight if root in state.trees else 0 for root in parts.values()}
    keys = await _rows_of(reader, state, parts)
    await _around(reader, state, keys, to_end)
    for root, before in weights.items():
        if root in state.trees:
            state.weight += state.trees[root].weight - before


async def _rows_of(reader: Connection, state: State, parts: dict[int, int]) -> list[int]:
    """All live rows of the parts but their variables; the keys of the scopes that those are asked for with.

    A part that stands in another one, of a loop in a loop, brings that along, and all that is around that: one more
    round, however deep it is.
    """
    scopes: list[ScopeRow] = []
    held: dict[str, Rows] = {name: [] for name in _HELD}
    asked, lacking = set(parts), set(parts)
    while lacking:
        keys_of_parts = whole_numbers(sorted(lacking))
        names = ("instances", "elements", *held)
        instances, elements, *others = await reader.pipeline([(_sql[name], (keys_of_parts,)) for name in names])
        scopes += map(InstanceRow._make, instances.rows)
        scopes += map(ElementRow._make, elements.rows)
        for rows, result in zip(held.values(), others, strict=True):
            rows += result.rows
        lacking = await _parts_around(reader, state, scopes) - asked
        asked |= lacking
    keys = await _take_scopes(state, scopes)
    for name, rows in held.items():
        for row in rows:
            _HELD[name](state, row)
    return keys


async def _take_scopes(state: State, scopes: list[ScopeRow]) -> list[int]:
    """Outer ones before those in them: keys rise. Gives their keys."""
    keys = []
    for number, row in enumerate(sorted(scopes, key=itemgetter(0)), 1):
        if not number % ROWS_A_TURN:
            await trio.lowlevel.checkpoint()
        element = _instance(state, row) if isinstance(row, InstanceRow) else _element(state, row)
        state.elements[element.key] = element
        if element.scope is not None:
            element.scope.children[element.key] = element
        keys.append(element.key)
    return keys


async def _parts_around(reader: Connection, state: State, rows: list[ScopeRow]) -> set[int]:
    """The parts around loaded elements, out to the trunk, that are not loaded themselves."""
    here = {row.key for row in rows}
    scopes = {row.calling_element if isinstance(row, InstanceRow) else row.scope_key for row in rows} - {None}
    absent = [scope for scope in scopes if scope not in here and scope not in state.elements]
    if not absent:
        return set()
    found = (await reader.execute(_sql["parts_around"], (sorted(absent),))).rows
    return set(_lacking(state, set(found)))


async def _around(reader: Connection, state: State, scopes: list[int], to_end: bool) -> None:
    """The variables of what was loaded, and the definitions that it runs by."""
    if not scopes:
        return
    instances = [element for key in scopes if isinstance(element := state.elements[key], Instance)]
    definitions = {i.definition_key for i in instances if i.definition_key not in state.catalogue.definitions}
    bodies = [key for key in scopes if (e := state.elements[key]).loop is not None and e.pages is None]
    people = {_part_of(e) for key in scopes if (e := state.elements[key]).type == "USER_TASK"}
    calls: list[Call] = [] if to_end else [(_sql["variables"], (scopes,))]
    if bodies:
        calls.append((_sql["loop_items"], (bodies,)))
    if definitions:
        calls += _families(state, set(), definitions)
    if people:
        calls.append((_sql["user_tasks"], (sorted(people),)))
    results = await reader.pipeline(calls) if calls else []
    answers = {call[0]: result.rows for call, result in zip(calls, results, strict=True)}
    for number, (key, scope_key, name, value) in enumerate(answers.get(_sql["variables"], []), 1):
        if not number % ROWS_A_TURN:
            await trio.lowlevel.checkpoint()
        scope = state.elements[scope_key]
        variable = scope.variables[name] = Variable(key, scope, name, value)
        scope.root.weight += variable.weight()
    if to_end:
        pages.leave_unread(state, scopes)
    for body_key, index, item, result in answers.get(_sql["loop_items"], []):
        body = state.elements[body_key]
        body.items.append(LoopItem(index, body, item, result))
    if definitions:
        _take_families(state, set(), answers[_sql["families"]], answers[_sql["start_timers"]])
    for row in answers.get(_sql["user_tasks"], []):
        _user_task(state, row)
    if state.paged:
        await pages.items(reader, state, (), pages.untaken(state, scopes))


def _part_of(element: Element) -> int:
    return element.root.key if element.part is None else element.part.key


def _families(
    state: State, families: set[tuple[str, str]], definitions: set[int], timers: Set[int] = frozenset()
) -> tuple[Call, Call]:
    """The calls for families that are named, or that these definitions or timers belong to, and for their timers."""
    pairs = sorted(families)
    named = [pair[0] for pair in pairs], [pair[1] for pair in pairs], sorted(definitions)
    return (
        (_sql["families"], (*named, state.partition, sorted(timers))),
        (_sql["start_timers"], (*named, sorted(timers))),
    )


def _take_families(state: State, asked: set[tuple[str, str]], rows: Rows, timers: Rows) -> None:
    for row in timers:
        _start_timer(state, row)
    fresh: dict[tuple[str, str], dict[int, Definition]] = {pair: {} for pair in asked}
    for key, deployment, tenant, process_id, version, name, tag, resource, sha256, status, at, running in rows:
        definition = Definition(key, deployment, tenant, process_id, version, name, tag, resource, sha256, status, at)
        if (tenant, process_id) not in state.catalogue.families:
            fresh.setdefault((tenant, process_id), {})[version] = definition
            state.catalogue.definitions[key] = definition
            if running is not None:
                state.catalogue.usage.setdefault(key, Usage(key, running))
    state.catalogue.families.update(fresh)


_STATES = {state.value: state for state in ElementState}


def _instance(state: State, row: InstanceRow) -> Instance:
    instance = Instance(
        row.key,
        row.process_id,
        "PROCESS",
        _STATES[row.state],
        None,  # type: ignore[arg-type]  # set below: a root is its own root
        None,  # type: ignore[arg-type]
        None if row.calling_element is None else state.elements[row.calling_element],
        (row.key,),
        row.started_at,
        tokens=_decode(row.tokens),
        live=row.live,
        then=_tuple(row.then),
        interrupted=row.interrupted,
        request=row.request,
        incidents=row.incidents,
        definition_key=row.definition_key,
        process_id=row.process_id,
        version_number=row.version_number,
        version_tag=row.version_tag,
        name=row.name,
        tenant=row.tenant,
        business_id=row.business_id,
        tags=tuple(row.tags),
        depth=row.depth,
        created_position=row.created_position,
        parent_instance=row.parent_instance,
        start=_decode(row.start, type=tuple[str, dict[str, str]]) if row.start else None,
        start_lock=row.start_lock,
        terminate_after=tuple(row.terminate_after or ()),
        work=tuple((item[0], item[1], item[2]) for item in _decode(row.work)) if row.work else (),
        revision=row.revision,
        in_parts=row.in_parts,
    )
    _set_root(state, instance, row.root_key)
    instance.root.weight += INSTANCE_WEIGHT
    _count(instance)
    return instance


def _set_root(state: State, instance: Instance, root_key: int) -> None:
    instance.instance = instance
    if instance.key == root_key:
        instance.root = state.trees[root_key] = instance
    else:
        instance.root = state.trees[root_key]
        instance.part = None if instance.scope is None else instance.scope.part


def _element(state: State, row: ElementRow) -> Element:
    # fmt: off
    (
        key, instance_key, scope_key, path, element_id, type_, status, loop_index, tokens, live,
        then, interrupted, occurred, loop, request, incidents, incident, started_at, label,
    ) = row  # not a look-up per field: there may be thousands of rows
    # fmt: on
    instance = state.elements[instance_key]
    assert isinstance(instance, Instance), f"{instance_key} holds {key}, but is no process instance"
    element = Element(
        key,
        element_id,
        type_,
        _STATES[status],
        instance.root,
        instance,
        state.elements[scope_key],
        tuple(path),
        started_at,
        tokens=_decode(tokens),
        live=live,
        index=loop_index,
        label=label,
        then=_tuple(then),
        interrupted=interrupted,
        occurred=_decode(occurred) if occurred else None,
        loop=_decode(loop, type=LoopState) if loop else None,
        request=request,
        incidents=incidents,
        incident=incident,
    )
    instance.root.weight += ELEMENT_WEIGHT
    _place(state, element)
    _count(element)
    return element


def _count(element: Element) -> None:
    together = element.root if element.part is None else element.part
    together.rows += 1 + still_to_come(element)


def _place(state: State, element: Element) -> None:
    """The part that an element belongs to: it begins one if it is the inner instance of a paged loop."""
    scope = element.scope
    if scope is not None:
        element.part = scope.part
        if scope.pages is not None:
            element.part = state.parts[element.key] = Part(element.key, element)
    if element.loop is not None and element.loop.paged:
        element.pages = LoopPages(element.key)
        state.paged[element.key] = element


def _job(state: State, row: tuple[Any, ...]) -> None:
    key, element_key, type_, kind, event, index, status, retries, priority, headers, code, message, *times = row
    made, changed, available_at = times
    element = state.elements[element_key]
    job = Job(key, element, type_, retries, priority, _decode(headers), kind, event, index, made, changed, status)
    job.error_code, job.error_message, job.available_at = code, message, available_at
    state.jobs[key] = element.jobs[key] = job
    element.root.weight += JOB_WEIGHT


def _incident(state: State, row: tuple[Any, ...]) -> None:
    (key, element_key, stage, argument, type_, message, job, made) = row
    element = state.elements[element_key]
    incident = Incident(key, element, stage, _decode(argument) if argument else 0, type_, message, job, made)
    state.incidents[key] = element.open_incidents[key] = incident
    element.root.weight += INCIDENT_WEIGHT


def _timer(state: State, row: tuple[Any, ...]) -> None:
    (key, element_key, target, type_, due_at, repetitions, cycle, made, status) = row
    element = state.elements[element_key]
    instance = element.instance
    timer = Timer(
        key,
        element,
        target,
        type_,
        due_at,
        repetitions,
        _cycle(cycle),
        made,
        instance.definition_key,
        instance.process_id,
        instance.tenant,
        status,
    )
    state.timers[key] = element.timers[key] = timer
    element.root.weight += TIMER_WEIGHT


def _subscription(state: State, row: tuple[Any, ...]) -> None:
    key, element_key, *columns = row
    element = state.elements[element_key]
    subscription = Subscription(key, element, *columns)
    state.subscriptions[key] = element.subscriptions[key] = subscription
    add_loaded(state.waiting, subscription)
    element.root.weight += SUBSCRIPTION_WEIGHT


def _user_task(state: State, row: tuple[Any, ...]) -> None:
    (key, element_key, assignee, groups, users, due_at, follow_up_at, priority, headers, form, form_key, made) = row
    element = state.elements[element_key]
    element.user_task = state.user_tasks[key] = UserTask(
        key,
        element,
        assignee,
        tuple(groups),
        tuple(users),
        due_at,
        follow_up_at,
        priority,
        _decode(headers),
        form,
        form_key,
        made,
    )
    element.root.weight += USER_TASK_WEIGHT


def _start_timer(state: State, row: tuple[Any, ...]) -> None:
    """Of a family that was loaded before, the state knows better: what is not there has ended."""
    key, target, type_, due_at, repetitions, cycle, made, definition, process_id, tenant, status = row
    process = (tenant, process_id)
    if process not in state.catalogue.families:
        timer = Timer(
            key, None, target, type_, due_at, repetitions, _cycle(cycle), made, definition, process_id, tenant, status
        )
        state.timers[key] = state.catalogue.start_timers.setdefault(process, {})[key] = timer


def _cycle(text: str | None) -> tuple[str, str, int, int] | None:
    return None if text is None else _decode(text, type=tuple[str, str, int, int])


def _tuple(text: str | None) -> tuple[Any, ...] | None:
    return None if text is None else tuple(_decode(text))


_HELD: dict[str, Callable[[State, tuple[Any, ...]], None]] = {
    "jobs": _job,
    "incidents": _incident,
    "timers": _timer,
    "subscriptions": _subscription,
}
"""What scopes hold: the statement that reads its rows, and the function that takes one."""
