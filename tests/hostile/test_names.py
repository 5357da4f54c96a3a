"""Names, keys and codes that clients send: with NUL, in half pairs, too long for an index, by the thousand."""

import base64
import json

import pytest

from tests.eventually import eventually
from tests.hostile.target import waits_for_worker
from tests.process.http_client import Caller, Unanswered

ASTRAL = "\U00010400"
"""Four bytes, and no shorter by compression when mixed."""
NOISE = "".join(chr(0x10000 + number * 7919 % 0xFFFF) for number in range(40_000))

TASKS = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  {activity}
</bpmn:process>"""
JOB = """<bpmn:serviceTask id="task"><bpmn:extensionElements><zeebe:taskDefinition type="{id}"/>{more}
  </bpmn:extensionElements>{loop}</bpmn:serviceTask>"""
LOOP = """<bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements>
  <zeebe:loopCharacteristics inputCollection="=for i in 1..{turns} return i"/></bpmn:extensionElements>
</bpmn:multiInstanceLoopCharacteristics>"""

CREATE = {"processDefinitionId": "named"}
MESSAGE = {"name": "m", "correlationKey": "k"}
ACTIVATE = {"type": "t", "timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": -1}
KEY = "2251799813685249"
PLACES = {
    "process-id": ("POST", "/v2/process-instances", lambda bad: {"processDefinitionId": bad}),
    "version-tag": ("POST", "/v2/process-instances", lambda bad: CREATE | {"processDefinitionVersionTag": bad}),
    "tag": ("POST", "/v2/process-instances", lambda bad: CREATE | {"tags": [bad]}),
    "start-element": (
        "POST",
        "/v2/process-instances",
        lambda bad: CREATE | {"startInstructions": [{"elementId": bad}]},
    ),
    "end-element": (
        "POST",
        "/v2/process-instances",
        lambda bad: CREATE | {"runtimeInstructions": [{"type": "TERMINATE_PROCESS_INSTANCE", "afterElementId": bad}]},
    ),
    "fetched-variable": (
        "POST",
        "/v2/process-instances",
        lambda bad: CREATE | {"awaitCompletion": True, "requestTimeout": 1, "fetchVariables": [bad]},
    ),
    "variable": ("POST", "/v2/process-instances", lambda bad: CREATE | {"variables": {bad: 1}}),
    "message-name": ("POST", "/v2/messages/publication", lambda bad: MESSAGE | {"name": bad, "timeToLive": 60_000}),
    "message-key": ("POST", "/v2/messages/publication", lambda bad: MESSAGE | {"correlationKey": bad}),
    "message-id": ("POST", "/v2/messages/publication", lambda bad: MESSAGE | {"messageId": bad, "timeToLive": 60_000}),
    "correlated-key": ("POST", "/v2/messages/correlation", lambda bad: MESSAGE | {"correlationKey": bad}),
    "signal": ("POST", "/v2/signals/broadcast", lambda bad: {"signalName": bad}),
    "job-type": ("POST", "/v2/jobs/activation", lambda bad: ACTIVATE | {"type": bad}),
    "worker": ("POST", "/v2/jobs/activation", lambda bad: ACTIVATE | {"type": "hostile-names", "worker": bad}),
    "fetched": ("POST", "/v2/jobs/activation", lambda bad: ACTIVATE | {"fetchVariable": [bad]}),
    "error-code": ("POST", f"/v2/jobs/{KEY}/error", lambda bad: {"errorCode": bad}),
    "error-message": ("POST", f"/v2/jobs/{KEY}/failure", lambda bad: {"errorMessage": bad}),
    "lease": ("POST", f"/v2/jobs/{KEY}/completion", lambda bad: {"jobLeaseToken": bad}),
    "assignee": ("POST", f"/v2/user-tasks/{KEY}/assignment", lambda bad: {"assignee": bad}),
    "candidate": ("PATCH", f"/v2/user-tasks/{KEY}", lambda bad: {"changeset": {"candidateUsers": [bad]}}),
    "action": ("POST", f"/v2/user-tasks/{KEY}/completion", lambda bad: {"action": bad}),
    "filter": ("POST", "/v2/process-instances/search", lambda bad: {"filter": {"businessId": bad}}),
    "filter-like": ("POST", "/v2/jobs/search", lambda bad: {"filter": {"type": {"$like": bad}}}),
    "filter-in": ("POST", "/v2/incidents/search", lambda bad: {"filter": {"elementId": {"$in": [bad]}}}),
    "filter-variable": (
        "POST",
        "/v2/process-instances/search",
        lambda bad: {"filter": {"variables": [{"name": bad, "value": bad}]}},
    ),
    "filter-tag": ("POST", "/v2/process-instances/search", lambda bad: {"filter": {"tags": [bad]}}),
    "filter-candidate": ("POST", "/v2/user-tasks/search", lambda bad: {"filter": {"candidateUser": bad}}),
    "sort": ("POST", "/v2/jobs/search", lambda bad: {"sort": [{"field": bad}]}),
    "expression": ("POST", "/v2/expression/evaluation", lambda bad: {"expression": bad}),
    "scope-of-an-expression": (
        "POST",
        "/v2/expression/evaluation",
        lambda bad: {"expression": "=1", "variables": {bad: bad}},
    ),
}
NAMED = {"filter-like", "expression", "scope-of-an-expression"}
BAD = {
    "nul": '"a\\u0000b"',
    "half": '"\\ud800"',
    "long": json.dumps(NOISE),
    "huge": json.dumps("x" * 3_000_000),
    "256-wide": json.dumps(NOISE[:256]),
    "1024-bytes": json.dumps(NOISE[:256]),
    "odd": json.dumps("\u202e\ufeff\x7f\x01'\";%_\\$1 -- "),
}
MARK = "<bad>"


@pytest.mark.parametrize("bad", BAD)
async def test_every_name_of_every_request(target, bad):
    """Taken, or refused with a reason: the fault is never the server's, and no term ends."""
    await target.deployed(waits_for_worker("named"))
    async with target.attacked(terms=0), Caller(target.port) as caller:
        for place, (method, path, body) in PLACES.items():
            text = json.dumps(body(MARK)).replace(f'"{MARK}"', BAD[bad])
            try:
                answer = await caller.send(method, path, text.encode(), "application/json")
            except Unanswered:  # refused before it was read to the end, and then reset
                assert bad == "huge", place
                continue
            expected = (503, 504) if place == "fetched-variable" else ()  # it may wait for a millisecond only
            assert answer.status < 500 or answer.status in expected, (place, answer)
            if answer.status >= 400:
                assert answer.json["detail"], (place, answer)
            if bad in ("nul", "half"):
                assert answer.status == 400, (place, answer)


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/v2/process-instances/%00", ()),
        ("GET", "/v2/process-instances/1%00", ()),
        ("GET", "/v2/user-tasks/%F0%90%90%80", ()),
        ("GET", "/v2/process-instances/99999999999999999999", ()),
        ("GET", "/v2/process-instances/-9223372036854775808", ()),
        ("GET", "/v2/commands/9223372036854775807", ()),
        ("GET", "/v2/process-instances/1/trace?after=%00", ()),
        ("POST", "/v2/process-instances?timeout=%00", ()),
        ("POST", "/v2/process-instances", (("Idempotency-Key", "k" * 256),)),
        ("POST", "/v2/process-instances", (("Idempotency-Key", "a b"),)),
        ("POST", "/v2/process-instances", (("Prefer", "respond-async;" * 500),)),
    ],
)
async def test_paths_queries_and_headers(target, method, path, headers):
    await target.deployed(waits_for_worker("named"))
    async with target.attacked(terms=0):
        answer = await target.call(method, path, CREATE if method == "POST" else None, headers=headers)
        assert answer.status in (200, 202, 400, 404), answer


@pytest.mark.representative
async def test_cursors_that_nobody_gave(target):
    """Each is refused, or finds nothing, whatever the values in it are."""
    values = [None, "\0", "x" * 5000, 2**63, -(2**63), 1.5, True, [], {}, "+294277-01-01T00:00:00Z", "9999-12-31"]
    sorts = ["startDate", "businessId", "processDefinitionVersion", "hasIncident", "state"]
    async with target.attacked(terms=0), Caller(target.port) as caller:
        for sort in sorts:
            for value in values:
                for direction in ("after", "before"):
                    cursor = base64.b64encode(json.dumps([value, 1]).encode()).decode()
                    body = {"sort": [{"field": sort}], "page": {direction: cursor}}
                    answer = await caller.call("POST", "/v2/process-instances/search", body)
                    assert answer.status in (200, 400), (sort, value, answer)


async def test_filters_at_their_limits(target):
    """The most conditions, alternatives, values and patterns at once: answered, or refused with the limit."""
    wide = [f"v{number}" for number in range(1000)]
    keys = [str(number) for number in range(1000)]
    pattern = "*a" * 490
    filters = [
        {"$or": [{"businessId": {"$in": wide}, "processInstanceKey": {"$in": keys}} for _ in range(200)]},
        {"$or": [{"businessId": {"$like": pattern}} for _ in range(450)]},
        {"$or": [{} for _ in range(501)]},
        {"variables": [{"name": f"n{n}", "value": {"$like": pattern}} for n in range(100)]},
        {"variables": [{"name": f"n{n}", "value": {"$in": [], "$notIn": []}} for n in range(100)]},
        {"tags": [f"t{n}" for n in range(100)]},
        {"elementId": {"$in": wide, "$notIn": wide}, "errorMessage": {"$like": pattern}},
        {"processDefinitionId": {"$in": wide}, "processDefinitionKey": {"$in": keys}},
        {"businessId": {"$in": [NOISE] * 5}},
    ]
    sort = [{"field": field, "order": "DESC"} for field in ("businessId", "state", "startDate", "endDate")] * 5
    async with target.attacked(terms=0):
        for filter in filters:
            answer = await target.call("POST", "/v2/process-instances/search", {"filter": filter, "sort": sort})
            assert answer.status in (200, 400, 413), (str(filter)[:200], answer)


async def test_a_dozen_creations_a_second_that_make_nul(target):
    """Before, each ended a term: others waited ten times as long."""
    activity = JOB.format(id="=string join([&quot;\\u0000&quot;])", more="", loop="")
    await target.deployed(TASKS.format(id="flood", activity=activity))
    async with target.attacked(terms=0) as others:
        keys = []
        while len(keys) < 60:
            keys += [await target.created("flood") for _ in range(4)]
            await others.rounds_done(1, 60)
        incident = await target.incident(keys[-1])
    assert incident["elementId"] == "task"
    assert "without NUL characters" in incident["errorMessage"]


async def test_large_headers_times_a_wide_loop(target):
    """400 jobs of 200 kB of headers each: 80 MB that no quantum may write at once."""
    headers = "".join(f'<zeebe:header key="h{n}" value="{"v" * 50_000}"/>' for n in range(4))
    more = f"<zeebe:taskHeaders>{headers}</zeebe:taskHeaders>"
    activity = JOB.format(id="headers", more=more, loop=LOOP.format(turns=400))
    await target.deployed(TASKS.format(id="headers", activity=activity))
    async with target.attacked():
        answer = await target.create("headers", requestTimeout=1000)
        assert answer.status in (200, 504), answer
        await eventually(lambda: found(target, "headers", 400), "400 jobs", within_s=60)


async def test_many_candidates_times_a_wide_loop(target):
    """Sixty user tasks of twice a thousand candidates, of as many characters as they may have."""
    assignment = '<zeebe:assignmentDefinition candidateGroups="=names" candidateUsers="=names"/>'
    activity = f"""<bpmn:userTask id="task"><bpmn:extensionElements><zeebe:userTask/>{assignment}
        </bpmn:extensionElements>{LOOP.format(turns=60)}</bpmn:userTask>"""
    await target.deployed(TASKS.format(id="candidates", activity=activity))
    async with target.attacked():
        key = await target.created("candidates", {"names": [NOISE[n : n + 100] for n in range(1000)]})
        await target.canceled(key)


async def test_incidents_that_quote_large_values(target):
    """The message of each is cut, however large the value that it tells of."""
    activity = JOB.format(id="=big", more="", loop=LOOP.format(turns=400))
    await target.deployed(TASKS.format(id="quotes", activity=activity))
    async with target.attacked():
        key = await target.created("quotes", {"big": "x" * 900_000})
        incident = await target.incident(key)
        assert incident["elementId"] == "task"
        assert len(incident["errorMessage"]) <= 10_000
        await target.canceled(key)


STARTED_BY_MESSAGE = """<bpmn:message id="m" name="m"/><bpmn:process id="g" isExecutable="true">
    <bpmn:startEvent id="by_message"><bpmn:messageEventDefinition messageRef="m"/></bpmn:startEvent></bpmn:process>"""


async def test_deployments_that_call_what_cannot_be_called(target):
    """Five thousand calls of one process that only a message starts: refused, with as many problems as are told."""
    calls = "".join(
        f'<bpmn:callActivity id="c{n}"><bpmn:extensionElements><zeebe:calledElement processId="g"/>'
        "</bpmn:extensionElements></bpmn:callActivity>"
        for n in range(5000)
    )
    content = f'<bpmn:process id="calls" isExecutable="true"><bpmn:startEvent id="s"/>{calls}</bpmn:process>'
    async with target.attacked(terms=0):
        answer = await target.deploy(content + STARTED_BY_MESSAGE)
        assert answer.status == 400
        assert "calls the process 'g', which has no none start event" in answer.json["detail"]
        assert answer.json["detail"].count("\n") <= 250
        warned = await target.deploy(content.replace('"calls"', '"lonely"'))
        assert warned.status == 200, warned
        assert len(warned.json["warnings"]) == 201


async def found(target, process_id, count):
    body = {"filter": {"processDefinitionId": process_id}, "page": {"limit": 1}}
    answer = await target.call("POST", "/v2/jobs/search", body)
    return answer.json["page"]["totalItems"] == count
