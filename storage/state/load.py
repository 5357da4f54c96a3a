"""Loads the rows that a batch needs into the state, in rounds. Each round is a constant number of statements.

References (job, incident, element keys) → parts of trees → their rows → their variables and definitions. A part is a
tree without the inner instances of its paged loops, or one such inner instance (`pages`). A row that the state has is
never read again: while a batch is on its way, the state may be newer than the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import takewhile
from typing import Any, NamedTuple

import trio

from vivero.core.needs import Lease, Leases, Need, NeedKind
from vivero.core.partitions.tenants import covers
from vivero.core.rules import HELD_AT_ONCE
from vivero.core.shared.suspended_work import WAITS_A_PAGE
from vivero.core.state import loaded_waits
from vivero.core.state.instance_tree import SUSPENDED_ITEM_WEIGHT, Element, Instance, LoopItem, Variable
from vivero.core.state.state import State
from vivero.core.state.work_rows import Items, items_of
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.values import whole_numbers
from vivero.storage.state import (
    cluster_variables,
    compensations,
    families,
    message_channels,
    pages,
    row_bound,
    task_listeners,
    versions,
)
from vivero.storage.state.load_plan import OF_TREES, LoadPlan
from vivero.storage.state.row_bound import Reference, lacking
from vivero.storage.state.scope_variables import VARIABLES, places_of, variables_of
from vivero.storage.state.stored_scopes import add_element, add_instance
from vivero.storage.state.tables import (
    ELEMENTS,
    INCIDENTS,
    INSTANCES,
    JOBS,
    SUBSCRIPTIONS,
    TIMERS,
    USER_TASKS,
    ScopeTable,
    StoredRow,
    WaitTable,
)

_sql = beside(__file__)

Rows = list[tuple[Any, ...]]
Scope = tuple[ScopeTable, StoredRow]
"""The second and third columns are the keys of its root or process instance, and of the scope around it."""
_OF_ALL_SCOPES = (JOBS, INCIDENTS, TIMERS, SUBSCRIPTIONS)
"""The tables of waits that are read for all scopes. Only parts with user tasks read theirs."""
PARTS_A_TURN = 500
"""Inner instances of a whole tree that are read together."""
ROWS_A_TURN = 2_000
"""Rows that are added to the state before other tasks have a turn: about 3 ms."""


class Loaded(NamedTuple):
    """The result of a load."""

    leases: Leases
    """Those that were asked for."""
    left_out: set[Need]
    """Needs whose trees wait for another load, because those of earlier needs are large (see `row_bound`)."""
    found: int = 0
    """The number of needed rows of instances that the state had, and of those that the database was asked for."""
    looked_up: int = 0


async def fill(reader: Connection, state: State, needs: Iterable[Need]) -> Loaded:
    """Load what `needs` name and the state lacks. Repeat for what is left out: each call loads at least one tree."""
    needs = list(needs)
    pages_of_signals = await message_channels.fill(reader, state, needs)
    plan = LoadPlan(state, needs)
    loaded = await _load_references(reader, state, plan, needs, pages_of_signals)
    if plan.work:
        await _load_work(reader, state, plan.work)
    if plan.whole:
        await _load_whole(reader, state, plan.whole)
    for page in {need.key for need in needs if need.kind is NeedKind.SUSPENDED}:
        await _load_suspended(reader, state, *page)
    if plan.variables:
        await pages.variables(reader, state, plan.variables)
    if plan.items:
        await pages.items(reader, state, (), plan.items)
    if plan.usages:
        others = [one for one in state.routes.all if one != state.partition]
        found = (await reader.execute(_sql["running_elsewhere"], (sorted(plan.usages), others))).rows
        state.running_elsewhere |= dict.fromkeys(plan.usages, 0) | dict(found)
    if plan.held:
        state.held = (await reader.execute(_sql["held_commands"], (state.partition, HELD_AT_ONCE + 1))).rows[0][0]
    if plan.results:
        await pages.results(reader, state, plan.results)
    if plan.registrations or plan.latest_registrations:
        await compensations.load(reader, state, plan.registrations, plan.latest_registrations)
    for instance, most in plan.all_registrations:
        await compensations.load_whole(reader, state, instance, most)
    return loaded._replace(found=plan.found, looked_up=plan.looked_up)


async def _load_references(
    reader: Connection, state: State, plan: LoadPlan, needs: list[Need], signals: message_channels.SignalPages
) -> Loaded:
    """Load the parts of trees that needs name, as far as the bound of rows allows."""
    rows, leases = await _references(reader, state, plan)
    references = _in_order(needs, rows, signals)
    beyond = await row_bound.beyond(reader, state, references)
    parts = lacking(state, {one.place for one in references} - beyond)
    used = lacking(state, {one.place for one in references if not one.need.to_end})
    await load_parts(reader, state, parts, parts.keys() - used.keys())
    left_out = {one.need for one in references if one.place in beyond and one.need.kind is not NeedKind.SIGNAL}
    return Loaded(leases, left_out | message_channels.take_signals(state, signals, beyond))


def _in_order(needs: list[Need], rows: Rows, signals: message_channels.SignalPages) -> list[Reference]:
    """The keys that needs name in trees of their tenants, in the order of the needs."""
    if not rows and not signals:
        return []
    named = {row[0]: row for row in rows}
    references: list[Reference] = []
    for need in dict.fromkeys(needs):
        if need.kind is NeedKind.SIGNAL:
            references += (Reference(need, *row) for row in signals.get(need.key, ()))
        elif need.kind in OF_TREES and need.key in named:
            *place, tenant = named[need.key]
            if covers(need.tenants, tenant):
                references.append(Reference(need, *place))
    return references


async def _load_work(reader: Connection, state: State, roots: set[int]) -> None:
    """Loads the elements of deferred work. Trees without paged loops are complete, except for ended elements."""
    keys = pages.work_of(state, roots)
    if keys:
        found = (await reader.execute(_sql["roots"], ([], [], sorted(keys), [], []))).rows
        place = {row[0]: row[:-1] for row in found}
        references = [Reference(Need(NeedKind.ELEMENT, key), *place[key]) for key in keys if key in place]
        beyond = await row_bound.beyond(reader, state, references)
        await load_parts(reader, state, lacking(state, {one.place for one in references} - beyond))
        pages.bound_work(state, roots, {one.key for one in references if one.place in beyond})
    while parts := await pages.children(reader, state, roots):
        await load_parts(reader, state, parts, parts.keys())
        if not state.parts.keys().isdisjoint(parts):
            break
    await pages.items(reader, state, roots, ())


async def _load_whole(reader: Connection, state: State, instances: Set[int]) -> None:
    """Loads the inner instances of all paged loops below instances. A loop in a loop takes another round.

    The command has checked how many rows they are (`core.shared.whole_trees`)."""
    while parts := await pages.absent(reader, state, instances):
        keys = sorted(parts)
        for first in range(0, len(keys), PARTS_A_TURN):
            page = keys[first : first + PARTS_A_TURN]
            await load_parts(reader, state, {key: parts[key] for key in page}, set(page))
        if state.parts.keys().isdisjoint(parts):
            break


async def _load_suspended(reader: Connection, state: State, instance: int, after: int) -> None:
    """Loads the parts with the next suspended waits of an instance. Those that a commit under way changes are there."""
    rows = (await reader.execute(_sql["suspended_waits"], (instance, after, WAITS_A_PAGE))).rows
    references = [Reference(Need(NeedKind.ELEMENT, key), key, root, part) for key, root, part in rows]
    beyond = await row_bound.beyond(reader, state, references)
    within = list(takewhile(lambda one: one.place not in beyond, references))
    await load_parts(reader, state, lacking(state, [one.place for one in within]))
    is_last = len(within) == len(rows) < WAITS_A_PAGE
    state.loaded_pages[instance, after] = None if is_last else within[-1].key


async def _references(reader: Connection, state: State, plan: LoadPlan) -> tuple[Rows, Leases]:
    """Rows (key, root, part, tenant) of what the plan names in trees, and lease tokens."""
    calls: list[Call] = []
    keys = [sorted(plan.jobs), sorted(plan.incidents), sorted(plan.elements), sorted(plan.timers)]
    keys.append(sorted(plan.subscriptions))
    if any(keys):
        calls.append((_sql["roots"], keys))
    if plan.user_tasks:
        calls.append((_sql["user_task_roots"], (sorted(plan.user_tasks),)))
    if plan.leases:
        calls.append((_sql["leases"], (sorted(plan.leases),)))
    if plan.families or plan.definitions or plan.timers or plan.deployments:
        calls += families.calls_for(state, plan.families, plan.definitions, plan.timers, plan.deployments)
    if plan.forms or plan.form_keys or plan.deployments:
        calls.append(versions.call_for(versions.FORMS, plan.forms, plan.form_keys, plan.deployments))
    if plan.generic_resources or plan.generic_resource_keys or plan.deployments:
        named = versions.GENERIC_RESOURCES, plan.generic_resources
        calls.append(versions.call_for(*named, plan.generic_resource_keys, plan.deployments))
    if plan.requirements or plan.requirements_keys or plan.deployments:
        named = versions.REQUIREMENTS, plan.requirements
        calls.append(versions.call_for(*named, plan.requirements_keys, plan.deployments))
    if plan.decisions or plan.decision_keys or plan.requirements_keys:
        named = versions.DECISIONS, plan.decisions
        calls.append(versions.call_for(*named, plan.decision_keys, plan.requirements_keys))
    if plan.task_listeners:
        calls.append((task_listeners.LISTENERS, ()))
    if plan.cluster_variables:
        calls.append(cluster_variables.call_for(plan.cluster_variables))
    if not calls:
        return [], {}
    results = await reader.pipeline(calls)
    answers = {call[0]: result.rows for call, result in zip(calls, results, strict=True)}
    families.add(state, plan.families, answers.get(families.FAMILIES, []), answers.get(families.START_TIMERS, []))
    versions.add_forms(state, plan.forms, answers.get(versions.FORMS, []))
    versions.add_generic_resources(state, plan.generic_resources, answers.get(versions.GENERIC_RESOURCES, []))
    versions.add_requirements(state, plan.requirements, answers.get(versions.REQUIREMENTS, []))
    versions.add_decisions(state, plan.decisions, answers.get(versions.DECISIONS, []))
    if plan.task_listeners:
        task_listeners.add(state, answers[task_listeners.LISTENERS])
    if plan.cluster_variables:
        cluster_variables.add(state, plan.cluster_variables, answers[cluster_variables.SEEN])
    state.catalogue.deployments.update(dict.fromkeys(plan.deployments))
    rows = answers.get(_sql["roots"], []) + answers.get(_sql["user_task_roots"], [])
    return rows, {key: _lease(token, until) for key, token, until in answers.get(_sql["leases"], [])}


def _lease(token: str | None, until: int | None) -> Lease | None:
    """Suspended jobs keep the end of their lease elsewhere."""
    return None if token is None else Lease(token, until or 0)


async def load_parts(reader: Connection, state: State, parts: dict[int, int], to_end: Set[int] = frozenset()) -> None:
    """Loads parts (part → root). Those in `to_end` come without variables, because they are only to be ended."""
    if not parts:
        return
    weights = {root: state.trees[root].weight if root in state.trees else 0 for root in parts.values()}
    keys = await _rows_of(reader, state, parts)
    await _load_contents(reader, state, keys, to_end)
    for root, before in weights.items():
        if root in state.trees:
            state.weight += state.trees[root].weight - before


async def _rows_of(reader: Connection, state: State, parts: dict[int, int]) -> list[int]:
    """Loads all live rows of the parts except variables; returns the keys of the loaded scopes.

    A part within another part (a loop in a loop) also needs the parts around it, which take one more round at any
    depth.
    """
    scopes: list[Scope] = []
    held: dict[WaitTable, Rows] = {table: [] for table in _OF_ALL_SCOPES}
    asked, lacking = set(parts), set(parts)
    while lacking:
        keys_of_parts = whole_numbers(sorted(lacking))
        names = ("instances", "elements", *(table.name for table in held))
        instances, elements, *others = await reader.pipeline([(_sql[name], (keys_of_parts,)) for name in names])
        scopes += ((INSTANCES, row) for row in instances.rows)
        scopes += ((ELEMENTS, row) for row in elements.rows)
        for rows, result in zip(held.values(), others, strict=True):
            rows += result.rows
        lacking = await _parts_around(reader, state, scopes) - asked
        asked |= lacking
    keys = await _add_scopes(state, scopes)
    for table, rows in held.items():
        _add_waits(state, table, rows)
    return keys


def _add_waits(state: State, table: WaitTable, rows: Rows) -> None:
    """Adds rows to the state and to their elements."""
    elements, weight = state.elements, loaded_waits.WEIGHTS[table.name]
    loaded = [table.row(stored, elements[stored[1]]) for stored in rows]
    loaded_waits.add(state, table.name, loaded)
    for row in loaded:
        row.element.tree.weight += weight
    if table is USER_TASKS:
        for task in loaded:
            task.element.tree.weight += task.weight()


async def _add_scopes(state: State, scopes: list[Scope]) -> list[int]:
    """Adds scopes to the state, outer scopes first: an inner scope has a larger key. Returns their keys."""
    keys = []
    for number, (table, stored) in enumerate(sorted(scopes, key=_key_of), 1):
        if not number % ROWS_A_TURN:
            await trio.lowlevel.checkpoint()
        element = add_instance(state, stored) if table is INSTANCES else add_element(state, stored)
        state.elements[element.key] = element
        if element.scope is not None:
            element.scope.children[element.key] = element
        keys.append(element.key)
    return keys


def _key_of(scope: Scope) -> int:
    key: int = scope[1][0]
    return key


async def _parts_around(reader: Connection, state: State, rows: list[Scope]) -> set[int]:
    """The parts around loaded elements, out to the root, that the state lacks."""
    here = {stored[0] for _, stored in rows}
    scopes = {stored[2] for _, stored in rows} - {None}
    absent = [scope for scope in scopes if scope not in here and scope not in state.elements]
    if not absent:
        return set()
    found = (await reader.execute(_sql["parts_around"], (sorted(absent),))).rows
    return set(lacking(state, set(found)))


async def _load_contents(reader: Connection, state: State, scopes: list[int], to_end: Set[int]) -> None:
    """Loads the variables, loop items, user tasks and definitions of scopes that were just loaded."""
    if not scopes:
        return
    elements = [state.elements[key] for key in scopes]
    instances = [element for element in elements if isinstance(element, Instance)]
    definitions = {i.definition_key for i in instances if i.definition_key not in state.catalogue.definitions}
    bodies = [element.key for element in elements if element.loop is not None and element.pages is None]
    with_rows = [instance.key for instance in instances if instance.suspended_rows or instance.own_tree.work_rows]
    user_task_parts = {_part_of(element) for element in elements if element.type == "USER_TASK"}
    lazy = to_end - {_part_of(element) for element in elements if element.registered}  # handlers may see the others'
    ending = {element.key for element in elements if _part_of(element) in lazy} if lazy else set()
    used = [one for one in elements if one.key not in ending] if len(ending) < len(scopes) else []
    calls: list[Call] = [variables_of(places_of(used))] if used else []
    if bodies:
        calls.append((_sql["loop_items"], (bodies,)))
    if with_rows:
        calls.append((_sql["work_items"], (with_rows,)))
    if definitions:
        calls += families.calls_for(state, set(), definitions)
    if user_task_parts:
        calls.append((_sql["user_tasks"], (sorted(user_task_parts),)))
    results = await reader.pipeline(calls) if calls else []
    answers = {call[0]: result.rows for call, result in zip(calls, results, strict=True)}
    await _add_variables(state, answers.get(VARIABLES, []))
    await compensations.load_past(reader, elements)
    pages.make_lazy(state, ending)
    _add_work(state, instances, answers.get(_sql["work_items"], []))
    for body_key, index, item, result in answers.get(_sql["loop_items"], []):
        body = state.elements[body_key]
        body.items.append(LoopItem(index, body, item, result))
    if definitions:
        families.add(state, set(), answers[families.FAMILIES], answers[families.START_TIMERS])
    _add_waits(state, USER_TASKS, answers.get(_sql["user_tasks"], []))
    if state.paged:
        await pages.items(reader, state, (), pages.untaken(state, scopes))


def _add_work(state: State, instances: list[Instance], rows: Rows) -> None:
    """Puts the work items of rows of their own before the latest ones, and weighs the suspended ones."""
    first: dict[tuple[int, bool], Items] = {}
    for key, suspended, items in rows:
        first[key, suspended] = first.get((key, suspended), ()) + items_of(items)
    for (key, suspended), items in first.items():
        instance = state.instance(key)
        if suspended:
            instance.suspended_work = items + instance.suspended_work
        else:
            instance.tree.work = items + instance.tree.work
    for instance in instances:
        instance.tree.weight += SUSPENDED_ITEM_WEIGHT * len(instance.suspended_work)


async def load_variables(reader: Connection, state: State, scopes: Iterable[Element]) -> None:
    """Loads the variables of scopes that were loaded without them."""
    await _add_variables(state, (await reader.execute(*variables_of(places_of(scopes)))).rows)


async def _add_variables(state: State, rows: Rows) -> None:
    for number, (key, scope_key, name, value) in enumerate(rows, 1):
        if not number % ROWS_A_TURN:
            await trio.lowlevel.checkpoint()
        scope = state.elements[scope_key]
        variable = scope.variables[name] = Variable(key, scope, name, value)
        scope.tree.weight += variable.weight()


def _part_of(element: Element) -> int:
    return element.tree.key if element.part is None else element.part.key
