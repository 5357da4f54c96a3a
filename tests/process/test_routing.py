"""One program with several partitions, over HTTP: where commands go, and what searches over all partitions find."""

import os
import sys

import pytest
import trio

from tests.core.message_models import message, model, receive, signal
from tests.core.models import ONE_TASK, end, start
from tests.eventually import eventually
from tests.process.conftest import UNSAFE
from tests.process.http_client import Caller
from tests.process.load import send_files

PARTITIONS = 3
INSTANCES = 12
WAITS = model(start(), receive(), end(), "start > receive > end", id="waits", roots=(message(), signal()))


@pytest.fixture
async def caller(program):
    program.add_arguments("--partitions", str(PARTITIONS))
    await program.restart()
    async with Caller(program.port) as caller:
        await deploy(caller, ONE_TASK, WAITS)
        yield caller


async def deploy(caller, *models):
    answer = await send_files(caller, {f"{number}.bpmn": text.decode() for number, text in enumerate(models)})
    assert answer.status == 200, answer
    return answer.json["deployments"]


async def create(caller, process_id="p", headers=(), **variables):
    document = {"processDefinitionId": process_id, "variables": variables}
    answer = await caller.call("POST", "/v2/process-instances", document, headers=headers)
    assert answer.status == 200, answer
    return answer.json


async def search(caller, resource, **document):
    answer = await caller.call("POST", f"/v2/{resource}/search", document)
    assert answer.status == 200, answer
    return answer.json


async def test_new_instances_spread_and_searches_find_all(caller):
    keys = [int((await create(caller))["processInstanceKey"]) for _ in range(INSTANCES)]
    spread = [sum(key >> 51 == partition for key in keys) for partition in (1, 2, 3)]
    assert spread == [INSTANCES // PARTITIONS] * PARTITIONS
    found = await search(caller, "process-instances", page={"limit": 100})
    assert found["page"]["totalItems"] == INSTANCES
    for field in ("processInstanceKey", "startDate"):
        pages, after = [], {}
        while len(pages) < INSTANCES:
            page = await search(
                caller, "process-instances", sort=[{"field": field, "order": "DESC"}], page={"limit": 5} | after
            )
            pages += [int(item["processInstanceKey"]) for item in page["items"]]
            after = {"after": page["page"]["endCursor"]}
        assert sorted(pages) == sorted(keys), f"by {field}: each once"
    definition = found["items"][0]["processDefinitionKey"]
    counted = await caller.call("POST", f"/v2/process-definitions/{definition}/statistics/element-instances", {})
    assert {item["elementId"]: item["active"] for item in counted.json["items"]}["work"] == INSTANCES


async def test_jobs_of_all_partitions_are_activated_and_completed(caller):
    for _ in range(INSTANCES):
        await create(caller)
    activation = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 100}
    jobs = (await caller.call("POST", "/v2/jobs/activation", activation)).json["jobs"]
    assert {int(job["jobKey"]) >> 51 for job in jobs} == {1, 2, 3}
    for job in jobs:
        assert (await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})).status == 204
    found = await search(caller, "process-instances", filter={"state": "COMPLETED"})
    assert found["page"]["totalItems"] == INSTANCES


async def test_messages_find_the_instances_of_other_partitions(caller):
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


async def test_a_retry_that_is_routed_elsewhere_replays_the_first(caller):
    for number in range(4):
        headers = [("Idempotency-Key", f"order-{number}")]
        first = await create(caller, headers=headers)
        assert await create(caller, headers=headers) == first
        assert await create(caller, headers=headers) == first
    found = await search(caller, "process-instances")
    assert found["page"]["totalItems"] == 4


async def test_the_version_just_deployed_is_started_in_every_partition(caller):
    for version in range(2, 12):
        await deploy(caller, ONE_TASK.replace(b"Process p", b"Process %d" % version))
        created = [await create(caller) for _ in range(PARTITIONS)]
        assert [one["processDefinitionVersion"] for one in created] == [version] * PARTITIONS


@pytest.mark.parametrize("partition", [0, 1, 3, 4, 4_000])
@pytest.mark.harmless
async def test_a_key_of_nobody_is_not_found(caller, partition):
    answer = await caller.call("POST", f"/v2/process-instances/{(partition << 51) + 999}/cancellation", {})
    assert answer.status == 404, answer


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
