"""A bound on the rows that are loaded at once, however many large trees the commands of a batch concern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from vivero.core.needs import Need
from vivero.core.state import batches
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import load

_sql = load(Path(__file__).with_name("load.sql"))

ROWS_A_LOAD = 5_000
"""The live elements of the parts that are loaded at once. The first part is loaded whatever its size."""

Place = tuple[int, int]
"""The root of a tree, and a part of it."""


class Reference(NamedTuple):
    """A row that a need names, or one of them, and the part that it is in."""

    need: Need
    key: int
    root: int
    part: int

    @property
    def place(self) -> Place:
        return self.root, self.part


def lacking(state: State, found: Iterable[Place]) -> dict[int, int]:
    """The parts, their trunks included, that the state lacks and the database may have: part → root."""
    gone = state.ended | batches.ended_in_batch(state)
    lacks: dict[int, int] = {}
    for root, part in found:
        if root not in gone and part not in gone:
            if root not in state.trees:
                lacks[root] = root
            if part != root and part not in state.parts:
                lacks[part] = root
    return lacks


async def beyond(reader: Connection, state: State, references: Sequence[Reference]) -> set[Place]:
    """The places of references that must wait for another load: those after the first `ROWS_A_LOAD` rows.

    The first place that the state lacks is never among them, so that repeated loads end.
    """
    found = dict.fromkeys(one.place for one in references)
    lacks = lacking(state, found)
    places = [place for place in found if place[0] in lacks or place[1] in lacks]
    if len(places) < 2:
        return set()
    columns = [root for root, _ in places], [part for _, part in places], _in_memory(state, places), ROWS_A_LOAD
    ((rows, last),) = (await reader.execute(_sql["rows_of_parts"], columns)).rows
    return set() if rows < ROWS_A_LOAD else set(places[max(last - 1, 1) :])


def _in_memory(state: State, places: Iterable[Place]) -> list[int]:
    """Loaded trunks, and loaded parts that hold others: they may be around parts that are not loaded."""
    trunks = {root for root, _ in places if root in state.trees}
    holding = {body.part.key for body in state.paged.values() if body.part is not None}
    return sorted(trunks | holding)
