"""Families: all versions of a process, with their start timers."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from vivero.core.state.catalogue import Definition, Usage
from vivero.core.state.instance_tree import Timer
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import load
from vivero.storage.state.stored_rows import FamilyRow, StartTimerRow
from vivero.storage.state.stored_waits import cycle_of

_sql = load(Path(__file__).with_name("load.sql"))
FAMILIES, START_TIMERS = _sql["families"], _sql["start_timers"]

Rows = Iterable[tuple[Any, ...]]


def calls_for(
    state: State,
    families: set[tuple[str, str]],
    definitions: set[int],
    timers: Set[int] = frozenset(),
    deployments: Set[int] = frozenset(),
) -> tuple[Call, Call]:
    """The calls for these families, and for those of these definitions, start timers and deployments."""
    pairs = sorted(families)
    named = [pair[0] for pair in pairs], [pair[1] for pair in pairs], sorted(definitions)
    others = sorted(timers), sorted(deployments)
    return (FAMILIES, (*named, state.partition, *others)), (START_TIMERS, (*named, *others))


def add(state: State, asked: set[tuple[str, str]], rows: Rows, timers: Rows) -> None:
    """Adds families to the catalogue, also those `asked` families that do not exist.

    A family that the catalogue has stays as it is: the state knows better.
    """
    for columns in timers:
        _add_start_timer(state, StartTimerRow._make(columns))
    fresh: dict[tuple[str, str], dict[int, Definition]] = {pair: {} for pair in asked}
    for row in map(FamilyRow._make, rows):
        family = (row.tenant, row.process_id)
        if family not in state.catalogue.families:
            definition = Definition(*row[:-1])
            fresh.setdefault(family, {})[row.version] = definition
            state.catalogue.definitions[row.key] = definition
            if row.running is not None:
                state.catalogue.usage.setdefault(row.key, Usage(row.key, row.running))
    state.catalogue.families.update(fresh)


def _add_start_timer(state: State, row: StartTimerRow) -> None:
    """A timer of a family that the catalogue has, and that the state lacks, has ended."""
    family = (row.tenant, row.process_id)
    if family in state.catalogue.families:
        return
    timer = Timer(
        row.key,
        None,
        row.target,
        row.type,
        row.due_at,
        row.repetitions,
        cycle_of(row.cycle),
        row.created_at,
        row.definition_key,
        row.process_id,
        row.tenant,
        row.state,
    )
    state.timers[row.key] = state.catalogue.start_timers.setdefault(family, {})[row.key] = timer
