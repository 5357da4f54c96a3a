"""Nodes with some of the roles, on one database: what each does, and what clients notice."""

import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import Load, deploy
from tests.process.rows import rows

CREATE = ("POST", "/v2/process-instances")
AWAITED = {"processDefinitionId": "one-task", "awaitCompletion": True, "requestTimeout": 60_000}
POLL = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 60_000}


@pytest.fixture
def with_roles(make_program, database, unsafe):
    """Makes programs on the test's database with these roles and settings."""
    made = []

    def make(roles, **settings):
        program = make_program("--database-url", database, "--roles", roles, name=roles, environment=unsafe | settings)
        made.append(program)
        return program

    yield make
    for program in made:
        program.end()


def count(dsn, query):
    ((found,),) = rows(dsn, query)
    return found


@pytest.mark.long
async def test_clients_of_an_api_node_wait_for_an_engine_node(with_roles, database):
    """The command is in the log, so it is done as soon as an engine comes: a client waits, or is told 504."""
    patient, impatient = with_roles("api"), with_roles("api", VIVERO_API_RESPONSE_TIMEOUT_S="1")
    engine = with_roles("engine")
    for program in (engine, patient, impatient):
        await program.restart()
    await deploy(patient.port, "one_task.bpmn")
    await engine.kill()

    answers = []

    async def create():
        async with Caller(patient.port) as caller:
            answers.append(await caller.call(*CREATE, {"processDefinitionId": "one-task"}))

    async def appended():
        return (
            count(database, "SELECT count(*) FROM command_log WHERE intent = 'PROCESS_INSTANCE_CREATION:CREATE'") == 2
        )

    async with trio.open_nursery() as nursery, Caller(impatient.port) as caller:
        late = await caller.call(*CREATE, {"processDefinitionId": "one-task"})
        assert (late.status, late.title) == (504, "DEADLINE_EXCEEDED")
        nursery.start_soon(create)
        await eventually(appended, "both commands are in the log")
        assert answers == []
        assert await patient.status() == 204, "an API node is healthy without an engine"
        await engine.restart()
    assert [answer.status for answer in answers] == [200]

    async def both_run():
        return count(database, "SELECT count(*) FROM process_instances WHERE ended_at IS NULL") == 2

    await eventually(both_run, "both instances run")


async def test_a_worker_and_an_awaited_instance_at_different_nodes(with_roles):
    one, other, engine = with_roles("api"), with_roles("api"), with_roles("engine")
    for program in (one, other, engine):
        await program.restart()
    await deploy(one.port, "one_task.bpmn")
    answers = []

    async def create():
        async with Caller(one.port) as caller:
            answers.append(await caller.call(*CREATE, AWAITED))

    async with trio.open_nursery() as nursery, Caller(other.port) as worker:
        nursery.start_soon(create)
        [job] = (await worker.call("POST", "/v2/jobs/activation", POLL)).json["jobs"]
        done = await worker.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {"variables": {"by": "other"}})
        assert done.status == 204
    assert [(answer.status, answer.json["variables"]) for answer in answers] == [(200, {"by": "other"})]


@pytest.mark.long
async def test_a_node_without_api_answers_health_checks_only(with_roles, database):
    engine, jobs = with_roles("engine"), with_roles("jobs", VIVERO_RETENTION_EVERY_S="0.2")
    for program in (engine, jobs):
        await program.restart()
        async with Caller(program.port) as caller:
            answer = await caller.call("GET", "/v2/process-instances/1")
            assert (answer.status, answer.title) == (503, "UNAVAILABLE")
            assert "its roles are" in answer.json["detail"]
            assert (await caller.call("POST", "/chaos/children/consumer")).status == (204 if program is engine else 404)
            assert (await caller.call("POST", "/chaos/children/chores")).status == 204
    knowing = "SELECT count(*) FROM job_dispatchers WHERE $$vivero.{}$$ = ANY (types)"
    done = """
        SELECT array_agg(DISTINCT job_type ORDER BY job_type) FROM job_executions
        WHERE job_type IN ('vivero.audit-log', 'vivero.log-partitions') AND occurrence > 0"""

    async def known():
        return all(count(database, knowing.format(chore)) == 1 for chore in ("audit-log", "log-partitions"))

    await eventually(known, "one dispatcher each knows the chores of the partition and of the database")

    async def divided():
        return count(database, done) == ["vivero.audit-log", "vivero.log-partitions"]

    await eventually(divided, "the engine did the chores of its partition, the other those of the database")


@pytest.mark.long
async def test_nothing_is_lost_when_engine_and_api_nodes_end(with_roles, database):
    api, other, *engines = (with_roles(roles) for roles in ("api", "api,jobs", "engine", "engine,jobs"))
    for program in (api, other, *engines):
        program.start()
    for program in (api, other, *engines):
        await program.ready()
    await deploy(api.port, "one_task.bpmn")
    load = Load([api.port, other.port], workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for victim in (engines[0], api, engines[1]):
            await load.progress(60)
            await victim.kill()
            await load.progress(10)
            await victim.restart()
        await load.progress(60)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")
