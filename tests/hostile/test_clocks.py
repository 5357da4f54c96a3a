"""Clocks: PostgreSQL's is set back and on behind the program's back, the engine's to the ends of time."""

import pytest
import trio

from tests.eventually import eventually

PROGRAM_ARGUMENTS = ("--control-clock",)
LATEST_MS = 253_402_300_799_999
LEASE_OVER = (404,)
"""A step on ends leases early: a job is given to two workers, and the second completion is refused."""
DAY_MS = 24 * 3_600_000
TIMER = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="wait"/>
  <bpmn:intermediateCatchEvent id="wait"><bpmn:timerEventDefinition>
    <bpmn:timeDuration xsi:type="bpmn:tFormalExpression">{duration}</bpmn:timeDuration>
  </bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>
</bpmn:process>"""
TASK = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/></bpmn:extensionElements></bpmn:serviceTask>
</bpmn:process>"""


@pytest.fixture(autouse=True)
def clock_afterwards(target):
    """It shows the database's time again, and nobody is told of what a test did to it behind the program's back."""
    yield
    target.sql("UPDATE clock SET shift = '0', pinned_at = NULL, revision = revision + 1")


def step(target, interval):
    """As if somebody had set PostgreSQL's clock: no revision, no notification."""
    target.sql("UPDATE clock SET shift = shift + %s::interval", (interval,))


@pytest.mark.parametrize("interval", ["-2 hours", "2 hours", "-30 days", "-40 years", "400 years", "-1 ms", "1 s"])
async def test_the_clock_of_the_database_steps(target, interval):
    """Timers of a second that are set afterwards are not late; others notice nothing."""
    id = "step" + "".join(filter(str.isalnum, interval))
    await target.deployed(TIMER.format(id=id, duration="PT1S"))
    async with target.attacked(terms=0, tolerated=LEASE_OVER):
        await target.created(id)
        step(target, interval)
        assert await target.ended(await target.created(id), within_s=30) == "COMPLETED"
    step(target, "1 day" if interval.startswith("-") else "0")


async def test_the_clock_of_the_database_steps_all_the_time(target):
    await target.deployed(TIMER.format(id="shaken", duration="PT0.5S"))
    async with target.attacked(terms=0, tolerated=LEASE_OVER):
        keys = []
        for number in range(30):
            step(target, ["-1 hour", "3600.1 s", "-700 ms", "650 ms", "-1 day", "1 day"][number % 6])
            keys.append(await target.created("shaken"))
            await trio.sleep(0.02)
        step(target, "2 days")
        assert {await target.ended(key) for key in keys} == {"COMPLETED"}
    keys = ", ".join(keys)
    triggered = "SELECT count(*) FROM event_log WHERE root_key IN ({}) AND events::text LIKE '%TimerTriggered%'"
    assert target.sql(triggered.format(keys)) == [(30,)]


ENDS_OF_TIME = {"the first moment": 0, "the last moment": LATEST_MS, "the last hour": LATEST_MS - 3_599_999}


@pytest.mark.parametrize("name", ENDS_OF_TIME)
async def test_the_engines_clock_stands_at_an_end_of_time(target, name):
    """Jobs are leased for ten years and fail with a backoff of ten; messages live for ever."""
    at_ms, id = ENDS_OF_TIME[name], "end" + str(list(ENDS_OF_TIME).index(name))
    await target.deployed(TASK.format(id=id))
    async with target.attacked(tolerated=LEASE_OVER):
        assert (await target.call("PUT", "/v2/clock", {"timestamp": at_ms})).status == 204
        await target.created(id)
        ask = {"type": id, "worker": "w", "timeout": 2**62, "maxJobsToActivate": 1}
        answer = await target.call("POST", "/v2/jobs/activation", ask)
        assert answer.status == 200, answer
        (job,) = answer.json["jobs"]
        found = await target.search("jobs", type=id)
        assert [one["jobKey"] for one in found] == [job["jobKey"]]
        path = f"/v2/jobs/{job['jobKey']}"
        assert (await target.call("PATCH", path, {"changeset": {"timeout": 2**62}})).status == 204
        answer = await target.call("POST", f"{path}/failure", {"retries": 1, "retryBackOff": 2**62})
        assert answer.status == 204, answer
        message = {"name": id, "correlationKey": "k", "timeToLive": 2**62, "variables": {}}
        assert (await target.call("POST", "/v2/messages/publication", message)).status in (200, 400)
        assert (await target.search("jobs", type=id))[0]["retries"] == 1


async def test_a_timer_beyond_the_end_of_time_is_an_incident(target):
    await target.deployed(TIMER.format(id="beyond", duration="PT1H"))
    async with target.attacked(tolerated=LEASE_OVER):
        assert (await target.call("PUT", "/v2/clock", {"timestamp": LATEST_MS})).status == 204
        incident = await target.incident(await target.created("beyond"))
    assert incident["elementId"] == "wait"


@pytest.mark.representative
async def test_the_clock_is_set_by_many_at_once(target):
    """Each setting is answered, and the last one counts."""
    async with target.attacked(terms=0, tolerated=LEASE_OVER):
        before = target.sql("SELECT revision FROM clock")[0][0]
        async with trio.open_nursery() as nursery:
            for number in range(40):
                nursery.start_soon(pin, target, number * DAY_MS)
        assert target.sql("SELECT revision FROM clock")[0][0] == before + 40


async def pin(target, at_ms):
    answer = await target.call("PUT", "/v2/clock", {"timestamp": at_ms})
    assert answer.status == 204, answer


async def test_a_lease_is_extended_by_many_at_once(target):
    """Each is told that it is, and the job has one end."""
    await target.deployed(TASK.format(id="extended"))
    async with target.attacked(terms=0):
        await target.created("extended")
        ask = {"type": "extended", "worker": "w", "timeout": 60_000, "maxJobsToActivate": 1}
        (job,) = (await target.call("POST", "/v2/jobs/activation", ask)).json["jobs"]
        async with trio.open_nursery() as nursery:
            for number in range(40):
                nursery.start_soon(extend, target, job["jobKey"], 60_000 + number)


async def extend(target, key, timeout_ms):
    answer = await target.call("PATCH", f"/v2/jobs/{key}", {"changeset": {"timeout": timeout_ms}})
    assert answer.status == 204, answer


async def test_a_step_on_purges_and_a_step_back_restores_nothing(target):
    """An idempotency key lasts for a day of the database's clock, not longer, however often that is set."""
    body = {"processDefinitionId": "one-task"}

    async def create():
        headers = (("Idempotency-Key", "stepped"),)
        return (await target.call("POST", "/v2/process-instances", body, headers=headers)).json["processInstanceKey"]

    async with target.attacked(terms=0, tolerated=LEASE_OVER):
        first = await create()
        step(target, "-2 hours")
        assert await create() == first
        step(target, "27 hours")

        async def anew():
            return await create() != first

        await eventually(anew, "the key has expired", within_s=20)
