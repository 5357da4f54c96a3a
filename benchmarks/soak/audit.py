"""The audit of a soak: each acknowledged instance is looked at once it has ended, before retention deletes it."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from benchmarks.growth.database import connected
from benchmarks.soak.load import Load
from benchmarks.soak.model import counted_of, elements_of, kind_of
from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.errors import StorageError

EVERY_S = 10.0
MOST = 20_000
"""Instances of one look."""
INSTANCES = """
SELECT process_instance_key, tags[1]::text, state, (extract(epoch FROM ended_at - started_at) * 1000)::float8
FROM process_instances WHERE process_instance_key = ANY($1::bigint[])
"""
ELEMENTS = """
SELECT process_instance_key, element_id, state, count(*) FROM element_instances
WHERE process_instance_key = ANY($1::bigint[]) GROUP BY 1, 2, 3
"""
DELETED = "SELECT root_key FROM deleted_trees WHERE root_key = ANY($1::bigint[])"
TWICE = "SELECT tags[1]::text FROM process_instances GROUP BY 1 HAVING count(*) > 1"


@dataclass
class Audit:
    """Findings, of which there must be none, and the times of instances with one job, in milliseconds."""

    load: Load
    ended: int = 0
    deleted_early: int = 0
    """Deleted before they were looked at, for instance during an outage of PostgreSQL."""
    findings: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    _one_at_a_time: trio.Lock = field(default_factory=trio.Lock)

    async def run(self, dsn: str) -> None:
        """Look again and again, until cancelled."""
        while True:
            await trio.sleep(EVERY_S)
            await self.look(dsn)

    async def finish(self, dsn: str) -> None:
        """Look until each acknowledged instance has ended."""
        while self.load.acknowledged:
            await trio.sleep(1)
            await self.look(dsn)

    async def look(self, dsn: str) -> None:
        """Take all ended instances from the load's list, and note what is wrong with them.

        During a fault of PostgreSQL nothing happens; the next look finds the same instances.
        """
        async with self._one_at_a_time:
            numbers = {key: number for number, key in list(self.load.acknowledged.items())[:MOST]}
            with suppress(StorageError):
                async with connected(dsn) as connection:
                    await self.compare(connection, numbers)
                    for (tag,) in (await connection.execute(TWICE)).rows:
                        self.find(f"instance {tag} exists twice")

    async def compare(self, connection: Connection, numbers: dict[int, int]) -> None:
        found = (await connection.execute(INSTANCES, (list(numbers),))).rows
        ended = {key: state for key, _, state, time_ms in found if time_ms is not None}
        elements: dict[int, Counter[str]] = {key: Counter() for key in ended}
        for key, element, state, count in (await connection.execute(ELEMENTS, (list(ended),))).rows:
            elements[key][element if state == "COMPLETED" else f"{element} {state}"] += count
        for key, tag, state, time_ms in found:
            if key in ended:
                self._check(numbers[key], str(tag), str(state), elements[key])
                if kind_of(numbers[key]) == "work":
                    self.milliseconds.append(float(time_ms))
        missing = numbers.keys() - {row[0] for row in found}
        deleted = {row[0] for row in (await connection.execute(DELETED, (list(missing),))).rows}
        self.deleted_early += len(deleted)
        for key in missing - deleted:
            self.find(f"instance n{numbers[key]} with the key {key} is lost")
        for key in ended.keys() | missing:
            del self.load.acknowledged[numbers[key]]
        self.ended += len(ended) + len(deleted)

    def _check(self, number: int, tag: str, state: str, elements: Counter[str]) -> None:
        expected = elements_of(kind_of(number))
        if (tag, state, elements) != (f"n{number}", "COMPLETED", expected):
            self.find(f"instance n{number} is {tag}, {state}, {dict(elements)} instead of {dict(expected)}")

    def find(self, finding: str) -> None:
        """Note a finding once."""
        if finding not in self.findings:
            self.findings.append(finding)

    async def totals(self, definition_key: str) -> None:
        """Compare the statistics of the definition, which count deleted instances too, with what was acknowledged."""
        counts = await self.load.element_counts(definition_key)
        expected: Counter[str] = Counter()
        for kind, number in self.load.kinds.items():
            for element, count in counted_of(kind).items():
                expected[element] += number * count
        for element, number in expected.items():
            if (completed := counts.get(element, {}).get("completed", 0)) != number:
                self.find(f"the statistics count {completed} completed {element} instead of {number}")
