"""Compares generated instances with real ones: their rows, shape by shape, and the counts of statistics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.growth import varieties
from benchmarks.growth.templates import Columns, Instance, columns_of, rows_of
from vivero.storage.postgres.driver import Connection

PORTION = 500
KEYS = """
SELECT process_instance_key, business_id FROM process_instances
WHERE business_id = ANY ($1::text[])
"""
COUNTED = """
WITH counted AS (
    SELECT process_definition_key, element_id, sum(completed) AS completed, sum(canceled) AS canceled
    FROM counted_elements GROUP BY 1, 2
), there AS (
    SELECT process_definition_key, element_id, count(*) FILTER (WHERE state = 'COMPLETED') AS completed,
        count(*) FILTER (WHERE state = 'TERMINATED') AS canceled
    FROM (
        SELECT process_definition_key, element_id, state FROM element_instances
        UNION ALL
        SELECT process_definition_key, '', state FROM process_instances) e
    GROUP BY 1, 2
)
SELECT NOT EXISTS (SELECT FROM counted c FULL JOIN there t USING (process_definition_key, element_id)
        WHERE c.completed IS DISTINCT FROM t.completed OR c.canceled IS DISTINCT FROM t.canceled),
    (SELECT sum(completed) FROM counted_durations) = (SELECT sum(completed) FROM there),
    (SELECT sum(jobs) FROM counted_jobs WHERE status = 'COMPLETED')
        = (SELECT count(*) FROM jobs WHERE state = 'COMPLETED')
"""


class Found(NamedTuple):
    """The result of the comparison."""

    compared: int
    """Instances of each kind."""
    unlike: int
    """Real instances whose rows are not those of any generated instance of their variety."""
    differences: list[str]
    """The differences of the first of them."""
    counted: bool
    """Whether statistics count exactly what there is."""


async def check(connection: Connection, real: Sequence[int], generated: Sequence[int]) -> Found:
    """Compare the real instances with these numbers with generated ones."""
    columns = await columns_of(connection)
    ours = await _shapes(connection, columns, generated)
    known = {variety: set(counted) for variety, counted in ours.items()}
    differences: list[str] = []
    unlike = 0
    for variety, counted in (await _shapes(connection, columns, real)).items():
        for shape, count in counted.items():
            if shape not in known.get(variety, set()):
                unlike += count
                differences = differences or _differences(variety, shape, known.get(variety, set()))
    counts = (await connection.execute(COUNTED)).rows[0]
    return Found(len(real), unlike, differences, all(counts))


def _differences(variety: str, shape: frozenset[str], known: set[frozenset[str]]) -> list[str]:
    other = min(known, key=lambda one: len(one ^ shape), default=frozenset[str]())
    return [f"{variety}: only real: {row}" for row in sorted(shape - other)] + [
        f"{variety}: only generated: {row}" for row in sorted(other - shape)
    ]


async def _shapes(
    connection: Connection, columns: Columns, numbers: Sequence[int]
) -> dict[str, Counter[frozenset[str]]]:
    found: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for first in range(0, len(numbers), PORTION):
        portion = {varieties.business_id_of(n): n for n in numbers[first : first + PORTION]}
        roots = {root: portion[id] for root, id in (await connection.execute(KEYS, (list(portion),))).rows}
        if len(roots) != len(portion):
            raise ValueError(f"{len(portion) - len(roots)} of {len(portion)} instances are missing")
        for root, rows in (await rows_of(connection, columns, list(roots))).items():
            found[varieties.variety_of(roots[root])][Instance(root, columns, rows).shape()] += 1
    return dict(found)
