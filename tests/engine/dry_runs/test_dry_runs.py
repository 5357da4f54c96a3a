"""Dry runs on the database: what they say is what the command then does, and they write nothing."""

import msgspec
import pytest

from tests.core.event_models import call, loop, model
from tests.core.models import end, start, task
from tests.core.modification_models import FORKED, command
from tests.engine.dry_runs.here import Here
from tests.engine.whole_engine import WholeEngine
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.codec import decode_events
from vivero.core.records.effects import RejectionCode
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.trace import Trace
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import Busy
from vivero.engine.dry_runs import dry_runs
from vivero.engine.dry_runs.dry_runs import DryRuns
from vivero.storage.state import definitions, snapshots
from vivero.storage.state.snapshots import TooLarge

TABLES = ("command_log", "event_log", "inbox", "process_instances", "element_instances", "jobs", "variables", "timers")


@pytest.fixture
async def engine(migrated):
    async with WholeEngine(migrated).running() as engine:
        yield engine


async def tried(engine, change, compute=None):
    """The answer, and its report."""

    async def read(query):
        return await query(engine.connection, None)

    answer = await DryRuns().run(change, change.key, "<default>", read, compute or Here(), 5)
    return answer, msgspec.json.decode(answer.report)


async def instance(engine, *files, **variables):
    """The key of an instance of the process `p` in deployed files."""
    await engine.deploy(*files)
    await engine.create("p", **variables)
    return await engine.value("SELECT max(process_instance_key) FROM process_instances WHERE process_id = 'p'")


async def written(engine):
    """The number of rows of each table, and the version of each tree."""
    counts = [await engine.value(f"SELECT count(*) FROM {table}") for table in TABLES]
    return counts, await engine.rows("SELECT process_instance_key, version FROM process_instances ORDER BY 1")


async def lines_of(engine, key, position):
    """The trace of a position."""
    trace = Trace()
    rows = await engine.rows(
        "SELECT position, events, version FROM event_log WHERE root_key = $1 ORDER BY position, seq", key
    )
    lines = [(row[0], trace.lines(decode_events(row[1], row[2]))) for row in rows]
    return [line for at, of_row in lines if at == position for line in of_row]


async def test_it_says_what_the_command_does_and_writes_nothing(engine):
    key = await instance(engine, FORKED)
    before = await written(engine)
    change = command(key, "c", "-a")
    answer, report = await tried(engine, change)
    assert await written(engine) == before
    assert (answer.rejection, report["state"], report["problems"]) == (None, "ACTIVE", [])
    assert report["version"] == 1 == answer.version
    counts = report["effects"]["counts"]
    assert counts["jobs"] == {"opens": 1, "closes": 1, "stays": 1}
    assert [(one["effect"], one["elementId"], one["detail"]) for one in report["effects"]["items"]][:2] == [
        ("OPENS", "c", "SERVICE_TASK"),
        ("OPENS", "c", "type c"),
    ]
    assert report["effects"]["starvingJoins"] == [{"elementId": "j", "scopeElementId": "p", "missingFlowIds": ["a-j"]}]
    outcome = await engine.run(change)
    assert report["lines"] == await lines_of(engine, key, outcome.position)


async def test_a_refusal_has_all_problems(engine):
    key = await instance(engine, FORKED)
    answer, report = await tried(engine, command(key, "nowhere", "start", "-gone"))
    assert answer.rejection.code is RejectionCode.INVALID_ARGUMENT
    assert report["lines"] == []
    assert {one["elementId"] for one in report["problems"]} >= {"nowhere", "start"}
    answer, _ = await tried(engine, conditional(command(key, "c"), key, (9,)))
    assert answer.rejection.code is RejectionCode.PRECONDITION_FAILED
    answer, _ = await tried(engine, command(key + 999, "c"))
    assert answer.rejection.code is RejectionCode.NOT_FOUND


async def test_a_migration_a_suspension_and_a_resumption(engine):
    other = FORKED.replace(b'"b"', b'"bb"').replace(b">b<", b">bb<")
    key = await instance(engine, FORKED)
    [target] = [int(one) for one in await engine.deploy(other)]
    answer, report = await tried(engine, MigrateInstance(key, target, (("a", "a"),)))
    assert answer.rejection.code is RejectionCode.INVALID_STATE
    assert [one["elementId"] for one in report["problems"]] == ["b"]
    change = MigrateInstance(key, target, (("a", "a"), ("b", "bb")))
    _, report = await tried(engine, change)
    moved = [one for one in report["effects"]["items"] if one["formerElementId"]]
    assert [(one["elementId"], one["formerElementId"], one["kind"]) for one in moved] == [
        ("bb", "b", "ELEMENT"),
        ("bb", "b", "JOB"),
    ]
    _, report = await tried(engine, SuspendInstance(key))
    assert report["state"] == "SUSPENDED"
    assert (await engine.run(SuspendInstance(key))).rejection is None
    _, report = await tried(engine, ResumeInstance(key))
    assert (report["state"], report["lines"]) == ("ACTIVE", ["InstanceResumed    p"])
    answer, _ = await tried(engine, change)
    assert answer.rejection.code is RejectionCode.INVALID_STATE


async def test_what_else_a_command_needs_is_read_with_another_copy(engine, monkeypatch):
    files = (
        model(start(), task("work"), call("sub", "child"), end(), "start > work > sub > end"),
        FORKED.replace(b'id="p"', b'id="child"'),
    )
    key = await instance(engine, *reversed(files))
    here, read = Here(), []
    resource = definitions.resource

    async def noted(connection, sha256):
        read.append(sha256)
        return await resource(connection, sha256)

    monkeypatch.setattr(definitions, "resource", noted)
    answer, report = await tried(engine, command(key, "sub", "-work"), here)
    assert here.calls == 2
    assert len(read) == len(set(read)) == 2, "files never change: other copies share them"
    assert answer.processes == {"p", "child"}
    assert answer.rejection is None
    assert report["effects"]["counts"]["jobs"] == {"opens": 2, "closes": 1, "stays": 0}


async def test_a_long_loop_that_the_engine_loads_in_pages(engine):
    key = await instance(engine, LOOP, items=list(range(600)))
    await engine.until_value(600, "SELECT count(*) FROM jobs")
    answer, report = await tried(engine, SuspendInstance(key, include_called=True))
    assert answer.rejection.reason.endswith("can only be handled one by one")
    _, report = await tried(engine, command(key, "end", "-work"))
    assert report["effects"]["counts"]["jobs"] == {"opens": 0, "closes": 600, "stays": 0}
    assert report["lineCount"] > len(report["lines"]) == 1_000
    assert (await engine.run(command(key, "end", "-work"))).rejection is None
    await engine.until(lambda: key in engine.ended)
    assert report["state"] == engine.ended[key]


LOOP = model(start(), loop(task("work"), "=items"), end(), "start > work > end")


async def test_a_tree_beyond_the_limit(engine, monkeypatch):
    key = await instance(engine, FORKED)
    monkeypatch.setattr(snapshots, "MOST_ELEMENTS", 1)
    with pytest.raises(TooLarge, match="more than 1 live elements"):
        await tried(engine, SuspendInstance(key))


async def test_too_many_wait(monkeypatch, engine):
    monkeypatch.setattr(dry_runs, "MOST_WAITING", 0)
    with pytest.raises(Busy, match="0 dry runs wait already"):
        await tried(engine, SuspendInstance(1))


@pytest.mark.long
async def test_a_compute_process_gives_the_same(engine):
    key = await instance(engine, FORKED)
    pool = ComputePool()
    try:
        answers = [await tried(engine, command(key, "c", "-a"), one) for one in (pool, Here())]
    finally:
        await pool.close()
    assert answers[0] == answers[1]
