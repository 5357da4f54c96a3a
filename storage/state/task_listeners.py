"""The task listeners of the whole cluster: a part of the catalogue that requests change, each in its transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from vivero.core.records.user_tasks import TASK_EVENTS, GlobalListener, GlobalListeners
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Connection, Params
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
LISTENERS = _sql["listeners"]
ALL = "all"
API, CONFIGURATION = "API", "CONFIGURATION"
"""The sources of listeners: requests, and the settings file."""
EVENT_TYPES = (ALL, *map(str.lower, TASK_EVENTS))


class GlobalTaskListener(NamedTuple):
    """A row. `priority`: the higher ones run first. `after_non_global`: after those of the model."""

    id: str
    type: str
    retries: int
    priority: int
    after_non_global: bool
    event_types: list[str]


def each_once(event_types: Iterable[str]) -> list[str]:
    """Lower-case types of events as a row has them: each once, and `all` alone."""
    once = list(dict.fromkeys(event_types))
    return [ALL] if ALL in once else once


async def create(connection: Connection, made: GlobalTaskListener) -> bool:
    """Add a listener. False if there is one with its id."""
    return await _change(connection, "create", made)


async def replace(connection: Connection, changed: GlobalTaskListener) -> bool:
    """Replace the listener with this id. False if there is none that the API may change."""
    return await _change(connection, "replace", changed)


async def delete(connection: Connection, id: str) -> bool:
    """Delete a listener. False if there is none with this id that the API may change."""
    return await _change(connection, "delete", (id,))


async def is_configured(connection: Connection, id: str) -> bool:
    """Whether the settings file has the listener with this id."""
    return (await connection.execute(_sql["source_of"], (id,))).rows == [(CONFIGURATION,)]


async def configure(connection: Connection, listeners: Sequence[GlobalTaskListener]) -> bool:
    """Make the listeners of the settings file those of the cluster, in place of those before. Whether one differs."""
    wanted = sorted(listeners)
    if [GlobalTaskListener(*row) for row in (await connection.execute(_sql["of_file"])).rows] == wanted:
        return False
    async with connection.transaction():
        await _change(connection, "configure", (json.dumps([each._asdict() for each in wanted]),))
    return True


async def _change(connection: Connection, name: str, values: Params) -> bool:
    """Run a statement, and let the next batch of each partition see its result. Whether it changed something."""
    await connection.execute(_sql["changed"])
    return bool((await connection.execute(_sql[name], values)).rows)


def add(state: State, rows: Iterable[tuple[Any, ...]]) -> None:
    """Give the catalogue the rows of `listeners`."""
    found: dict[str, tuple[list[GlobalListener], list[GlobalListener]]] = {event: ([], []) for event in TASK_EVENTS}
    for type, retries, after, event_types in rows:
        for event in TASK_EVENTS if ALL in event_types else map(str.upper, event_types):
            found[event][after].append(GlobalListener(type, retries))
    state.catalogue.task_listeners = {
        event: GlobalListeners(tuple(before), tuple(after))
        for event, (before, after) in found.items()
        if before or after
    }
