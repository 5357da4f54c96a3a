"""Tasks, calls and loops: what is read of them, and each thing that is refused with its element and line."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.model import CalledElement
from vivero.core.bpmn.parser import parse

S = '<startEvent id="s" />'


def nodes(parsed):
    assert [str(problem) for problem in parsed.problems] == []
    return parsed.processes[0].nodes


def where(parsed):
    return [(problem.element_id, problem.line, problem.message) for problem in parsed.problems]


def value(expression, **variables):
    return None if expression is None else expression.evaluate(variables).value


def activity(tag, extensions="", children="", attributes=""):
    """An activity `x` in line 3, its extension elements in line 4, its other children in line 5."""
    inside = f"<extensionElements>\n{extensions}</extensionElements>\n{children}"
    return f"{S}\n<{tag} id='x' {attributes}>{inside}</{tag}>"


def loop(settings="<zeebe:loopCharacteristics inputCollection='=items' />", inside="", attributes=""):
    """A multi-instance task `x`; the marker in line 3, its extension elements in line 4, its children in line 5."""
    extensions = f"<extensionElements>\n{settings}</extensionElements>"
    marker = f"<multiInstanceLoopCharacteristics {attributes}>{extensions}\n{inside}</multiInstanceLoopCharacteristics>"
    return f"{S}<task id='x'>\n{marker}</task>"


def standard_loop(inside="", attributes=""):
    """A task `x` with the standard loop; the marker in line 3, its children in line 4."""
    return (
        f"{S}<task id='x'>\n<standardLoopCharacteristics {attributes}>\n{inside}</standardLoopCharacteristics></task>"
    )


@pytest.fixture
def activities(models):
    content = (models / "activities.bpmn").read_bytes()
    return parse(content, "activities.bpmn").processes[0].nodes


def test_tasks_have_the_types_of_the_rest_api(activities):
    assert {node.id: node.type for node in activities.values() if node.scope == "activities"} == {
        "start": "START_EVENT",
        "plain": "TASK",
        "by-hand": "MANUAL_TASK",
        "count": "SCRIPT_TASK",
        "script-job": "SCRIPT_TASK",
        "send": "SEND_TASK",
        "decide": "BUSINESS_RULE_TASK",
        "decide-here": "BUSINESS_RULE_TASK",
        "call": "CALL_ACTIVITY",
        "call-failed": "BOUNDARY_EVENT",
        "ask": "USER_TASK",
        "ask-by-job": "USER_TASK",
        "fork": "INCLUSIVE_GATEWAY",
        "each": "SUB_PROCESS",
        "join": "INCLUSIVE_GATEWAY",
        "end": "END_EVENT",
    }


def test_a_script_has_an_expression_and_a_variable(activities):
    script = activities["count"].script
    assert (value(script.expression, orders=[1, 2]), script.result) == (2, "orderCount")
    job = activities["script-job"].job
    assert (value(job.type), value(job.retries), job.headers) == ("script", 1, {"language": "none"})


def test_tasks_that_are_jobs(activities):
    assert [value(activities[name].job.type) for name in ("send", "decide")] == ["send", "decide"]
    assert activities["plain"].job is activities["by-hand"].job is None


def test_a_decision_has_an_id_and_a_variable(activities):
    decision = activities["decide-here"].decision
    assert (value(decision.decision_id), decision.result) == ("discount", "discount")
    assert (decision.binding, decision.version_tag) == ("deployment", None)


def test_a_called_element(activities):
    called = activities["call"].called
    assert (value(called.process_id, target="other"), called.binding, called.version_tag) == (
        "other",
        "versionTag",
        "v1",
    )
    assert (called.all_parent_variables, called.all_child_variables) == (True, False)


def called(process, attributes) -> CalledElement:
    return nodes(process(activity("callActivity", f"<zeebe:calledElement {attributes} />")))["x"].called


def test_all_variables_go_in_and_out_of_a_call_unless_it_says_otherwise(process):
    plain = called(process, "processId='a'")
    assert (plain.all_parent_variables, plain.all_child_variables) == (True, True)
    assert (plain.binding, plain.version_tag) == ("latest", None)
    strict = called(
        process,
        "processId='a' propagateAllParentVariables='false' propagateAllChildVariables='false' bindingType='latest'",
    )
    assert (strict.all_parent_variables, strict.all_child_variables) == (False, False)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("processId='007'", "007"),
        ("processId='=target'", "other"),
        ("processIdExpression='=target'", "other"),
        ("processIdExpression='target'", "other"),
        ("processId='' processIdExpression='target'", "other"),
    ],
)
def test_which_process_is_called(process, attributes, expected):
    assert value(called(process, attributes).process_id, target="other") == expected


def test_a_loop(activities):
    settings = activities["call"].loop
    assert (settings.sequential, value(settings.collection, orders=[1])) == (True, [1])
    assert (settings.item, settings.output_name, value(settings.output, result=3)) == ("order", "results", 3)
    assert value(settings.until, numberOfCompletedInstances=3) is True
    assert activities["call"].entered_as == "MULTI_INSTANCE_BODY"
    assert activities["call"].boundaries == ("call-failed",)


def test_a_loop_may_have_nothing_but_a_collection(activities):
    settings = activities["each"].loop
    assert (settings.sequential, settings.item, settings.output, settings.output_name) == (False, None, None, None)
    assert settings.until is None
    assert activities["plain"].entered_as == "TASK"


def test_data_of_a_loop_that_variables_take_the_place_of_is_accepted(process):
    data = "<loopDataInputRef>i</loopDataInputRef><inputDataItem id='item' /><outputDataItem id='out' />"
    assert nodes(process(loop(inside=data, attributes="behavior='All' id='marker'")))["x"].loop.item is None


def test_a_user_task(activities):
    task = activities["ask"].user_task
    assert activities["ask"].job is None
    assert value(task.assignee, clerk="jo") == "jo"
    assert value(task.candidate_groups) == ["sales", "support"]
    assert value(task.candidate_users, clerks=["a"]) == ["a"]
    assert (value(task.due_date), value(task.follow_up_date, tomorrow="t")) == ("2030-01-31T12:00:00Z", "t")
    assert (value(task.priority), task.headers) == (70, {"room": "7"})
    assert (value(task.form.form_id), task.form.binding, task.form.version_tag) == ("ask-form", "versionTag", "v2")


def test_a_user_task_without_the_marker_is_a_job(activities):
    node = activities["ask-by-job"]
    assert node.user_task is None
    assert (value(node.job.type), value(node.job.retries)) == ("io.camunda.zeebe:userTask", 1)
    assert {name: value(header, form="F") for name, header in node.job.computed.items()} == {
        "io.camunda.zeebe:assignee": "007",
        "io.camunda.zeebe:candidateGroups": ["sales"],
        "io.camunda.zeebe:formKey": "F",
    }


def test_a_user_task_needs_nothing(process):
    found = nodes(process(activity("userTask", "<zeebe:userTask />")))["x"].user_task
    assert (found.assignee, found.candidate_groups, found.priority, found.form, found.headers) == (
        None,
        None,
        None,
        None,
        {},
    )


@pytest.mark.parametrize("text", ['say "hi"', "back\\slash", "ä,ö", "{=1}"])
def test_static_candidates_stay_the_text_that_they_are(process, text):
    quoted = text.replace('"', "&quot;")
    model = activity("userTask", f'<zeebe:userTask /><zeebe:assignmentDefinition candidateGroups="{quoted}" />')
    assert value(nodes(process(model))["x"].user_task.candidate_groups) == text.split(",")


def test_long_lists_of_candidates_are_no_long_expressions(process):
    """Lists are never parsed as FEEL, whose texts may have 20,000 characters."""
    names = [f"clerk-{number:05}" for number in range(3000)]
    model = activity("userTask", f'<zeebe:userTask /><zeebe:assignmentDefinition candidateUsers="{",".join(names)}" />')
    assert value(nodes(process(model))["x"].user_task.candidate_users) == names


def test_a_long_number_is_a_long_text(process):
    digits = "7" * 25_000
    model = activity("userTask", f'<zeebe:userTask /><zeebe:assignmentDefinition assignee="{digits}" />')
    assert value(nodes(process(model))["x"].user_task.assignee) == digits


SCRIPT = "<zeebe:script expression='=1' resultVariable='r' />"
JOB = "<zeebe:taskDefinition type='t' />"
CALLED = "<zeebe:calledElement processId='=' />"
PEOPLE = "<zeebe:assignmentDefinition assignee='=' /><zeebe:taskSchedule dueDate='soon' />"
NO_NAME = "is not a variable name"
NO_FEEL = "is not an expression: '=' and FEEL behind it"

REFUSED = {
    "script task without anything": (
        activity("scriptTask"),
        [("x", 3, "needs a zeebe:taskDefinition with the type of the job")],
    ),
    "script and job": (
        activity("scriptTask", SCRIPT + JOB),
        [("x", 4, "zeebe:script and zeebe:taskDefinition: one of them is too much")],
    ),
    "script without a variable": (
        activity("scriptTask", "<zeebe:script expression='=1' />"),
        [("x", 4, f"resultVariable: '' {NO_NAME}")],
    ),
    "script into a place": (
        activity("scriptTask", "<zeebe:script expression='=1' resultVariable='a.b' />"),
        [("x", 4, f"resultVariable: 'a.b' {NO_NAME}")],
    ),
    "script that is none": (
        activity("scriptTask", "<zeebe:script expression='=' resultVariable='r' />"),
        [("x", 4, f"script: '=' {NO_FEEL}")],
    ),
    "script without an expression": (
        activity("scriptTask", "<zeebe:script resultVariable='r' />"),
        [("x", 4, f"script: '' {NO_FEEL}")],
    ),
    "script in another language": (
        activity("scriptTask", SCRIPT, "<script>print(1)</script>"),
        [("x", 5, "a script of this kind is not executable; zeebe:script holds a FEEL expression")],
    ),
    "send task without anything": (
        activity("sendTask"),
        [("x", 3, "needs a zeebe:taskDefinition with the type of a job, or a zeebe:publishMessage")],
    ),
    "business rule task without anything": (
        activity("businessRuleTask"),
        [("x", 3, "needs a zeebe:taskDefinition with the type of the job")],
    ),
    "decision and job": (
        activity("businessRuleTask", f"<zeebe:calledDecision decisionId='d' resultVariable='r' />{JOB}"),
        [("x", 4, "zeebe:calledDecision and zeebe:taskDefinition: one of them is too much")],
    ),
    "decision without anything": (
        activity("businessRuleTask", "<zeebe:calledDecision />"),
        [("x", 4, f"resultVariable: '' {NO_NAME}"), ("x", 4, "zeebe:calledDecision needs a decisionId")],
    ),
    "job of a manual task": (
        activity("manualTask", JOB),
        [("x", 4, "zeebe:taskDefinition has no effect on this element")],
    ),
    "script of a service task": (
        activity("serviceTask", JOB + SCRIPT),
        [("x", 4, "zeebe:script has no effect on this element")],
    ),
    "call of nothing": (
        activity("callActivity"),
        [("x", 3, "needs a zeebe:calledElement with the id of the process")],
    ),
    "call without an id": (
        activity("callActivity", "<zeebe:calledElement processId=' ' />"),
        [("x", 4, "zeebe:calledElement needs a processId")],
    ),
    "call with two ids": (
        activity("callActivity", "<zeebe:calledElement processId='a' processIdExpression='=b' />"),
        [("x", 4, "processId and processIdExpression: one of them is too much")],
    ),
    "call with a business id that is too long": (
        activity("callActivity", f"<zeebe:calledElement processId='a' businessId='{257 * 'b'}' />"),
        [("x", 4, "businessId: it has 257 characters, and at most 256 are possible")],
    ),
    "call with a business id that is no expression": (
        activity("callActivity", "<zeebe:calledElement processId='a' businessId='=b +' />"),
        [
            (
                "x",
                4,
                "businessId: 'b +' is not valid FEEL: line 1, column 4: expected an expression but found end of input",
            )
        ],
    ),
    "call with an unknown binding": (
        activity("callActivity", "<zeebe:calledElement processId='a' bindingType='newest' />"),
        [("x", 4, "bindingType: 'newest' is none of latest, deployment, versionTag")],
    ),
    "call of no tag": (
        activity("callActivity", "<zeebe:calledElement processId='a' bindingType='versionTag' />"),
        [("x", 4, "bindingType='versionTag' needs a versionTag")],
    ),
    "call of a useless tag": (
        activity("callActivity", "<zeebe:calledElement processId='a' versionTag='v' />"),
        [("x", 4, "a versionTag has no effect with bindingType='latest'")],
    ),
    "call of a computed tag": (
        activity("callActivity", "<zeebe:calledElement processId='a' bindingType='versionTag' versionTag='=v' />"),
        [("x", 4, "versionTag: an expression is not executable yet")],
    ),
    "call with a flag that is none": (
        activity("callActivity", "<zeebe:calledElement processId='a' propagateAllChildVariables='yes' />"),
        [("x", 4, "propagateAllChildVariables='yes' is neither true nor false")],
    ),
    "loop without settings": (
        f"{S}<task id='x'>\n<multiInstanceLoopCharacteristics /></task>",
        [("x", 3, "multi-instance needs zeebe:loopCharacteristics with an inputCollection, or a loopCardinality")],
    ),
    "loop over nothing": (
        loop("<zeebe:loopCharacteristics />"),
        [("x", 4, f"inputCollection: '' {NO_FEEL}")],
    ),
    "loop over a text": (
        loop("<zeebe:loopCharacteristics inputCollection='items' />"),
        [("x", 4, f"inputCollection: 'items' {NO_FEEL}")],
    ),
    "loop over what does not parse": (loop("<zeebe:loopCharacteristics inputCollection='=(' />"), [("x", 4, None)]),
    "output without a name": (
        loop("<zeebe:loopCharacteristics inputCollection='=i' outputElement='=o' />"),
        [("x", 4, "an outputElement needs an outputCollection")],
    ),
    "output without an element": (
        loop("<zeebe:loopCharacteristics inputCollection='=i' outputCollection='o' />"),
        [("x", 4, "an outputCollection needs an outputElement")],
    ),
    "output that is a text": (
        loop("<zeebe:loopCharacteristics inputCollection='=i' outputCollection='o' outputElement='e' />"),
        [("x", 4, f"outputElement: 'e' {NO_FEEL}")],
    ),
    "names that are none": (
        loop(
            "<zeebe:loopCharacteristics inputCollection='=i' inputElement='a b'"
            " outputCollection='=o' outputElement='=e' />"
        ),
        [("x", 4, f"inputElement: 'a b' {NO_NAME}"), ("x", 4, f"outputCollection: '=o' {NO_NAME}")],
    ),
    "loop with a collection and a cardinality": (
        loop(inside="<loopCardinality>3</loopCardinality>"),
        [("x", 4, "loopCardinality and inputCollection: one of them is too much")],
    ),
    "loop with an element and a cardinality": (
        loop("<zeebe:loopCharacteristics inputElement='i' />", "<loopCardinality>=n</loopCardinality>"),
        [("x", 4, "loopCardinality and inputElement: one of them is too much")],
    ),
    "negative cardinality": (
        loop("", "<loopCardinality>-1</loopCardinality>"),
        [("x", 5, "loopCardinality: '-1' is not a whole number from 0 to 2147483647")],
    ),
    "cardinality that is no number": (
        loop("", "<loopCardinality>many</loopCardinality>"),
        [("x", 5, "loopCardinality: 'many' is not a whole number from 0 to 2147483647")],
    ),
    "two cardinalities": (
        loop("", "<loopCardinality>1</loopCardinality>\n<loopCardinality>2</loopCardinality>"),
        [("x", 6, "has more than one loop cardinality")],
    ),
    "standard loop without an end": (
        standard_loop(),
        [("x", 3, "the standard loop needs a loopCondition or a loopMaximum")],
    ),
    **{
        f"standard loop with the maximum {wrong}": (
            standard_loop(attributes=f"loopMaximum='{wrong}'"),
            [("x", 3, f"loopMaximum: '{wrong}' is not a whole number from 1 to 2147483647")],
        )
        for wrong in ("-1", "0", "many", "")
    },
    "standard loop with a condition that is a text": (
        standard_loop("<loopCondition>true</loopCondition>"),
        [("x", 4, f"loopCondition: 'true' {NO_FEEL}")],
    ),
    "standard loop with two conditions": (
        standard_loop("<loopCondition>=a</loopCondition>\n<loopCondition>=b</loopCondition>"),
        [("x", 5, "has more than one loop condition")],
    ),
    "standard loop with a flag that is none": (
        standard_loop("<loopCondition>=a</loopCondition>", "testBefore='maybe'"),
        [("x", 3, "testBefore='maybe' is neither true nor false")],
    ),
    "standard loop with a collection": (
        standard_loop(
            "<extensionElements><zeebe:loopCharacteristics inputCollection='=i' /></extensionElements>",
            "loopMaximum='3'",
        ),
        [("x", 4, "zeebe:loopCharacteristics has no effect on this element")],
    ),
    "standard loop twice": (
        standard_loop(attributes="loopMaximum='3'").replace("</task>", "\n<standardLoopCharacteristics /></task>"),
        [("x", 5, "has the standard loop twice")],
    ),
    "completion condition that is a text": (
        loop(inside="<completionCondition>true</completionCondition>"),
        [("x", 5, f"completionCondition: 'true' {NO_FEEL}")],
    ),
    "two completion conditions": (
        loop(inside="<completionCondition>=a</completionCondition>\n<completionCondition>=b</completionCondition>"),
        [("x", 6, "has more than one completion condition")],
    ),
    "two loops": (
        loop().replace("</task>", "\n<multiInstanceLoopCharacteristics /></task>"),
        [("x", 6, "is multi-instance twice")],
    ),
    "both loops": (
        loop().replace("</task>", "\n<standardLoopCharacteristics /></task>"),
        [("x", 6, "is multi-instance and has the standard loop")],
    ),
    "extension of the marker": (
        loop(f"<zeebe:loopCharacteristics inputCollection='=i' />\n{JOB}"),
        [("x", 5, "zeebe:taskDefinition has no effect on this element")],
    ),
    "loop settings outside of the marker": (
        activity("task", "<zeebe:loopCharacteristics inputCollection='=i' />"),
        [("x", 4, "zeebe:loopCharacteristics has no effect on this element")],
    ),
    "loop of a gateway": (
        f"{S}<parallelGateway id='x'>\n<multiInstanceLoopCharacteristics /></parallelGateway>",
        [("x", 3, "the element 'multiInstanceLoopCharacteristics' has no place here")],
    ),
    "loop of the process": (
        f"{S}\n<multiInstanceLoopCharacteristics id='m' />",
        [("p", 3, "the element 'multiInstanceLoopCharacteristics' has no place here")],
    ),
    "task priority of a job": (
        activity("userTask", "<zeebe:priorityDefinition priority='1' />"),
        [("x", 4, "zeebe:priorityDefinition has no effect without zeebe:userTask")],
    ),
    "remnants without what it is": (
        activity("callActivity", JOB),
        [("x", 3, "needs a zeebe:calledElement with the id of the process")],
    ),
    "calls and people of a task that is passed": (
        activity("task", f"{CALLED}\n{PEOPLE}"),
        [
            ("x", 4, "zeebe:calledElement has no effect on this element"),
            ("x", 5, "zeebe:assignmentDefinition has no effect on this element"),
            ("x", 5, "zeebe:taskSchedule has no effect on this element"),
        ],
    ),
    "job priority of a user task": (
        activity("userTask", "<zeebe:userTask /><zeebe:jobPriorityDefinition priority='1' />"),
        [("x", 4, "zeebe:jobPriorityDefinition has no effect with zeebe:userTask")],
    ),
    "task priority out of range": (
        activity("userTask", "<zeebe:userTask /><zeebe:priorityDefinition priority='101' />"),
        [("x", 4, "task priority: '101' is not a whole number from 0 to 100")],
    ),
    "candidates with a hole": (
        activity("userTask", "<zeebe:userTask /><zeebe:assignmentDefinition candidateUsers='a,,b' />"),
        [("x", 4, "candidateUsers: 'a,,b' is not a list of names with commas between them")],
    ),
    "dates that are none": (
        activity("userTask", "<zeebe:userTask /><zeebe:taskSchedule dueDate='soon' followUpDate='PT1H' />"),
        [
            ("x", 4, "dueDate: 'soon' is not a date like 2030-01-31T12:00:00Z"),
            ("x", 4, "followUpDate: 'PT1H' is not a date like 2030-01-31T12:00:00Z"),
        ],
    ),
    "two forms": (
        activity("userTask", "<zeebe:userTask /><zeebe:formDefinition formId='f' formKey='k' />"),
        [("x", 4, "zeebe:formDefinition needs one of formKey, formId and externalReference, and has 2")],
    ),
    "external form of a job": (
        activity("userTask", "<zeebe:formDefinition externalReference='r' />"),
        [("x", 4, "an externalReference of zeebe:formDefinition has no effect without zeebe:userTask")],
    ),
}


@pytest.mark.parametrize(("content", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(process, content, problems):
    found = where(process(content))
    assert [problem[:2] for problem in found] == [problem[:2] for problem in problems], found
    assert all(message in (None, got) for (*_, got), (*_, message) in zip(found, problems, strict=True)), found


REMNANTS = {
    "service task": ("serviceTask", JOB, CALLED + PEOPLE),
    "send task": ("sendTask", JOB, CALLED + PEOPLE + "<zeebe:userTask />"),
    "receive task": ("receiveTask", "", JOB + CALLED + PEOPLE),
    "script task": ("scriptTask", SCRIPT, CALLED + PEOPLE),
    "business rule task": ("businessRuleTask", JOB, CALLED + CALLED + PEOPLE),
    "user task": ("userTask", "<zeebe:userTask />", JOB + CALLED),
    "call activity": (
        "callActivity",
        "<zeebe:calledElement processId='q' />",
        f"<zeebe:taskHeaders><zeebe:header key='a' value='1' /></zeebe:taskHeaders>{JOB}{PEOPLE}",
    ),
}


@pytest.mark.parametrize(("tag", "own", "remnants"), REMNANTS.values(), ids=REMNANTS)
def test_what_an_activity_was_before_says_nothing(process, tag, own, remnants):
    """Modelers that turn a call activity into a service task may leave the `zeebe:calledElement` of the one there."""
    message = (
        "<message id='m' name='m'><extensionElements><zeebe:subscription correlationKey='=1' /></extensionElements>"
    )
    roots = message + "</message>"
    alone = nodes(process(activity(tag, own, attributes="messageRef='m'"), roots))["x"]
    for extensions in (own + remnants, remnants + own):
        node = nodes(process(activity(tag, extensions, attributes="messageRef='m'"), roots))["x"]
        assert repr(node) == repr(alone)


def test_attributes_of_extensions_that_nobody_knows_are_accepted(process):
    model = activity("serviceTask", "<zeebe:taskDefinition type='t' retryCounter='1' zeebe:hint='x' />")
    assert nodes(process(model))


def test_vendors_may_say_what_they_like(process):
    model = activity(
        "task", "<other:thing xmlns:other='https://example.org/other' />", attributes="zeebe:modelerTemplate='x'"
    )
    assert nodes(process(model))
