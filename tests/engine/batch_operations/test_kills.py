"""A property: whatever is killed between two steps, each command happens once, and the counts are true."""

import random
from typing import NamedTuple

import msgspec
import pytest
import trio

from tests.core.models import end, process, start, task
from tests.engine.batch_operations.batch_engine import CANCEL, BatchEngine, beat
from vivero.core.records.base import Command
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import UpdateJob
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.batch_operations.items import JobUpdatePlan, MigrationPlan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.postgres.queries import label
from vivero.storage.work.batch_operations import (
    MIGRATE_PROCESS_INSTANCE,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
)

ROUNDS = 15
TARGET = process(start(), task("labour"), end(), "start > labour > end", id="other")
"""Instances migrate to this process."""


class Kind(NamedTuple):
    """A type of batch, its command, and the condition that the command makes true in the table of its subjects."""

    batch: str
    command: type[Command]
    done: str
    resource: str = "process-instances"
    plan: str | None = None

    @property
    def subjects(self):
        """A table, and its key."""
        return ("jobs", "job_key") if self.resource == "jobs" else ("process_instances", "process_instance_key")


KINDS = (
    Kind(CANCEL, CancelInstance, "state = 'TERMINATED'"),
    Kind(SUSPEND_PROCESS_INSTANCE, SuspendInstance, "suspended_at IS NOT NULL"),
    Kind(RESUME_PROCESS_INSTANCE, ResumeInstance, "suspended_at IS NULL"),
    Kind(UPDATE_JOB, UpdateJob, "retries = 7", "jobs", msgspec.json.encode(JobUpdatePlan(7)).decode()),
)


def migration_to(target):
    plan = msgspec.json.encode(MigrationPlan(target, (("work", "labour"),))).decode()
    return Kind(MIGRATE_PROCESS_INSTANCE, MigrateInstance, "process_id = 'other'", plan=plan)


class Killed(Exception):
    """The task was killed here."""


STEPS = ("add_items", "take", "append", "mark", "settle", "finish", "sent")


class Mortal:
    """A connection or an appender of the task, which dies before or after a call."""

    def __init__(self, target, fate) -> None:
        self._target, self._fate = target, fate

    async def execute(self, query, *arguments, **options):
        return await self._dying(
            label(query).removeprefix("batch_operations."), "execute", query, *arguments, **options
        )

    async def append_all(self, items, **options):
        return await self._dying("append", "append_all", items, **options)

    async def _dying(self, step, name, *arguments, **options):
        self._fate.come("before", step)
        answer = await getattr(self._target, name)(*arguments, **options)
        self._fate.come("after", step)
        return answer


class Fate:
    """Kills before or after one of the next steps of a kind."""

    def __init__(self, rng) -> None:
        self.when, self.step, self.left = rng.choice(["before", "after"]), rng.choice(STEPS), rng.randint(1, 2)

    def come(self, when, step):
        if (when, step) == (self.when, self.step):
            self.left -= 1
            if self.left == 0:
                raise Killed


class NoFate:
    def come(self, when, step):
        return None


@pytest.mark.long
async def test_random_kills_and_changes(migrated, seed):
    rng = random.Random(seed)
    async with BatchEngine(migrated).running() as engine:
        kinds = (*KINDS, migration_to((await engine.deploy(TARGET))[0]))
        for number in range(ROUNDS):
            await one_round(engine, rng, kinds[number % len(kinds)])


async def one_round(engine, rng, kind):
    instances = await engine.instances(rng.randint(1, 9))
    if kind.command is ResumeInstance:
        for key in instances:
            await engine.run(SuspendInstance(key))
    keys = await keys_of(engine, kind, instances)
    batch = await engine.begin(kind.batch, '{"processDefinitionId": "p"}', kind.resource, plan=kind.plan)
    settings = BatchOperationSettings(portion=rng.randint(1, 4), in_flight=4, scan_rows=rng.randint(1, 5))
    kills, canceled = rng.randint(1, 6), []
    while await engine.value("SELECT open FROM batch_operations WHERE batch_operation_key = $1", batch):
        fate = Fate(rng) if kills > 0 else NoFate()
        batches = engine.batches(settings, appender=Mortal(engine.appender, fate))
        try:
            with trio.fail_after(20):
                await go_on(engine, batches, Mortal(engine.connection, fate), batch, rng, canceled)
        except Killed:
            kills -= 1
    await check(engine, kind, batch, keys, bool(canceled))
    for key in instances:  # leave nothing for the next round
        await engine.run(CancelInstance(key))


async def keys_of(engine, kind, instances):
    """The keys of the subjects that belong to these instances."""
    table, key = kind.subjects
    found = await engine.rows(f"SELECT {key} FROM {table} WHERE process_instance_key = ANY ($1)", instances)
    return {each for (each,) in found}


async def go_on(engine, batches, connection, batch, rng, canceled):
    """Turn until the batch has ended; a client sometimes suspends, resumes or cancels it (noted in a list)."""
    while await engine.value("SELECT open FROM batch_operations WHERE batch_operation_key = $1", batch):
        await batches.run_once(connection, beat())
        state = (await engine.counts(batch))[0]
        if state == "SUSPENDED":
            scanned = await engine.value("SELECT scanned FROM batch_operations WHERE batch_operation_key = $1", batch)
            await engine.change(batch, "ACTIVE" if scanned else "CREATED")
        elif rng.random() < 0.1:
            await engine.change(batch, "SUSPENDED")
        elif rng.random() < 0.03 and await engine.change(batch, "CANCELED"):
            canceled.append(batch)


async def check(engine, kind, batch, keys, canceled):
    state, total, *counts = await engine.counts(batch)
    items = await engine.items(batch)
    states = [item for item, _ in items.values()]
    assert counts == [states.count(each) for each in ("COMPLETED", "FAILED", "SKIPPED", "CANCELED")]
    assert total == len(items) == sum(counts), items
    assert state == ("CANCELED" if canceled else "COMPLETED")
    if not canceled:
        assert set(states) == {"COMPLETED"}
        assert items.keys() == keys
    commands = await engine.commands(kind.command.intent)
    done = {key for key in keys if items.get(key) == ("COMPLETED", None)}
    assert {key: commands.get(key, 0) for key in keys} == {key: int(key in done) for key in keys}
    table, key = kind.subjects
    changed = await engine.rows(f"SELECT {key} FROM {table} WHERE {key} = ANY ($1) AND {kind.done}", list(keys))
    assert {key for (key,) in changed} == done
