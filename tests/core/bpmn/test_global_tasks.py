"""Global tasks that call activities of their file call: each becomes a process with this task alone."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import boundary, error, model
from tests.core.models import end, start, task
from vivero.core.resources.kinds import read_resource

JOB = '<extensionElements><zeebe:taskDefinition type="g"/></extensionElements>'
SCRIPT = '<extensionElements><zeebe:script expression="=a + 1" resultVariable="b"/></extensionElements>'
USER = "<extensionElements><zeebe:userTask/></extensionElements>"


def called(attribute=' calledElement="g"', extension=""):
    inside = f"<extensionElements>{extension}</extensionElements>" if extension else ""
    return f'<callActivity id="c"{attribute}>{inside}</callActivity>'


def calling(*tasks, call=None, parts=()):
    call = called() if call is None else call
    return model(start(), call, task("after"), end(), "start > c > after > end", *parts, beside=tasks)


def read(content):
    return read_resource("p.bpmn", content)


GLOBAL = {
    "globalTask": ("TASK", ""),
    "globalManualTask": ("MANUAL_TASK", ""),
    "globalUserTask": ("USER_TASK", USER),
    "globalScriptTask": ("SCRIPT_TASK", SCRIPT),
    "globalBusinessRuleTask": ("BUSINESS_RULE_TASK", JOB),
}


@pytest.mark.parametrize("tag", GLOBAL)
def test_it_becomes_a_process_of_one_task(tag):
    type_, inside = GLOBAL[tag]
    parsed = read(calling(f'<{tag} id="g" name="Do it">{inside}</{tag}>'))
    assert (parsed.problems, parsed.warnings) == ((), ())
    made = next(process for process in parsed.processes if process.id == "g")
    assert {id: node.type for id, node in made.nodes.items()} == {
        "g": "PROCESS",
        "g#start": "START_EVENT",
        "g#task": type_,
    }
    assert (made.name, made.nodes["g#task"].name) == ("Do it", "Do it")
    call = next(process for process in parsed.processes if process.id == "p").nodes["c"].called
    assert (call.process_id.static_value, call.binding) == ("g", "deployment")


def test_it_is_called_and_gives_its_result():
    engine = Engine()
    engine.deploy(calling(f'<globalScriptTask id="g">{SCRIPT}</globalScriptTask>'))
    engine.start(a=1)
    assert engine.jobs == ["after"]
    assert engine.variables("p") == {"a": 1, "b": 2}


def test_a_prefix_names_the_file_itself():
    parsed = read(calling('<globalTask id="g"/>', call=called(' calledElement="this:g"')))
    assert [process.id for process in parsed.processes] == ["p", "g"]


def test_its_job_survives_a_restart_and_its_error_is_caught_at_the_call():
    engine = Engine()
    caught = (boundary("failed", "c", error("A")), task("aside"), "failed > aside")
    engine.deploy(calling(f'<globalBusinessRuleTask id="g">{JOB}</globalBusinessRuleTask>', parts=caught))
    engine.start()
    rebuilt(engine)
    engine.throw("g#task", "A")
    assert engine.jobs == ["aside"]


def test_the_extension_names_it_as_well_and_says_which_version():
    extension = '<zeebe:calledElement processId="g" propagateAllChildVariables="false"/>'
    parsed = read(calling('<globalTask id="g"/>', call=called("", extension)))
    call = parsed.processes[0].nodes["c"].called
    assert (call.binding, call.all_child_variables, len(parsed.processes)) == ("latest", False, 2)


def test_several_calls_call_one_task():
    other = '<callActivity id="d" calledElement="g"/>'
    parsed = read(calling('<globalTask id="g"/>', parts=(other, "start > d")))
    assert [process.id for process in parsed.processes] == ["p", "g"]


def test_one_that_nobody_calls_means_nothing():
    assert [process.id for process in read(calling('<globalTask id="g"/>', '<globalUserTask id="h"/>')).processes] == [
        "p",
        "g",
    ]


def test_one_that_only_a_process_calls_that_is_not_deployed_means_nothing():
    beside = '<process id="q"><startEvent id="qs"/><callActivity id="qc" calledElement="g"/></process>'
    content = model(start(), task("t"), "start > t", beside=(beside, '<globalBusinessRuleTask id="g"/>'))
    assert ([process.id for process in read(content).processes], read(content).problems) == (["p"], ())


def test_problems_of_it_have_its_line():
    content = calling('<globalTask id="other"/>', '\n<globalBusinessRuleTask id="g"/>')
    (problem,) = read(content).problems
    assert (problem.element_id, problem.message) == ("g#task", "needs a zeebe:taskDefinition with the type of the job")
    assert problem.line == content[: content.index(b"<globalBusinessRuleTask")].count(b"\n") + 1


def test_problems_of_one_so_far_down_that_lines_are_not_counted_have_none():
    for lines, line in ((60_000, 60_001), (65_534, None), (70_000, None)):
        content = calling('\n<globalBusinessRuleTask id="g"/>')
        at = content.index(b"<globalBusinessRuleTask")
        padded = content[:at] + b"\n" * (lines - content[:at].count(b"\n")) + content[at:]
        assert [problem.line for problem in read(padded).problems] == [line]


def test_an_attribute_that_names_no_global_task_is_no_call():
    (problem,) = read(calling('<globalTask id="h"/>')).problems
    assert (problem.element_id, problem.message) == ("c", "needs a zeebe:calledElement with the id of the process")
