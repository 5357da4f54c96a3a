"""One program with several partitions, over HTTP: where commands go, and what searches over all partitions find."""

import itertools
import os
import sys

import pytest
import trio

from tests.core import models
from tests.core.message_models import message, model, receive, signal
from tests.core.models import end, start
from tests.eventually import eventually
from tests.process.conftest import UNSAFE
from tests.process.http_client import Caller
from tests.process.load import send_files
from tests.process.program import Program

PARTITIONS = 3
INSTANCES = 12
WAITS = model(start(), receive(), end(), "start > receive > end", id="waits", roots=(message(), signal()))


@pytest.fixture(scope="module")
def several_partitions(module_database, tmp_path_factory):
    """A program that the tests share. Each has a process of its own."""
    arguments = ("--database-url", module_database, "--partitions", str(PARTITIONS))
    program = Program(tmp_path_factory.mktemp("routing"), "shared", arguments, UNSAFE)
    program.start()
    yield program
    program.end()


@pytest.fixture
async def caller(several_partitions):
    await several_partitions.ready()
    async with Caller(several_partitions.port) as caller:
        yield caller
    print("--- shared", several_partitions.said(), sep="\n")


@pytest.fixture
async def process(caller):
    """The id of a process with one task, which is also the type of its jobs."""
    id = f"one-task-{next(_numbers)}"
    await deploy(caller, one_task(id))
    return id


_numbers = itertools.count(1)


def one_task(id, name="One task"):
    parts = (models.start(), models.task("work", type=id), models.end())
    return models.process(*parts, "start > work > end", id=id).replace(b"Process " + id.encode(), name.encode())


async def deploy(caller, *models):
    answer = await send_files(caller, {f"{number}.bpmn": text.decode() for number, text in enumerate(models)})
    assert answer.status == 200, answer
    return answer.json["deployments"]


async def create(caller, process_id, headers=(), **variables):
    document = {"processDefinitionId": process_id, "variables": variables}
    answer = await caller.call("POST", "/v2/process-instances", document, headers=headers)
    assert answer.status == 200, answer
    return answer.json


async def search(caller, resource, **document):
    answer = await caller.call("POST", f"/v2/{resource}/search", document)
    assert answer.status == 200, answer
    return answer.json


async def test_new_instances_spread_and_searches_find_all(caller, process):
    own = {"processDefinitionId": process}
    keys = [int((await create(caller, process))["processInstanceKey"]) for _ in range(INSTANCES)]
    spread = [sum(key >> 51 == partition for key in keys) for partition in (1, 2, 3)]
    assert spread == [INSTANCES // PARTITIONS] * PARTITIONS
    found = await search(caller, "process-instances", filter=own, page={"limit": 100})
    assert found["page"]["totalItems"] == INSTANCES
    for field in ("processInstanceKey", "startDate"):
        pages, after = [], {}
        while len(pages) < INSTANCES:
            sort = [{"field": field, "order": "DESC"}]
            page = await search(caller, "process-instances", filter=own, sort=sort, page={"limit": 5} | after)
            pages += [int(item["processInstanceKey"]) for item in page["items"]]
            after = {"after": page["page"]["endCursor"]}
        assert sorted(pages) == sorted(keys), f"by {field}: each once"
    definition = found["items"][0]["processDefinitionKey"]
    counted = await caller.call("POST", f"/v2/process-definitions/{definition}/statistics/element-instances", {})
    assert {item["elementId"]: item["active"] for item in counted.json["items"]}["work"] == INSTANCES


async def test_jobs_of_all_partitions_are_activated_and_completed(caller, process):
    for _ in range(INSTANCES):
        await create(caller, process)
    activation = {"type": process, "timeout": 60_000, "maxJobsToActivate": 100}
    jobs = (await caller.call("POST", "/v2/jobs/activation", activation)).json["jobs"]
    assert {int(job["jobKey"]) >> 51 for job in jobs} == {1, 2, 3}
    for job in jobs:
        assert (await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})).status == 204
    found = await search(caller, "process-instances", filter={"processDefinitionId": process, "state": "COMPLETED"})
    assert found["page"]["totalItems"] == INSTANCES


async def test_messages_find_the_instances_of_other_partitions(caller):
    await deploy(caller, WAITS)
    created = {}
    for number in range(INSTANCES):
        created[f"k{number}"] = (await create(caller, "waits", k=f"k{number}"))["processInstanceKey"]
    for key, instance in created.items():
        document = {"name": "hello", "correlationKey": key}

        async def correlated(document=document):
            found = await caller.call("POST", "/v2/messages/correlation", document)
            return found if found.status != 404 else None

        answer = await eventually(correlated, "the subscription has reached the channel")
        assert answer.status == 200, answer
        assert answer.json["processInstanceKey"] == instance
    again = await caller.call("POST", "/v2/messages/correlation", {"name": "hello", "correlationKey": "k1"})
    assert again.status == 404


async def test_a_retry_that_is_routed_elsewhere_replays_the_first(caller, process):
    for number in range(4):
        headers = [("Idempotency-Key", f"order-{number}")]
        first = await create(caller, process, headers=headers)
        assert await create(caller, process, headers=headers) == first
        assert await create(caller, process, headers=headers) == first
    found = await search(caller, "process-instances", filter={"processDefinitionId": process})
    assert found["page"]["totalItems"] == 4


async def test_the_version_just_deployed_is_started_in_every_partition(caller, process):
    for version in range(2, 12):
        await deploy(caller, one_task(process, f"Version {version}"))
        created = [await create(caller, process) for _ in range(PARTITIONS)]
        assert [one["processDefinitionVersion"] for one in created] == [version] * PARTITIONS


@pytest.mark.parametrize("partition", [0, 1, 3, 4, 4_000])
async def test_a_key_of_nobody_is_not_found(caller, partition):
    answer = await caller.call("POST", f"/v2/process-instances/{(partition << 51) + 999}/cancellation", {})
    assert answer.status == 404, answer


@pytest.mark.long
async def test_the_number_is_raised_while_instances_wait(program, database):
    """Their subscriptions move to partitions that did not exist when they began to wait."""
    await program.restart()
    raising = (sys.executable, "-m", "vivero", "partitions", "raise", "3", "--database-url", database)
    async with Caller(program.port) as caller:
        await deploy(caller, WAITS)
        created = {
            f"k{number}": (await create(caller, "waits", k=f"k{number}"))["processInstanceKey"] for number in range(30)
        }
        done = await trio.run_process(
            raising, capture_stdout=True, capture_stderr=True, check=False, env=os.environ | UNSAFE
        )
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode().splitlines()[-1] == "the database has 3 partitions"
        for key, instance in created.items():
            answer = await caller.call("POST", "/v2/messages/correlation", {"name": "hello", "correlationKey": key})
            assert answer.status == 200, answer
            assert answer.json["processInstanceKey"] == instance

        async def spread():
            return int((await create(caller, "waits", k="later"))["processInstanceKey"]) >> 51 == 3

        await eventually(spread, "new instances begin in the new partitions")
