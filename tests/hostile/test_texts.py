"""Texts that FEEL makes and no column can hold: NUL above all. An incident names the element and its expression."""

import json

import pytest

NUL = "string join([&quot;a\\u0000b&quot;])"
"""An expression that a client can deploy, and whose value no client can send."""

PROCESS = """<bpmn:message id="m-{id}" name="={nul}">
  <bpmn:extensionElements><zeebe:subscription correlationKey="=1"/></bpmn:extensionElements></bpmn:message>
<bpmn:message id="k-{id}" name="plain"><bpmn:extensionElements><zeebe:subscription correlationKey="={nul}"/>
  </bpmn:extensionElements></bpmn:message>
<bpmn:signal id="s-{id}" name="={nul}"/><bpmn:error id="e-{id}" errorCode="={nul}"/>
<bpmn:escalation id="c-{id}" escalationCode="={nul}"/>
<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="first"/>
  <bpmn:serviceTask id="first"><bpmn:extensionElements>
    <zeebe:taskDefinition type="first-{id}"/></bpmn:extensionElements></bpmn:serviceTask>
  <bpmn:sequenceFlow id="g" sourceRef="first" targetRef="it"/>{it}
</bpmn:process>"""


def task(definition):
    return f'<bpmn:serviceTask id="it"><bpmn:extensionElements>{definition}</bpmn:extensionElements></bpmn:serviceTask>'


def user(content):
    extensions = f"<bpmn:extensionElements><zeebe:userTask/>{content}</bpmn:extensionElements>"
    return f'<bpmn:userTask id="it">{extensions}</bpmn:userTask>'


def event(tag, content):
    return f'<bpmn:{tag} id="it">{content}</bpmn:{tag}>'


def timer(kind):
    text = f'<bpmn:{kind} xsi:type="bpmn:tFormalExpression">={NUL}</bpmn:{kind}>'
    return event("intermediateCatchEvent", f"<bpmn:timerEventDefinition>{text}</bpmn:timerEventDefinition>")


CALL = f'<bpmn:extensionElements><zeebe:calledElement processId="={NUL}"/></bpmn:extensionElements>'
CASES = {
    "job-type": task(f'<zeebe:taskDefinition type="={NUL}"/>'),
    "retries": task(f'<zeebe:taskDefinition type="x" retries="={NUL}"/>'),
    "assignee": user(f'<zeebe:assignmentDefinition assignee="={NUL}"/>'),
    "candidate-groups": user(f'<zeebe:assignmentDefinition candidateGroups="=[{NUL}]"/>'),
    "due-date": user(f'<zeebe:taskSchedule dueDate="={NUL}"/>'),
    "form": user(f'<zeebe:formDefinition externalReference="={NUL}"/>'),
    "form-id": user(f'<zeebe:formDefinition formId="={NUL}"/>'),
    "called-process": f'<bpmn:callActivity id="it">{CALL}</bpmn:callActivity>',
    "timer-date": timer("timeDate"),
    "timer-duration": timer("timeDuration"),
    "message-name": event("intermediateCatchEvent", '<bpmn:messageEventDefinition messageRef="m-{id}"/>'),
    "correlation-key": event("intermediateCatchEvent", '<bpmn:messageEventDefinition messageRef="k-{id}"/>'),
    "signal-name": event("intermediateCatchEvent", '<bpmn:signalEventDefinition signalRef="s-{id}"/>'),
    "thrown-signal": event("intermediateThrowEvent", '<bpmn:signalEventDefinition signalRef="s-{id}"/>'),
    "error-code": event("endEvent", '<bpmn:errorEventDefinition errorRef="e-{id}"/>'),
    "escalation-code": event("endEvent", '<bpmn:escalationEventDefinition escalationRef="c-{id}"/>'),
    "flow-condition": task(
        '<zeebe:taskDefinition type="x"/><zeebe:ioMapping>'
        f'<zeebe:input source="=assert({NUL}, false, {NUL})" target="x"/></zeebe:ioMapping>'
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_nul_behind_a_job(target, case):
    """The job before it is completed, and an incident names the element; it is not the worker who is told 500."""
    await target.deployed(PROCESS.format(id=case, nul=NUL, it=CASES[case].replace("{id}", case)))
    async with target.attacked(terms=0):
        key = await target.created(case)
        (job,) = await activated(target, f"first-{case}")
        answer = await target.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert answer.status == 204, answer
        incident = await target.incident(key)
    assert incident["elementId"] == "it"
    assert "\0" not in incident["errorMessage"]


async def activated(target, type):
    ask = {"type": type, "worker": "hostile", "timeout": 60_000, "maxJobsToActivate": 10, "requestTimeout": 10_000}
    answer = await target.call("POST", "/v2/jobs/activation", ask)
    assert answer.status == 200, answer
    return answer.json["jobs"]


VALUE = """<bpmn:process id="value" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="script"/>
  <bpmn:scriptTask id="script"><bpmn:extensionElements>
    <zeebe:script expression="={{&quot;k\\u0000&quot;: {nul}, l: [{nul}]}}" resultVariable="made"/>
  </bpmn:extensionElements></bpmn:scriptTask><bpmn:sequenceFlow id="g" sourceRef="script" targetRef="it"/>
  {it}
</bpmn:process>"""
EXPRESSIONS = ('="a\\u0000b"', '=x."\\u0000"', '=assert(1, false, "\\u0000")', '=date("\\u0000")', "=\\u0000")
MADE = {"k\0": "a\0b", "l": ["a\0b"]}


@pytest.mark.representative
async def test_nul_in_a_value_is_read_everywhere(target):
    """A value is JSON: NUL in it is an escape like any other, on the way out, too."""
    await target.deployed(VALUE.format(nul=NUL, it='<bpmn:endEvent id="it"/>').replace('id="value"', 'id="awaited"'))
    await target.deployed(VALUE.format(nul=NUL, it=task('<zeebe:taskDefinition type="value"/>')))
    async with target.attacked(terms=0):
        awaited = await target.create("awaited", awaitCompletion=True)
        assert (awaited.status, awaited.json["variables"]["made"]) == (200, MADE), awaited
        key = await target.created("value")
        (job,) = await activated(target, "value")
        assert job["variables"]["made"] == MADE
        (found,) = await target.search("variables", processInstanceKey=key)
        assert json.loads(found["value"]) == MADE
        one = await target.call("GET", f"/v2/variables/{found['variableKey']}")
        assert json.loads(one.json["value"]) == MADE
        by_value = await target.search("process-instances", variables=[{"name": "made", "value": found["value"]}])
        assert key in [instance["processInstanceKey"] for instance in by_value]
        trace = await target.call("GET", f"/v2/process-instances/{key}/trace")
        assert trace.status == 200, trace
        position = awaited.json["commandPosition"]
        assert (await target.call("GET", f"/v2/commands/{position}")).status == 200
        body = {"name": "n", "correlationKey": "k", "variables": {"x": 1}}
        assert (await target.call("POST", "/v2/messages/publication", body)).status == 200
        document = {"expression": "=made.l[1]", "scopeKey": key}
        evaluated = await target.call("POST", "/v2/expression/evaluation", document)
        assert (evaluated.status, evaluated.json["result"]) == (200, "a\0b")
        for expression in EXPRESSIONS:
            answer = await target.call("POST", "/v2/expression/evaluation", {"expression": expression})
            assert answer.status in (200, 400), (expression, answer)
