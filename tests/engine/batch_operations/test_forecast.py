"""Forecasts of batches: what they say is what the batch then does, and they write nothing."""

from collections import Counter
from datetime import UTC, datetime

import msgspec
import pytest

from tests.core.event_models import call, model
from tests.core.models import end, process, start, task
from tests.engine.batch_operations.batch_engine import ANN, SCOPED, BatchEngine
from tests.engine.dry_runs.here import Here
from vivero.core.records.instances import CancelInstance
from vivero.core.records.suspensions import SuspendInstance
from vivero.engine.batch_operations import forecast as forecasts
from vivero.engine.batch_operations.forecast import Bound, StoppedAt, forecast, trying
from vivero.engine.batch_operations.items import JobUpdatePlan, MigrationPlan, ModificationPlan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.dry_runs import judging
from vivero.engine.dry_runs.dry_runs import DryRuns
from vivero.engine.dry_runs.judging import Judging
from vivero.storage.state import snapshots
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
    CallerBounds,
    Operation,
)

FILTER = {"processDefinitionId": "p"}
OTHER = process(start(), task("work"), task("after"), end(), "start > work > after > end")
TABLES = ("command_log", "event_log", "inbox", "batch_operations", "batch_operation_items", "audit_log")


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        await engine.deploy(SCOPED)
        yield engine


async def foresee(engine, type, plan=None, bounds=None, compute=None, resource="process-instances"):
    async def read(query):
        return await query(engine.connection, None)

    verdicts = DryRuns().judging(read, compute or Here(), 5).verdicts
    ever = datetime(9999, 1, 1, tzinfo=UTC)
    operation = Operation(0, type, "CREATED", resource, 0, ANN, bounds or CallerBounds(), ever)
    return await forecast(operation, FILTER, read, trying(type, plan, verdicts))


async def done(engine, type, plan=None, resource="process-instances"):
    """State of the item → the keys of the instances, after the batch."""
    given = None if plan is None else msgspec.json.encode(plan).decode()
    batch = await engine.begin(type, plan=given, resource=resource)
    await engine.work(engine.batches(BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)))
    states = Counter(state for state, _ in (await engine.items(batch)).values())
    return states["COMPLETED"], states["SKIPPED"], states["FAILED"]


def counts(found):
    return found.succeed, *(sum(one.count for one in kind) for kind in (found.skip, found.fail))


async def mixed(engine):
    """Instances of two versions, at several elements; one is suspended."""
    keys = await engine.instances(4)
    for key in keys[:2]:
        await engine.complete(key)
    await engine.complete(keys[0])
    await engine.deploy(OTHER)
    keys += await engine.instances(2)
    await engine.run(SuspendInstance(keys[3]))
    return keys


async def plan_of(engine, type):
    if type == MODIFY_PROCESS_INSTANCE:
        return ModificationPlan((("work", "rest"),))
    if type == MIGRATE_PROCESS_INSTANCE:
        newest = await engine.value("SELECT max(process_definition_key) FROM process_definitions")
        return MigrationPlan(newest, (("after", "after"),))
    return None


@pytest.mark.long
@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (MODIFY_PROCESS_INSTANCE, (1, 2, 2)),
        (MIGRATE_PROCESS_INSTANCE, (3, 0, 2)),
        (SUSPEND_PROCESS_INSTANCE, (5, 0, 0)),
        (RESUME_PROCESS_INSTANCE, (1, 0, 0)),
        (CANCEL_PROCESS_INSTANCE, (6, 0, 0)),
    ],
)
async def test_a_batch_does_what_was_foreseen_and_the_forecast_writes_nothing(engine, type, expected):
    await mixed(engine)
    plan = await plan_of(engine, type)
    before = [await engine.value(f"SELECT count(*) FROM {table}") for table in TABLES]
    found = await foresee(engine, type, plan)
    assert [await engine.value(f"SELECT count(*) FROM {table}") for table in TABLES] == before
    assert (counts(found), found.total, found.not_tried) == (expected, sum(expected), [])
    assert found.stopped_at is None
    assert await done(engine, type, plan) == expected


@pytest.mark.parametrize(
    ("type", "resource", "plan"),
    [
        (RESOLVE_INCIDENT, "process-instances", None),
        (RESOLVE_INCIDENT, "incidents", None),
        (UPDATE_JOB, "jobs", JobUpdatePlan(retries=2, priority=7)),
    ],
)
async def test_parts_of_instances_are_foreseen(engine, type, resource, plan):
    """Those of a suspended instance stay as they are."""
    keys = await engine.instances(3)
    await engine.fail_jobs(keys)
    await engine.run(SuspendInstance(keys[2]))
    found = await foresee(engine, type, plan, resource=resource)
    assert (counts(found), found.total, found.not_tried) == ((2, 0, 1), 3, [])
    ((reason, _, examples),) = map(msgspec.structs.astuple, found.fail)
    assert reason.endswith("is suspended: resume it first")
    assert examples != [str(keys[2])], "the key is that of the incident or the job"
    assert await done(engine, type, plan, resource) == (2, 0, 1)


async def test_an_end_of_leases_is_not_foreseen(engine):
    await engine.instances(2)
    found = await foresee(engine, UPDATE_JOB, JobUpdatePlan(timeout_ms=1000), resource="jobs")
    ((reason, count, _),) = map(msgspec.structs.astuple, found.not_tried)
    assert (reason, count) == ("it depends on whether a worker has job '…', which a dry run does not see", 2)


async def test_equal_reasons_are_one_with_examples(engine):
    keys = await engine.instances(7)
    found = await foresee(engine, MODIFY_PROCESS_INSTANCE, ModificationPlan((("after", "work"),)))
    ((reason, count, examples),) = map(msgspec.structs.astuple, found.skip)
    assert reason.endswith("source elements that have no active instance: 'after'")
    assert (count, examples) == (7, [str(key) for key in keys[:5]])
    source = await engine.value("SELECT min(process_definition_key) FROM process_definitions")
    found = await foresee(engine, MIGRATE_PROCESS_INSTANCE, MigrationPlan(source, (("work", "work"),)))
    ((reason, count, _),) = map(msgspec.structs.astuple, found.fail)
    assert count == 7
    assert reason.startswith("INVALID_STATE: Expected to migrate process instance '…' but ")


@pytest.mark.parametrize(("most", "tried", "stopped"), [(4, 4, StoppedAt(Bound.INSTANCES, 4)), (6, 5, None)])
async def test_it_stops_at_a_bound(engine, monkeypatch, most, tried, stopped):
    monkeypatch.setattr(forecasts, "PORTION", 2)
    monkeypatch.setattr(forecasts, "MOST_INSTANCES", most)
    await engine.instances(5)
    found = await foresee(engine, SUSPEND_PROCESS_INSTANCE)
    assert (found.total, found.succeed, found.stopped_at) == (tried, tried, stopped)


async def test_it_stops_after_some_time(engine, monkeypatch):
    monkeypatch.setattr(forecasts, "MOST_SECONDS", 0.0)
    await engine.instances(1)
    assert await foresee(engine, SUSPEND_PROCESS_INSTANCE) == (0, 0, [], [], [], StoppedAt(Bound.SECONDS, 0.0))


async def test_only_what_the_creator_may_change_is_tried(engine):
    await engine.instances(2)
    for bounds in (CallerBounds(("other",)), CallerBounds(None, ("other",))):
        assert (await foresee(engine, SUSPEND_PROCESS_INSTANCE, bounds=bounds)).total == 0


async def test_a_tree_that_is_too_large_to_copy_is_not_tried(engine, monkeypatch):
    keys = await engine.instances(2)
    monkeypatch.setattr(snapshots, "MOST_ELEMENTS", 1)
    found = await foresee(engine, SUSPEND_PROCESS_INSTANCE)
    ((reason, count, examples),) = map(msgspec.structs.astuple, found.not_tried)
    assert (reason, count, examples) == ("it has more than 1 live elements", 2, [str(key) for key in keys])


@pytest.mark.parametrize("most_bytes", [1, judging.MOST_BYTES])
async def test_what_is_not_declared_is_added_for_all(engine, monkeypatch, most_bytes):
    """The target of a move calls a process, whose definition and model are found by trying."""
    monkeypatch.setattr(judging, "MOST_BYTES", most_bytes)
    called = model(start(), task("w"), "start > w", id="called")
    await engine.deploy(called)
    await engine.deploy(model(start(), task("work"), call("c", "called"), "start > work > c"))
    await engine.instances(3)
    compute = Here()
    found = await foresee(engine, MODIFY_PROCESS_INSTANCE, ModificationPlan((("work", "c"),)), compute=compute)
    assert (counts(found), found.not_tried) == ((3, 0, 0), [])
    assert compute.calls <= (12 if most_bytes == 1 else 4), "the attempts share what the first one lacked"


@pytest.mark.parametrize(("most_kept", "more"), [(judging.MOST_KEPT, 1), (1, 2)])
async def test_later_portions_get_at_once_what_the_first_one_lacked(engine, monkeypatch, most_kept, more):
    """Each portion has one instance. The first one takes two attempts: its copy lacks the called process."""
    monkeypatch.setattr(forecasts, "PORTION", 1)
    monkeypatch.setattr(judging, "MOST_KEPT", most_kept)
    await engine.deploy(model(start(), task("w"), "start > w", id="called"))
    await engine.deploy(model(start(), task("work"), call("c", "called"), "start > work > c"))
    await engine.instances(3)
    compute = Here()
    found = await foresee(engine, MODIFY_PROCESS_INSTANCE, ModificationPlan((("work", "c"),)), compute=compute)
    assert (counts(found), found.not_tried) == ((3, 0, 0), [])
    assert compute.calls == 2 + 2 * more


async def test_an_instance_that_ends_meanwhile_would_be_skipped(engine, monkeypatch):
    (key,) = await engine.instances(1)
    tried = Judging.verdicts

    async def late(one, attempts):
        await engine.run(CancelInstance(key))
        return await tried(one, attempts)

    monkeypatch.setattr(Judging, "verdicts", late)
    found = await foresee(engine, SUSPEND_PROCESS_INSTANCE)
    assert counts(found) == (0, 1, 0)
