"""A program with a module of jobs: the example, a module that cannot be used, chaos in the dispatcher."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from tests.eventually import eventually
from vivero.api.http1.listeners import open_listeners
from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.config.sources import load
from vivero.engine.jobs.configured import configured
from vivero.engine.jobs.definitions import Runs
from vivero.engine.jobs.settings import JobSettings
from vivero.node import background, job_modules, tree
from vivero.node.chores import no_connections, registries
from vivero.node.job_modules import BadJobs
from vivero.storage.background import job_executions
from vivero.storage.postgres import driver
from vivero.storage.schema import migrate

GREET = Path(__file__).parents[2] / "examples" / "first" / "greet.bpmn"
EXAMPLE = Path(__file__).parents[2] / "examples" / "jobs" / "jobs.py"


@pytest.fixture
async def connection(database):
    connection = await driver.connect(database)
    await migrate.migrate(connection)
    yield connection
    connection.close()


async def serve(database, stop, module, ports=None, *, task_status):
    """A program with this module of jobs, in the test's process."""
    listeners = await open_listeners("127.0.0.1", 0)
    if ports is not None:
        ports.append(listeners[0].socket.getsockname()[1])
    config = replace(Config(), chaos=True, jobs=JobSettings(module=str(module), poll_interval="PT0.05S"))
    try:
        await tree.run(config, database, "test", Endpoint(listeners), stop, task_status.started)
    finally:
        for listener in listeners:
            listener.socket.close()


async def until_gone(connection):
    def is_gone(found):
        return not any(each.type == "send-invoice" for each in found[0])

    await eventually(lambda: job_executions.search(connection), accept=is_gone)


async def test_the_example_works_also_after_its_dispatcher_has_failed(connection, database, nursery):
    stop = trio.Event()
    running = await nursery.start(serve, database, stop, EXAMPLE)
    id = "00000000-0000-4000-8000-00000000000"
    for number, kind in enumerate(("raise", "cancel", None)):
        await job_executions.add(
            connection, f"{id}{number}", "send-invoice", f'{{"invoice": "{kind}", "amount": 1.5}}', None
        )
        await until_gone(connection)
        if kind is not None:
            await eventually(lambda kind=kind: running.supervisor.chaos("jobs", kind))
    own = "SELECT DISTINCT job_type FROM job_executions WHERE job_type LIKE 'vivero.%' AND attempt_index = 0"
    chores = {each for registry in registries(Config(), no_connections).values() for each in registry.definitions}
    assert {type for (type,) in (await connection.execute(own)).rows} == chores, "each is there, and none has failed"
    stop.set()
    rows = (await connection.execute("SELECT invoice, amount::text FROM sent_invoices ORDER BY 1")).rows
    assert list(map(tuple, rows)) == [("None", "1.5"), ("cancel", "1.5"), ("raise", "1.5")]


CLIENT = """
from pathlib import Path

from camunda_orchestration_sdk import (
    CamundaAsyncClient, ProcessCreationById, ProcessDefinitionId, ProcessInstanceCreationInstructionBaseVariables,
    WorkerConfig,
)

from vivero.jobs import job

greetings = []


async def greet(work):
    return {"greeting": f"Hello, {work.variables.to_dict()['name']}!"}


@job("client", runs="asyncio", timeout="PT60S")
async def client(execution):
    settings = {"CAMUNDA_REST_ADDRESS": execution.payload["address"], "CAMUNDA_AUTH_STRATEGY": "NONE"}
    async with CamundaAsyncClient(configuration=settings) as client:
        await client.deploy_resources_from_files([Path(execution.payload["model"])])
        client.create_job_worker(WorkerConfig(job_type="greet", job_timeout_milliseconds=30_000), greet)
        data = ProcessCreationById(
            process_definition_id=ProcessDefinitionId("greet"), await_completion=True,
            variables=ProcessInstanceCreationInstructionBaseVariables.from_dict({"name": "Ada"}),
        )
        ended = await client.create_process_instance(data=data)
        greetings.append(ended.variables.to_dict()["greeting"])
"""


async def test_the_official_asyncio_client_works_in_a_job_against_its_own_server(
    connection, database, nursery, tmp_path
):
    pytest.importorskip("camunda_orchestration_sdk", reason="the official client is not installed")
    module = tmp_path / "client.py"
    module.write_text(CLIENT)
    stop, ports = trio.Event(), []
    await nursery.start(serve, database, stop, module, ports)
    payload = {"address": f"http://127.0.0.1:{ports[0]}", "model": str(GREET)}
    id = "00000000-0000-4000-8000-000000000000"
    await job_executions.add(connection, id, "client", json.dumps(payload), None)

    async def is_done():
        found = (await job_executions.search(connection, id))[0]
        assert not found or found[0].error is None
        return not found

    await eventually(is_done, within_s=90)
    stop.set()
    assert sys.modules[job_modules.NAME].greetings == ["Hello, Ada!"]


def test_the_example_has_each_kind_of_function():
    found = job_modules.load(str(EXAMPLE)).definitions
    assert {each.runs for each in found.values()} == set(Runs)
    assert found["nightly-report"].schedule is not None


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            "[jobs.types.send-invoce]\npaused = true",
            "line 1.*there is no job 'send-invoce': did you mean 'send-invoice'",
        ),
        ('[jobs.types."vivero.x"]', "line 1.*there is no job 'vivero.x'"),
        ("[jobs.types.send-invoice]\nevery = 'PT1S'", "line 1.*'send-invoice' has no schedule"),
        ("[jobs.types.nightly-report]\ntimeout = 'PT1S'", "line 1.*thread"),
    ],
)
def test_settings_of_types_must_fit_the_jobs(tmp_path, settings, reason):
    file = tmp_path / "vivero.toml"
    file.write_text(settings)
    config = load(file, {}, {"jobs.module": str(EXAMPLE)})
    with pytest.raises(BadJobs, match=reason):
        background.check(config)


def test_settings_of_types_change_jobs_and_chores(tmp_path):
    file = tmp_path / "vivero.toml"
    file.write_text(
        "[jobs.types.nightly-report]\nevery = 'PT2H'\nmax_attempts = 9\n[jobs.types.'vivero.audit-log']\npaused = true"
    )
    config = load(file, {}, {"jobs.module": str(EXAMPLE)})
    background.check(config)
    made = configured(job_modules.load(str(EXAMPLE)), config.jobs).definitions["nightly-report"]
    assert (made.schedule.text, made.retry.max_attempts, made.retry.initial_interval_s) == ("PT2H", 9, 5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "defines no jobs"),
        ("from vivero.jobs import job\na = job('vivero.x')(print)", "the name 'vivero.x' is reserved"),
        ("x = 1\nraise ValueError('no')", "line 2: ValueError: no"),
        ("import sys\n\nsys.exit(4)", "line 3: SystemExit: 4"),
        ("from vivero.jobs import job\na = job('x')(print)\nb = job('x')(repr)", "two jobs with the name 'x'"),
        ("from vivero.jobs import scheduled\n@scheduled('x', cron='61 * * * *')\ndef f(_): ...", "line 2: .*minute"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_used_says_where_and_why(tmp_path, text, reason):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(BadJobs, match=reason):
        job_modules.load(str(file))


def test_a_module_that_is_not_there_is_told():
    with pytest.raises(BadJobs, match="no_such_module"):
        job_modules.load("no_such_module")
    with pytest.raises(BadJobs, match=r"absent\.py"):
        job_modules.load("absent.py")
