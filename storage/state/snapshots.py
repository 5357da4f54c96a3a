"""The snapshot of an instance tree from the database: all reads see the same state of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import trio

from vivero.core.partitions.keys import partition_of
from vivero.core.snapshots import format as entries
from vivero.core.snapshots.format import FORMAT, Snapshot, raw
from vivero.core.snapshots.writer import snapshot_in_steps
from vivero.core.state.instance_tree import MISSING, NO_TREE, NO_WAITS, Instance
from vivero.core.state.registrations import Registration
from vivero.core.state.state import State
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state import compensations, load, pages
from vivero.storage.state.scope_variables import parameters_of, places_of, variables_of

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)

ONE_MOMENT = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""All statements of the transaction see the same rows."""

MOST_ELEMENTS = 10_000
"""Live elements of a snapshot: as many as are loaded together (`TreeRules.max_part_rows`)."""
ROWS_A_TURN = 500
"""Elements that are taken apart between two turns of other tasks: about 1 ms."""
MOST_CHARACTERS = 8_000_000
"""Characters of variables, items and results in a snapshot."""


class TooLarge(Exception):
    """The tree exceeds the limits of a snapshot."""


class CalledInstance(Exception):
    """The instance is part of the tree of another one, `root`."""

    def __init__(self, root: int) -> None:
        super().__init__(root)
        self.root = root


class _Tree(NamedTuple):
    root: int
    version: int
    in_parts: int
    ended: bool
    tenant: str
    now: int


class LiveTree(NamedTuple):
    """A tree in a state of its own, with all that is alive in it. `now`: the engine's time, epoch milliseconds."""

    state: State
    root: Instance
    registrations: list[Registration]
    version: int
    in_parts: int
    """Live elements that the engine loads in parts. Here they are in memory like all others."""
    now: int

    async def snapshot(self) -> Snapshot:
        """The tree as a document. Other tasks have turns meanwhile."""
        at = _latest_time(self.state, self.root)
        catalogue, registrations = self.state.catalogue, self.registrations
        steps = snapshot_in_steps(self.root, catalogue, version=self.version, at=at, registrations=registrations)
        while True:
            await trio.lowlevel.checkpoint()
            try:
                next(steps)
            except StopIteration as end:
                snapshot: Snapshot = end.value
                return snapshot

    async def take_apart(self) -> None:
        """Let go of all rows, so that each is freed with the last reference to it. Other tasks have turns meanwhile.

        Scopes and what is in them refer to each other. The garbage collector frees such trees many at a time, and holds
        the event loop for as long: for 1 s after ten trees of 10,000 elements.
        """
        for number, element in enumerate(list(self.state.elements.values())):
            element.children, element.variables, element.items, element.waits = {}, {}, [], NO_WAITS
            element.instance, element.tree, element.part, element.pages = MISSING, NO_TREE, None, None
            if number % ROWS_A_TURN == 0:
                await trio.lowlevel.checkpoint()


async def read_snapshot(connection: Connection, key: int, tenants: Tenants = None) -> Snapshot | None:
    """The snapshot of the tree of a root; None if these tenants have no such instance.

    Raises:
        CalledInstance: the instance is not a root.
        TooLarge: the tree exceeds the limits.
    """
    async with connection.transaction(ONE_MOMENT):
        rows = (await _of_tenants.execute(connection, "instance", tenants, key)).rows
        if not rows:
            return None
        tree = _Tree._make(rows[0])
        if tree.root != key:
            raise CalledInstance(tree.root)
        if tree.ended:
            return await _ended(connection, tree)
        live = await _live(connection, tree)
        snapshot = await live.snapshot()
        await live.take_apart()
        return snapshot


async def read_live_tree(connection: Connection, key: int, tenants: Tenants = None) -> LiveTree | None:
    """The tree of any of its process instances; None if these tenants have no such tree, or if it has ended.

    The connection is in a transaction at `ONE_MOMENT`. Raises TooLarge: the tree exceeds the limits.
    """
    rows = (await _of_tenants.execute(connection, "instance", tenants, key)).rows
    if not rows or (tree := _Tree._make(rows[0])).ended:
        return None
    return await _live(connection, tree)


async def _live(connection: Connection, tree: _Tree) -> LiveTree:
    counted = await connection.execute(_sql["live_elements"], (tree.root, MOST_ELEMENTS + 1))
    if tree.in_parts + counted.rows[0][0] > MOST_ELEMENTS:
        raise TooLarge(f"it has more than {MOST_ELEMENTS} live elements")
    state = State(partition_of(tree.root))
    await _load_scopes(connection, state, tree.root)
    await _load_values(connection, state)
    registrations, root = await _load_registrations(connection, state), state.trees[tree.root].root
    return LiveTree(state, root, registrations, tree.version, tree.in_parts, tree.now)


async def _load_scopes(connection: Connection, state: State, root: int) -> None:
    """Loads all live rows but variables and items of loops: first the root, then loop after loop."""
    await load.load_parts(connection, state, {root: root}, {root})
    entered: set[int] = set()
    while bodies := state.paged.keys() - entered:
        entered |= bodies
        inner = (await connection.execute(_sql["inner_instances"], (sorted(bodies),))).rows
        for page in _pages([key for (key,) in inner]):
            await load.load_parts(connection, state, dict.fromkeys(page, root), set(page))


def _pages(keys: list[int]) -> Iterator[list[int]]:
    """The keys in pages, between which other tasks have turns."""
    return (keys[first : first + load.PARTS_A_TURN] for first in range(0, len(keys), load.PARTS_A_TURN))


async def _load_values(connection: Connection, state: State) -> None:
    """Loads the variables, and the items and results of paged loops. Raises TooLarge."""
    scopes = parameters_of(places_of(state.elements.values()))
    length = (await connection.execute(_sql["characters"], scopes)).rows[0][0]
    if length > MOST_CHARACTERS:
        raise TooLarge(f"its variables and the items of its loops have more than {MOST_CHARACTERS} characters")
    for element in state.elements.values():
        element.variables = {}
    for page in _pages(sorted(state.elements)):
        await load.load_variables(connection, state, [state.elements[key] for key in page])
    if state.paged:
        for body_key, items in (await connection.execute(_sql["all_loop_items"], (sorted(state.paged),))).rows:
            loop = state.paged[body_key].pages
            assert loop is not None, "only bodies of paged loops are in this table"
            loop.rows.append(items)
        await pages.results(connection, state, state.paged)


async def _load_registrations(connection: Connection, state: State) -> list[Registration]:
    """Loads the completed activities that can be compensated, with the variables of scopes. Raises TooLarge."""
    rows = await compensations.load_all(connection, state, MOST_ELEMENTS + 1)
    if len(rows) > MOST_ELEMENTS:
        raise TooLarge(f"it has more than {MOST_ELEMENTS} completed activities that can be compensated")
    places = {row.activity: row.instance.key for row in rows if row.is_scope}
    length = (await connection.execute(_sql["characters"], parameters_of(places))).rows[0][0] if places else 0
    if length > MOST_CHARACTERS:
        raise TooLarge(f"the variables of its completed scopes have more than {MOST_CHARACTERS} characters")
    await compensations.load_variables(connection, rows)
    return rows


def _latest_time(state: State, root: Instance) -> int:
    """The latest time that the rows show. The tree may have changed later."""
    times = [root.started_at, *(element.started_at for element in state.elements.values())]
    times += (job.updated_at for job in state.jobs.values())
    times += (subscription.updated_at for subscription in state.subscriptions.values())
    times += (timer.created_at for timer in state.timers.values())
    times += (incident.created_at for incident in state.incidents.values())
    times += (task.created_at for task in state.user_tasks.values())
    return max(times)


async def _ended(connection: Connection, tree: _Tree) -> Snapshot:
    """The root with its last state and its variables. The rest of the tree has ended."""
    row = (await connection.execute(_sql["ended_instance"], (tree.root,))).rows[0]
    process_id, state, started_at, ended_at, business_id, tags, created_position, definition, version, *more = row
    name, version_tag, digest, resource = more
    rows = (await connection.execute(*variables_of({tree.root: tree.root}))).rows
    length = sum(len(row[3]) for row in rows)
    if length > MOST_CHARACTERS:
        raise TooLarge(f"its variables have more than {MOST_CHARACTERS} characters")
    process = entries.ProcessEntry(
        definition_key=str(definition), business_id=business_id, tags=tuple(tags), created_position=created_position
    )
    root = entries.ElementEntry(
        key=str(tree.root), element_id=process_id, type="PROCESS", state=state, started_at=started_at, process=process
    )
    variables = tuple(
        entries.VariableEntry(key=str(key), scope_key=str(scope), name=variable, value=raw(value))
        for key, scope, variable, value in rows
    )
    return Snapshot(
        format=FORMAT,
        version=tree.version,
        at=ended_at,
        state=state,
        next_key=str(max([tree.root, *(key for key, *_ in rows)]) + 1),
        tenant_id=tree.tenant,
        definitions=(
            entries.DefinitionEntry(
                key=str(definition),
                process_id=process_id,
                version=version,
                sha256=digest,
                resource_name=resource,
                name=name,
                version_tag=version_tag,
            ),
        ),
        elements=(root,),
        variables=variables,
    )
