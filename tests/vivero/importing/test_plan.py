"""The plan of a copy: each loss or repetition is a reason to stay in the source."""

import json
from datetime import UTC, datetime

import pytest

from vivero.core.bpmn.parser import parse
from vivero.importing.plan import Plan, SourceState, counted, plan

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
INSTANCE = {"processInstanceKey": "1", "state": "ACTIVE", "tags": [], "hasIncident": False}


def model(text):
    parsed = parse(
        f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
        xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
        <message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements>
        </message><process id="p" isExecutable="true"><startEvent id="s"/>
        <sequenceFlow id="s-a" sourceRef="s" targetRef="a"/>{text}</process></definitions>""".encode(),
        "p.bpmn",
    )
    assert not parsed.problems, parsed.problems
    return parsed.processes[0]


def task(id="a", extensions="", more=""):
    job = f'<zeebe:taskDefinition type="{id}"/>'
    return f'<serviceTask id="{id}"><extensionElements>{job}{extensions}</extensionElements>{more}</serviceTask>'


def timer(text="PT1H"):
    return (
        f'<timerEventDefinition><timeDuration xsi:type="tFormalExpression">{text}</timeDuration></timerEventDefinition>'
    )


def element(id="a", type="SERVICE_TASK", key="2"):
    return {"elementId": id, "type": type, "elementInstanceKey": key}


def variable(name, value, scope="1"):
    return {"name": name, "value": value, "scopeKey": scope}


def reasons(text, *, elements=None, instance=INSTANCE, **more):
    active = [element()] if elements is None else elements
    return plan(SourceState(instance, active, **more), model(text), NOW).reasons


def test_a_plan_has_what_a_copy_needs_and_outlives_a_run():
    found = plan(
        SourceState(
            INSTANCE,
            [element()],
            [variable("x", "1.50")],
            tasks=[{"elementId": "a", "state": "CREATED", "assignee": "ada", "priority": 3, "userTaskKey": "9"}],
            timers=[{"elementId": "late", "dueDate": "2027-01-01T00:00:00Z"}],
        ),
        model(task()),
        NOW,
    )
    assert found.reasons == ()
    assert (found.elements, found.variables) == (("a",), {"x": "1.50"})
    assert found.timers == (("late", "2027-01-01T00:00:00Z"),)
    assert found.tasks == ({"elementId": "a", "assignee": "ada", "changeset": {"priority": 3}},)
    assert Plan.of_document(json.loads(found.as_json())) == found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"state": "COMPLETED"}, "it is COMPLETED"),
        ({"parentProcessInstanceKey": "5"}, "another process instance has called it"),
        ({"hasIncident": True}, "it has an incident: resolve that first"),
        ({"tags": [f"t{n}" for n in range(10)]}, "it has 10 tags, and its copy needs one more"),
    ],
)
def test_an_instance_may_have_to_stay(changed, reason):
    assert reasons(task(), instance=INSTANCE | changed) == (reason,)


def test_nothing_active_gives_no_copy():
    assert reasons(task(), elements=()) == ("no element is active at which a copy could begin",)


def test_leases_and_listeners_at_work():
    job = {"elementId": "a", "jobKey": "7", "worker": "w", "kind": "BPMN_ELEMENT"}
    leased = job | {"deadline": "2026-11-28T13:00:00+01:00"}
    assert reasons(task(), jobs=[leased]) == (), "that is now"
    (reason,) = reasons(task(), jobs=[job | {"deadline": "2026-11-28T12:00:01.000Z"}])
    assert reason == "the worker 'w' has the job 7 until 2026-11-28T12:00:01.000Z: try again later"
    listener = job | {"kind": "EXECUTION_LISTENER"}
    assert reasons(task(), jobs=[listener]) == ("a listener of 'a' is at work",)
    before = '<zeebe:executionListeners><zeebe:executionListener eventType="{}" type="l"/></zeebe:executionListeners>'
    assert reasons(task("a", before.format("start"))) == ("'a': its listeners of START would run again",)
    assert reasons(task("a", before.format("end"))) == ()


def test_local_variables_come_from_mappings_or_stay():
    mapped = '<zeebe:ioMapping><zeebe:input source="=x" target="y"/></zeebe:ioMapping>'
    assert reasons(task("a", mapped), variables=[variable("y", "1", "2")]) == ()
    (reason,) = reasons(task("a", mapped), variables=[variable("z", "1", "2")])
    assert reason == "'a' has local variables that a copy would lose: z"


@pytest.mark.parametrize(
    ("text", "due", "stays"),
    [
        ("PT1S", "2026-11-29T12:00:00Z", True),
        ("=wait", "2026-11-28T12:09:00Z", True),
        ("PT1S", "2026-11-28T12:00:00Z", False),
        ("=wait", "2026-11-28T12:04:00Z", False),
        ("PT1H", "2026-11-29T12:00:00Z", False),
        ("=unknown", "2026-11-29T12:00:00Z", False),
    ],
)
def test_a_timer_that_was_moved_later_must_not_fire_before_it_is_moved_again(text, due, stays):
    found = reasons(
        f'<intermediateCatchEvent id="a">{timer(text)}</intermediateCatchEvent>',
        elements=[element(type="INTERMEDIATE_CATCH_EVENT")],
        variables=[variable("wait", '"PT5M"')],
        timers=[{"elementId": "a", "dueDate": due}],
    )
    assert found == ((f"the timer at 'a' was moved to {due}, and that of a copy would fire before",) if stays else ())


TIMED = task() + f'<boundaryEvent id="late" attachedToRef="a" cancelActivity="false">{timer()}</boundaryEvent>'
WITHIN = f'<subProcess id="x" triggeredByEvent="true"><startEvent id="xs" isInterrupting="false">{timer()}</startEvent>'
WITHIN = task() + WITHIN + "</subProcess>"


@pytest.mark.parametrize(("text", "event"), [(TIMED, "late"), (WITHIN, "x")])
def test_what_has_occurred_must_not_occur_again(text, event):
    assert counted(model(text), [element()]) == {event}
    assert reasons(text) == ()
    assert reasons(text, ended={event: 1}) == (f"'{event}' has occurred already, and would occur again",)


JOIN = (
    '<parallelGateway id="a"/><sequenceFlow id="a-b" sourceRef="a" targetRef="b"/>'
    '<sequenceFlow id="a-c" sourceRef="a" targetRef="c"/>'
    + task("b")
    + task("c")
    + '<sequenceFlow id="b-j" sourceRef="b" targetRef="j"/><sequenceFlow id="c-j" sourceRef="c" targetRef="j"/>'
    '<{kind} id="j"/><sequenceFlow id="j-d" sourceRef="j" targetRef="d"/>' + task("d")
)
WAITS = ("tokens may wait at 'j', and the source does not tell",)


@pytest.mark.parametrize(
    ("flows", "ended", "expected"),
    [
        ((), {}, ()),
        (("b-j",), {"b": 1}, WAITS),
        (("b-j", "c-j"), {"b": 1, "c": 1, "j": 1}, ()),
        (("b-j", "c-j"), {"b": 2, "c": 1, "j": 1}, WAITS),
        (("b-j", "c-j"), {"b": 1, "c": 1}, WAITS),
    ],
)
@pytest.mark.parametrize("kind", ["parallelGateway", "inclusiveGateway"])
def test_tokens_that_wait_at_a_join_are_found_by_counting(flows, ended, expected, kind):
    text = JOIN.replace("{kind}", kind)
    assert counted(model(text), [element("b")]) == {"b", "c", "j"}
    assert reasons(text, elements=[element("b")], flows=frozenset(flows), ended=ended) == expected


@pytest.mark.parametrize(
    ("text", "type", "reason"),
    [
        ('<callActivity id="a"><extensionElements><zeebe:calledElement processId="q"/></extensionElements>'
         "</callActivity>",
         "CALL_ACTIVITY", "'a': it would call again from the beginning"),
        (task("a", more="<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics"
              ' inputCollection="=[1]"/></extensionElements></multiInstanceLoopCharacteristics>'),
         "SERVICE_TASK", "'a': its inner instances cannot be started one by one"),
        ('<parallelGateway id="a"/>', "PARALLEL_GATEWAY",
         "'a': a copy cannot begin at an element of type PARALLEL_GATEWAY"),
    ],
    ids=["call", "loop", "gateway"],
)  # fmt: skip
def test_elements_before_which_nothing_can_begin(text, type, reason):
    assert reasons(text, elements=[element(type=type)]) == (reason,)


def test_scopes_come_along_once_and_without_variables_of_their_own():
    text = '<subProcess id="a"><startEvent id="i"/><sequenceFlow id="i-t" sourceRef="i" targetRef="t"/>'
    text += task("t") + "</subProcess>"
    inner = element("t", key="3")
    assert reasons(text, elements=[element("a", "SUB_PROCESS"), inner]) == ()
    twice = [element("a", "SUB_PROCESS"), element("a", "SUB_PROCESS", "4"), inner]
    assert reasons(text, elements=twice) == ("'a' is active several times",)
    (reason,) = reasons(text, elements=[element("a", "SUB_PROCESS"), inner], variables=[variable("v", "1", "2")])
    assert reason == "'a' has local variables that a copy would lose: v"


def test_a_correlation_key_that_the_variables_do_not_give_any_more():
    text = '<intermediateCatchEvent id="a"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
    waits = [element(type="INTERMEDIATE_CATCH_EVENT")]
    of = {"elements": waits, "keys": ["o-1"]}
    assert reasons(text, variables=[variable("order", '"o-1"')], **of) == ()
    (reason,) = reasons(text, variables=[variable("order", '"o-2"')], **of)
    assert reason == "it waits for a message with the key 'o-1', which its variables do not give any more"
    assert reasons(text, elements=waits, keys=["17"], variables=[variable("order", "17")]) == ()


@pytest.mark.parametrize("value", ['"cut of', '1}, "tenantId": "other", "x": {', "", "NaN", "1e999999"])
def test_a_value_that_is_not_one_value_of_json_never_reaches_a_request(value):
    found = reasons(task(), variables=[variable("x", value), variable("y", "2")], keys=["17"])
    assert found == ("the source gives no valid JSON as the value of the variable 'x'",)


def test_a_source_that_tells_no_due_dates_is_noted():
    text = f'<intermediateCatchEvent id="a">{timer()}</intermediateCatchEvent>'
    found = plan(SourceState(INSTANCE, [element(type="INTERMEDIATE_CATCH_EVENT")]), model(text), NOW)
    assert found.notes == ("the source does not tell due dates: the time of 'a' begins anew",)


@pytest.mark.parametrize("date", ["soon", "2027-01-01T00:00:00", 5, "9" * 400])
def test_a_date_that_is_none_is_a_reason_that_names_its_field(date):
    job = {"elementId": "a", "kind": "BPMN_ELEMENT", "jobKey": "8", "deadline": date, "worker": "w"}
    one = {"elementId": "a", "state": "CREATED", "assignee": None, "userTaskKey": "9", "followUpDate": date}
    found = reasons(task(), jobs=[job], tasks=[one], timers=[{"elementId": "late", "dueDate": date}])
    ends = ["deadline of the job 8", "dueDate of the timer at 'late'", "followUpDate of the user task 9"]
    assert [text.partition("valid time as the ")[2].partition(": '")[0] for text in found] == ends
