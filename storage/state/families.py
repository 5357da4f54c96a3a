"""Families: all versions of a process, with their start timers."""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any, NamedTuple

from vivero.core.state.catalogue import Definition, Usage
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import load
from vivero.storage.state.tables import TIMERS, StoredRow

_sql = load(Path(__file__).with_name("load.sql"))
FAMILIES, START_TIMERS = _sql["families"], _sql["start_timers"]

Rows = Iterable[tuple[Any, ...]]


class FamilyRow(NamedTuple):
    """A row of the statement `families`: a definition, and the number of its running instances in the partition."""

    key: int
    deployment_key: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource_name: str
    sha256: str
    state: str
    deployed_at: int
    start_form_id: str | None
    start_form_binding: str | None
    start_form_version_tag: str | None
    retention_ms: int | None
    running: int | None


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
    for stored in timers:
        _add_start_timer(state, stored)
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


def _add_start_timer(state: State, stored: StoredRow) -> None:
    """A timer of a family that the catalogue has, and that the state lacks, has ended."""
    timer = TIMERS.row_of_no_element(stored, None)
    family = (timer.tenant, timer.process_id)
    if family not in state.catalogue.families:
        state.timers[timer.key] = state.catalogue.start_timers.setdefault(family, {})[timer.key] = timer
