"""Warnings about odd, executable models, with element and line; and calls within a file."""

from __future__ import annotations

import pytest

from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.xml import XmlLimits

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' targetNamespace="https://example.org/tests">'
)
S, E = '<startEvent id="s" />', '<endEvent id="e" />'
NOTHING = "nothing leads to it: it is never entered"


def flow(source, target):
    return f'<sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}" />'


def process(content, id="p", executable="true", extensions=""):
    return f'<process id="{id}" isExecutable="{executable}">{extensions}{content}</process>'


def read(*parts, limits=None):
    """The parts stand in lines 2, 3, …"""
    content = "\n".join([HEAD, *parts, "</definitions>"]).encode()
    return parse(content, "p.bpmn") if limits is None else parse(content, "p.bpmn", limits)


def told(problems):
    return [(problem.element_id, problem.line, problem.message) for problem in problems]


# ---- nodes that nothing leads to

REACHED = {
    "a flow": S + E + flow("s", "e"),
    "a boundary event": S + '<task id="t" /><boundaryEvent id="b" attachedToRef="t"><timerEventDefinition>'
    "<timeDuration>PT1S</timeDuration></timerEventDefinition></boundaryEvent>" + E + flow("s", "t") + flow("b", "e"),
    "a link": S + '<intermediateThrowEvent id="t"><linkEventDefinition name="l" /></intermediateThrowEvent>'
    '<intermediateCatchEvent id="c"><linkEventDefinition name="l" /></intermediateCatchEvent>'
    + E
    + flow("s", "t")
    + flow("c", "e"),
    "an event sub-process": S
    + '<subProcess id="es" triggeredByEvent="true"><startEvent id="es-s"><timerEventDefinition><timeDuration>PT1S'
    '</timeDuration></timerEventDefinition></startEvent><task id="t" />' + flow("es-s", "t") + "</subProcess>",
    "a second start event": S
    + '<startEvent id="other"><timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition>'
    "</startEvent>" + E + flow("other", "e"),
    "a sub-process": S
    + f'<subProcess id="sub"><startEvent id="i" /><task id="t" />{flow("i", "t")}</subProcess>'
    + flow("s", "sub"),
    "a loop": S + '<task id="a" /><task id="b" />' + flow("s", "a") + flow("a", "b") + flow("b", "a"),
}


@pytest.mark.parametrize("content", REACHED.values(), ids=REACHED)
def test_what_is_reached_is_not_warned_of(content):
    parsed = read(process(content))
    assert (told(parsed.problems), told(parsed.warnings)) == ([], [])


UNREACHED = {
    "alone": (S + "\n<task id='t' />", [("t", 3)]),
    "with what follows": (S + f"\n<task id='t' />\n<task id='u' />{flow('t', 'u')}", [("t", 3), ("u", 4)]),
    "a ring": (S + f"\n<task id='t' />\n<task id='u' />{flow('t', 'u')}{flow('u', 't')}", [("t", 3), ("u", 4)]),
    "a sub-process, as a whole": (
        S + f"\n<subProcess id='sub'>\n<startEvent id='i' /><task id='t' />{flow('i', 't')}</subProcess>",
        [("sub", 3)],
    ),
    "in a sub-process": (
        S + f"<subProcess id='sub'><startEvent id='i' />\n<task id='t' /></subProcess>{flow('s', 'sub')}",
        [("t", 3)],
    ),
    "a boundary event of what is not reached": (
        S + "\n<task id='t' />\n<boundaryEvent id='b' attachedToRef='t'><timerEventDefinition>"
        "<timeDuration>PT1S</timeDuration></timerEventDefinition></boundaryEvent>",
        [("t", 3), ("b", 4)],
    ),
}


@pytest.mark.parametrize(("content", "nodes"), UNREACHED.values(), ids=UNREACHED)
def test_what_nothing_leads_to_is_a_warning(content, nodes):
    parsed = read(process(content))
    assert told(parsed.problems) == []
    assert told(parsed.warnings) == [(node, line, NOTHING) for node, line in nodes]
    assert [one.id for one in parsed.processes] == ["p"]


def test_warnings_are_bounded():
    parsed = read(process(S + "".join(f"<task id='t{n}' />" for n in range(50))), limits=XmlLimits(problems=10))
    assert len(parsed.warnings) == 11
    assert parsed.warnings[-1].message == "and 40 more warnings"


def test_a_file_that_is_refused_has_problems_alone():
    parsed = read(process(S + "<task id='t' /><implicitThrowEvent id='g' />"))
    assert parsed.problems
    assert parsed.warnings == ()


# ---- names of messages and signals that are evaluated at the deployment

CATCH = '<intermediateCatchEvent id="c"><{0}EventDefinition {0}Ref="n"/></intermediateCatchEvent>'
START = '<startEvent id="s"><{0}EventDefinition {0}Ref="n"/></startEvent>'


@pytest.mark.parametrize("kind", ["message", "signal"])
@pytest.mark.parametrize(
    ("name", "variables"), [('=if camunda.vars.env.x = 1 then a else "b"', "'a', 'camunda'"), ('="a" + "b"', None)]
)
def test_a_name_that_starts_a_process_and_reads_variables_is_a_warning(kind, name, variables):
    subscription = '<zeebe:subscription correlationKey="=x"/>'
    root = f"<{kind} id='n' name='{name}'><extensionElements>{subscription}</extensionElements></{kind}>"
    parsed = read(root, process(START.format(kind) + CATCH.format(kind) + flow("s", "c")))
    text = (
        f"the name of the {kind} is evaluated at the deployment, without variables and without 'camunda':"
        f" {variables} is null there"
    )
    assert (told(parsed.problems), told(parsed.warnings)) == ([], [("s", 2, text)] if variables else [])


# ---- what is left over, and static scripts


def test_a_task_definition_that_was_left_at_a_user_task_is_a_warning():
    """The task was a service task before. Camunda takes it, too: the job of a user task has a type of its own."""
    leftover = "<zeebe:taskDefinition type='pay' retries='7' />"
    task = f"\n<userTask id='t'><extensionElements>{leftover}</extensionElements></userTask>"
    parsed = read(process(S + task + flow("s", "t")))
    assert told(parsed.problems) == []
    text = (
        "zeebe:taskDefinition has no effect on a user task, whose job is always of the type io.camunda.zeebe:userTask"
    )
    assert told(parsed.warnings) == [("t", 3, text)]
    job = parsed.processes[0].nodes["t"].job
    assert (job.type.static_value, job.retries.static_value) == ("io.camunda.zeebe:userTask", 1)


@pytest.mark.parametrize("text", ["approve", "1", "true", "x + 1", " a "])
def test_a_script_without_a_sign_is_static_text(text):
    script = f"<zeebe:script expression='{text}' resultVariable='r' />"
    task = f"\n<scriptTask id='t'><extensionElements>{script}</extensionElements></scriptTask>"
    parsed = read(process(S + task + flow("s", "t")))
    assert told(parsed.problems) == []
    says = f"script: '{text}' is static text and becomes the result: '=' in front would make it FEEL"
    assert told(parsed.warnings) == [("t", 3, says)]
    assert parsed.processes[0].nodes["t"].script.expression.static_value == text


# ---- calls within a file


def caller(called, attributes="", id="p"):
    """A call activity `c` in line 3."""
    extensions = f"<extensionElements><zeebe:calledElement processId='{called}' {attributes}/></extensionElements>"
    return process(f"{S}\n<callActivity id='c'>{extensions}</callActivity>{flow('s', 'c')}", id=id)


AT_A_DATE = "<timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition>"
BY_EVENT = f'<startEvent id="t">{AT_A_DATE}</startEvent>'
TAGGED = '<extensionElements><zeebe:versionTag value="v1" /></extensionElements>'


@pytest.mark.parametrize(
    ("attributes", "extensions"),
    [("", ""), ("bindingType='deployment'", ""), ("bindingType='versionTag' versionTag='v1'", TAGGED)],
    ids=["latest", "deployment", "version tag"],
)
def test_a_call_of_a_process_that_only_events_start_is_refused(attributes, extensions):
    parsed = read(caller("q", attributes), process(BY_EVENT, "q", extensions=extensions))
    assert told(parsed.problems) == [("c", 3, "calls the process 'q', which has no none start event")]


CALLABLE = {
    "a process with a none start event": (caller("q"), process(f"<startEvent id='qs' />{BY_EVENT}", "q")),
    "a process that calls itself": (caller("p"),),
    "a process of nowhere": (caller("elsewhere"),),
    "another version": (
        caller("q", "bindingType='versionTag' versionTag='v0'"),
        process(BY_EVENT, "q", extensions=TAGGED),
    ),
    "an expression": (caller("=&quot;q&quot; + x"), process(BY_EVENT, "q")),
    "a process that is not deployed": (caller("q"), process(BY_EVENT, "q", executable="false")),
    "a process of the id of a global task": (
        caller("q"),
        process("<startEvent id='qs' />", "q"),
        "<globalTask id='other' />",
    ),
}


@pytest.mark.parametrize("parts", CALLABLE.values(), ids=CALLABLE)
def test_other_calls_are_taken(parts):
    parsed = read(*parts)
    assert (told(parsed.problems), [each for each in told(parsed.warnings) if each[0] is not None]) == ([], [])


# ---- what a model asks for and does not get

NO_DATA = "has no effect: variables and zeebe:ioMapping take the place of data flows"
TASK = (
    S + '<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="x" />{}</extensionElements>{}</serviceTask>'
)


@pytest.mark.parametrize(
    ("content", "element", "warning"),
    [
        (TASK.format("<zeebe:userTask />", "") + flow("s", "t"), "t", "zeebe:userTask has no effect on this element"),
        (
            TASK.format("", "<potentialOwner><resourceRef>r</resourceRef></potentialOwner>") + flow("s", "t"),
            "t",
            "potentialOwner has no effect: zeebe:assignmentDefinition names the people of a user task",
        ),
        (
            TASK.format("", "<ioSpecification><dataInput id='i' /></ioSpecification>") + flow("s", "t"),
            "t",
            f"ioSpecification {NO_DATA}",
        ),
        (
            TASK.format(
                "",
                '<property id="pr" name="__targetRef_placeholder" /><dataInputAssociation>'
                "<sourceRef>d</sourceRef><targetRef>pr</targetRef></dataInputAssociation>",
            )
            + '<dataObject id="d" />'
            + flow("s", "t"),
            "t",
            f"dataInputAssociation {NO_DATA}",
        ),
        (
            S + '<parallelGateway id="g" />' + E + flow("s", "g") + '<sequenceFlow id="c" sourceRef="g" targetRef="e">'
            "<conditionExpression>${x}</conditionExpression></sequenceFlow>",
            "c",
            "the parallel gateway 'g' takes all its flows: this condition has no effect",
        ),
        (S + '<property id="of-p" name="total" />' + E + flow("s", "e"), "of-p", f"property {NO_DATA}"),
    ],
)
def test_what_has_no_effect_is_a_warning(content, element, warning):
    parsed = read(process(content))
    assert (told(parsed.problems), told(parsed.warnings)) == ([], [(element, 2, warning)])


def test_a_process_that_is_not_deployed_is_a_warning():
    parsed = read(process(S), process(S, "drawing", executable="false"))
    text = "the process 'drawing' is not marked executable (isExecutable), so it is not deployed"
    assert told(parsed.warnings) == [(None, None, text)]


CAMUNDA7 = 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'


def camunda7(attributes, extensions=""):
    task = f'<serviceTask id="t" {attributes}><extensionElements>{extensions}</extensionElements></serviceTask>'
    return HEAD.replace("xmlns:zeebe", f"{CAMUNDA7} xmlns:zeebe"), process(S + task + flow("s", "t")), "</definitions>"


def read_camunda7(*arguments):
    return parse("\n".join(camunda7(*arguments)).encode(), "p.bpmn")


@pytest.mark.parametrize("attribute", ["class", "delegateExpression", "topic"])
def test_a_model_for_camunda_7_is_called_so(attribute):
    parsed = read_camunda7(f'camunda:{attribute}="org.acme.Charge"')
    assert [(element, line) for element, line, _ in told(parsed.problems)] == [(None, 2), ("t", 2)]
    assert parsed.problems[0].message.startswith(
        f"the model is for Camunda 7 (it has camunda:{attribute}). Vivero executes"
    )


MODELER = 'xmlns:modeler="http://camunda.org/schema/modeler/1.0" modeler:executionPlatform'
DECISION = '<zeebe:calledDecision decisionId="d" resultVariable="x" />'


@pytest.mark.parametrize(
    ("in_head", "attributes", "extensions", "for_7"),
    [
        ("", 'camunda:class="a.B"', "", True),
        (f'{MODELER}="Camunda Platform"', 'camunda:class="a.B"', "", True),
        (f'{MODELER}="Camunda Cloud"', 'camunda:class="a.B"', "", False),
        ("", 'camunda:class="a.B"', DECISION, False),
        (f'{MODELER}="Camunda Cloud" camunda:diagramRelationId="1"', "", DECISION, False),
        ('camunda:diagramRelationId="1"', "", "", False),
    ],
)
def test_a_model_that_says_it_is_for_camunda_8_is_not_called_one_for_7(in_head, attributes, extensions, for_7):
    head, *rest = camunda7(attributes, extensions)
    parsed = parse("\n".join((head.replace(CAMUNDA7, f"{CAMUNDA7} {in_head}"), *rest)).encode(), "p.bpmn")
    assert parsed.problems
    assert any("is for Camunda 7" in problem.message for problem in parsed.problems) is for_7


def test_what_camunda_7_would_do_is_a_warning_where_the_model_can_be_executed():
    job = '<zeebe:taskDefinition type="x" />'
    inputs = '<camunda:inputOutput><camunda:inputParameter name="a">1</camunda:inputParameter></camunda:inputOutput>'
    parsed = read_camunda7('camunda:class="org.acme.Charge" camunda:asyncBefore="true"', job + inputs)
    assert told(parsed.problems) == []
    assert told(parsed.warnings) == [
        ("t", 2, "camunda:class, camunda:asyncBefore of Camunda 7 have no effect"),
        ("t", 2, "camunda:inputOutput of Camunda 7 has no effect"),
    ]
    housekeeping = read_camunda7('camunda:modelerTemplate="a"', job)
    assert told(housekeeping.warnings) == []
