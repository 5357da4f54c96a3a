"""Job workers that ask for too much, jobs that see too much, and creators that leave no time for anybody else."""

import json
from functools import partial

import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller

TASK = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/>{more}</bpmn:extensionElements></bpmn:serviceTask>
  <bpmn:sequenceFlow id="g" sourceRef="task" targetRef="end"/><bpmn:endEvent id="end"/>
</bpmn:process>"""
LOOP = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/></bpmn:extensionElements>
    <bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements>
      <zeebe:loopCharacteristics inputCollection="=for i in 1..{n} return i" inputElement="i"/>
    </bpmn:extensionElements></bpmn:multiInstanceLoopCharacteristics></bpmn:serviceTask>
</bpmn:process>"""
ANSWER = 4 * 1024 * 1024
LARGE = "x" * 3_900_000
PROGRAM_ENVIRONMENT = {"VIVERO_API_MAX_JOB_BYTES": "6000000", "VIVERO_API_ACTIVATIONS_BYTES": "16000000"}


async def activate(target, type, *, most=1000, wait_ms=-1, names=None, **fields):
    """One activation: the answer."""
    asked = {"type": type, "timeout": 600_000, "maxJobsToActivate": most, "requestTimeout": wait_ms, **fields}
    if names is not None:
        asked["fetchVariable"] = names
    return await target.call("POST", "/v2/jobs/activation", asked)


async def all_jobs(target, type, **fields):
    """Activations until there is nothing more; the jobs of each."""
    answers = []
    while answers[-1:] != [[]]:
        answer = await activate(target, type, **fields)
        assert answer.status == 200, answer
        answers.append(answer.json["jobs"])
    return answers[:-1]


async def task(target, id, more=""):
    await target.deployed(TASK.format(id=id, more=more))


async def set_variables(target, key, variables):
    path = f"/v2/element-instances/{key}/variables"
    assert (await target.call("PUT", path, {"variables": variables})).status == 204


async def test_jobs_that_see_megabytes_are_activated(target):
    await task(target, "large")
    keys = {await target.created("large", {"v": LARGE}) for _ in range(6)}
    async with target.attacked():
        answers = await all_jobs(target, "large")
    assert [len(jobs) for jobs in answers] == [1] * 6
    assert {job["processInstanceKey"] for jobs in answers for job in jobs} == keys


async def test_a_dozen_workers_that_fetch_megabytes_starve_no_other_type(target):
    await task(target, "dozen")
    for _ in range(8):
        await target.created("dozen", {"v": LARGE})
    counts = []

    async def worker():
        for _ in range(3):
            answer = await activate(target, "dozen", wait_ms=2_000)
            assert answer.status == 200, answer
            counts.append(len(answer.json["jobs"]))

    async with target.attacked(), trio.open_nursery() as workers:
        for _ in range(12):
            workers.start_soon(worker)
    assert sum(counts) == 8


async def test_workers_that_wait_do_not_make_batches_read_variables(target):
    """Fifty jobs, each of which sees 900 variables of 2 kB: 90 MB, were they made of text."""
    await target.deployed(LOOP.format(id="riding", n=50))
    variables = {f"v{number}": "x" * 1_990 for number in range(900)}
    found = []

    async def worker():
        while len(found) < 50:
            answer = await activate(target, "riding", most=50, wait_ms=5_000)
            assert answer.status == 200, answer
            assert len(answer.body) <= ANSWER
            found.extend(answer.json["jobs"])

    async with target.attacked(), trio.open_nursery() as workers:
        for _ in range(4):
            workers.start_soon(worker)
        await target.created("riding", variables)
    assert len({job["jobKey"] for job in found}) == 50


async def test_a_job_that_no_answer_takes_gets_an_incident_and_holds_up_nobody(target):
    await task(target, "too-large")
    key = await target.created("too-large", {"a": LARGE})
    await set_variables(target, key, {"b": LARGE})
    behind = await target.created("too-large", {"a": 1})
    async with target.attacked():
        ((job,),) = await all_jobs(target, "too-large")
        incident = await target.incident(key)
    assert job["processInstanceKey"] == behind
    assert (incident["errorType"], incident["elementId"]) == ("MESSAGE_SIZE_EXCEEDED", "task")
    assert "fetchVariable" in incident["errorMessage"]
    path = f"/v2/incidents/{incident['incidentKey']}/resolution"
    assert (await target.call("POST", path, {})).status == 204
    ((job,),) = await all_jobs(target, "too-large", names=["a"])
    assert job["processInstanceKey"] == key
    done = await target.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
    assert done.status == 204, done
    assert await target.ended(key) == "COMPLETED"


async def test_ten_workers_that_meet_a_job_too_large_for_them_raise_one_incident(target):
    await task(target, "met")
    key = await target.created("met", {"a": LARGE})
    await set_variables(target, key, {"b": LARGE})
    async with target.attacked(), trio.open_nursery() as workers:
        for _ in range(10):
            workers.start_soon(partial(activate, target, "met", wait_ms=500))
    assert len(await target.search("incidents", processInstanceKey=key)) == 1


async def test_a_job_that_one_variable_makes_larger_than_an_answer_is_answered_alone(target):
    await task(target, "alone")
    for _ in range(2):
        await target.created("alone", {"a": LARGE, "b": "x" * 200_000})
    async with target.attacked():
        answers = await all_jobs(target, "alone")
    assert [len(jobs) for jobs in answers] == [1, 1]


async def test_headers_of_a_megabyte_count_as_much_as_variables(target):
    header = "<zeebe:taskHeaders>" + f'<zeebe:header key="h" value="{"y" * 1_000_000}"/>' + "</zeebe:taskHeaders>"
    await task(target, "headers", header)
    for _ in range(9):
        await target.created("headers")
    async with target.attacked():
        answer = await activate(target, "headers")
        rest = await all_jobs(target, "headers")
    assert len(answer.body) <= ANSWER
    assert len(answer.json["jobs"]) + sum(map(len, rest)) == 9


async def test_names_that_grow_sixfold_in_json_do_not_pass_the_limit(target):
    await task(target, "escaped")
    for _ in range(4):
        await target.created("escaped", {"\x01" * 900 + str(number): 1 for number in range(400)})
    async with target.attacked():
        answer = await activate(target, "escaped")
        rest = await all_jobs(target, "escaped")
    assert len(answer.body) <= ANSWER
    assert len(answer.json["jobs"]) + sum(map(len, rest)) == 4


async def jobs_made(target, type, count):
    """A loop's jobs are made by several batches."""

    async def made():
        return target.sql("SELECT count(*) FROM jobs WHERE type = %s", [type]) == [(count,)]

    await eventually(made, f"{count} jobs", within_s=60.0, every_s=0.1)


async def test_a_thousand_jobs_of_four_kilobytes_come_in_answers_that_keep_to_the_limit(target):
    await target.deployed(LOOP.format(id="thousand", n=1000))
    key = await target.created("thousand", {"v": "x" * 6_000})
    async with target.attacked():
        await jobs_made(target, "thousand", 1000)
        sizes, found = [], set()
        while len(found) < 1000:
            answer = await activate(target, "thousand")
            assert answer.status == 200, answer
            sizes.append(len(answer.body))
            found |= {job["jobKey"] for job in answer.json["jobs"]}
    assert max(sizes) <= ANSWER
    await target.canceled(key)


async def test_one_of_nine_thousand_variables_is_fetched_by_its_name(target):
    await target.deployed(LOOP.format(id="one", n=60))
    await target.created("one", {f"v{number}": number for number in range(9_000)})
    async with target.attacked():
        await jobs_made(target, "one", 60)
        answers = await all_jobs(target, "one", names=["v17", "none"], wait_ms=2_000)
    assert {json.dumps(job["variables"]) for jobs in answers for job in jobs} == {'{"v17": 17}'}


async def test_a_thousand_names_are_fetched_of_fifty_jobs(target):
    await target.deployed(LOOP.format(id="names", n=50))
    await target.created("names", {f"v{number}": number for number in range(1_000)})
    async with target.attacked():
        await jobs_made(target, "names", 50)
        answers = await all_jobs(target, "names", names=[f"v{number}" for number in range(1_000)])
    assert sum(map(len, answers)) == 50
    assert all(len(job["variables"]) == 1_000 for jobs in answers for job in jobs)


async def test_workers_that_leave_while_their_answer_is_made_keep_no_job(target):
    """At the latest their leases end: an answer that was sent as its reader left looks like one that was read."""
    await task(target, "leaving")
    for _ in range(3):
        await target.created("leaving", {"v": LARGE})
    asked = {"type": "leaving", "timeout": 15_000, "maxJobsToActivate": 10, "requestTimeout": 1_000}

    async def leave(after_s):
        with trio.move_on_after(after_s):
            await target.call("POST", "/v2/jobs/activation", asked)

    async with target.attacked():
        async with trio.open_nursery() as workers:
            for number in range(20):
                workers.start_soon(leave, 0.02 * number)
        found = set()
        with trio.fail_after(60):
            while len(found) < 3:
                answer = await activate(target, "leaving", wait_ms=1_000)
                assert answer.status == 200, answer
                found |= {job["jobKey"] for job in answer.json["jobs"]}


async def test_hundreds_of_types_are_waited_for(target):
    types = 300

    async def wait(number):
        answer = await activate(target, f"nobody-{number}", wait_ms=4_000)
        assert (answer.status, answer.json) == (200, {"jobs": []}), answer

    async with target.attacked(), trio.open_nursery() as workers:
        for number in range(types):
            workers.start_soon(wait, number)


@pytest.mark.parametrize(
    "fields",
    [
        {"maxJobsToActivate": 2**31 - 1},
        {"timeout": 2**62},
        {"maxJobsToActivate": 2**31 - 1, "timeout": 2**62, "fetchVariable": ["v"] * 1000},
        {"fetchVariable": ["\U0001f600" * 300] * 250},
        {"worker": "\x01" * 1000},
    ],
    ids=["jobs", "timeout", "both", "long-names", "worker"],
)
async def test_whatever_is_asked_for_in_the_extreme_is_answered(target, fields, request):
    id = "extreme-" + request.node.callspec.id
    await task(target, id)
    await target.created(id, {"v": "x"})
    async with target.attacked():
        answer = await target.call(
            "POST",
            "/v2/jobs/activation",
            {"type": id, "timeout": 1000, "maxJobsToActivate": 5, "requestTimeout": -1, **fields},
        )
    assert answer.status == 200, answer
    assert len(answer.json["jobs"]) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fetchVariable", ["v"] * 1001),
        ("type", "t" * 1025),
        ("worker", "w" * 1001),
        ("maxJobsToActivate", 0),
        ("timeout", -1),
        ("type", "a\0b"),
        ("fetchVariable", ["a\0b"]),
    ],
)
async def test_whatever_is_too_much_names_the_field(target, field, value):
    asked = {"type": "refused", "timeout": 1000, "maxJobsToActivate": 5, "requestTimeout": -1}
    async with target.attacked(rounds=3):
        answer = await target.call("POST", "/v2/jobs/activation", asked | {field: value})
    assert answer.status == 400, answer
    assert "NUL" in answer.json["detail"] or field in answer.json["detail"], answer


async def test_three_hundred_creators_are_refused_before_completions_wait(target):
    """Their surplus gets 503 with Retry-After; running work goes on."""
    await task(target, "crowd")
    statuses, over = {}, trio.Event()

    async def creator():
        async with Caller(target.port) as caller:
            while not over.is_set():
                answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "crowd"})
                statuses.setdefault(answer.status, answer)

    completed = 0
    async with target.attacked(tolerated=(503,)), trio.open_nursery() as creators:
        for _ in range(300):
            creators.start_soon(creator)
        while completed < 100:
            answer = await activate(target, "crowd", most=20, wait_ms=5_000)
            assert answer.status == 200, answer
            for job in answer.json["jobs"]:
                done = await target.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
                assert done.status == 204, done
                completed += 1
        over.set()
    assert set(statuses) <= {200, 503}
    if 503 in statuses:
        assert statuses[503].json["title"] == "RESOURCE_EXHAUSTED"
