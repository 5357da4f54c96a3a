"""References that name nothing: a new deployment is rejected, and a file that was deployed before stays readable."""

import pytest

START = '<startEvent id="s"/>'
END = '<endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
JOB = '<extensionElements><zeebe:taskDefinition type="t"/></extensionElements>'


def told(problems):
    return [(problem.element_id, problem.line, problem.message) for problem in problems]


@pytest.mark.parametrize("tag", ["incoming", "outgoing"])
@pytest.mark.parametrize("named", ["nothing", "s", "", "p:nothing"])
def test_a_flow_that_does_not_exist(process, tag, named):
    parsed = process(f'<startEvent id="s">\n<{tag}> {named} </{tag}></startEvent>{END}')
    assert told(parsed.deployment_problems) == [("s", 3, f"{tag} '{named}' is not a sequence flow of this process")]
    assert parsed.problems == ()
    assert [process.id for process in parsed.processes] == ["p"], "an instance that runs by it continues"


@pytest.mark.parametrize("named", ["f", " f ", "p:f"])
def test_a_flow_that_exists_whoever_names_it(process, named):
    both = f"<incoming>{named}</incoming><outgoing>{named}</outgoing>"
    assert process(f'<startEvent id="s">{both}</startEvent>{END}').deployment_problems == ()


def test_a_flow_of_another_scope_is_one_of_the_process(process):
    inner = (
        '<subProcess id="x"><startEvent id="i"/><endEvent id="j"/><sequenceFlow id="g" sourceRef="i" targetRef="j"/>'
    )
    flow = '<sequenceFlow id="f" sourceRef="s" targetRef="x"/>'
    parsed = process(f'<startEvent id="s"><outgoing>g</outgoing></startEvent>{inner}</subProcess>{flow}')
    assert parsed.deployment_problems == ()


def test_elements_in_sub_processes_are_examined(process):
    inner = '<subProcess id="x"><startEvent id="i">\n<outgoing>no</outgoing></startEvent></subProcess>'
    parsed = process(f'{START}{inner}<sequenceFlow id="f" sourceRef="s" targetRef="x"/>')
    assert told(parsed.deployment_problems) == [("i", 3, "outgoing 'no' is not a sequence flow of this process")]


@pytest.mark.parametrize(
    "thrower",
    [
        '<sendTask id="e" messageRef="no">{}</sendTask>',
        '<endEvent id="e">{}<messageEventDefinition messageRef="no"/></endEvent>',
        '<intermediateThrowEvent id="e">{}<messageEventDefinition messageRef="no"/></intermediateThrowEvent>',
    ],
)
def test_the_message_of_a_job(process, thrower):
    """Its worker knows the message, so the engine does not need it."""
    flow = '<sequenceFlow id="f" sourceRef="s" targetRef="e"/>'
    parsed = process(f"{START}\n{thrower.format(JOB)}{flow}")
    assert told(parsed.deployment_problems) == [("e", 3, "messageRef 'no' is not a message of this file")]
    assert parsed.problems == ()
    assert process(f"{START}\n{thrower.format(JOB)}{flow}", '<message id="no"/>').deployment_problems == ()


def test_a_node_of_a_lane(process):
    lanes = '<laneSet><lane id="l"><flowNodeRef>s</flowNodeRef>\n<flowNodeRef>no</flowNodeRef></lane></laneSet>'
    parsed = process(f"{lanes}{START}{END}")
    assert parsed.deployment_problems == ()
    assert told(parsed.warnings) == [("l", 3, "flowNodeRef 'no' is not a flow node of this process")]
