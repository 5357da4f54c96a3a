"""The property `vivero.approval`: a person decides about a tool of an ad-hoc sub-process before it begins."""

import json

import pytest

from tests.core.ad_hoc_models import activate, decide, ends, inner, tools
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import run
from tests.core.models import task
from vivero.core.records.timers import FireTimer
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.core.resources.kinds import read_resource

GATEWAY = ("io.camunda.agenticai.gateway.type", "mcpClient")


def tool(id, mode="always", *properties, tag="serviceTask", inside="", **more):
    given = [("vivero.approval", mode), *((f"vivero.approval{name}", value) for name, value in more.items())]
    rows = "".join(f'<zeebe:property name="{name}" value="{value}"/>' for name, value in (*given, *properties))
    return (
        f'<{tag} id="{id}" name="Refund it"><extensionElements><zeebe:taskDefinition type="{id}"/>'
        f"<zeebe:properties>{rows}</zeebe:properties></extensionElements>{inside}</{tag}>"
    )


def agent(*parts, **settings):
    return tools(*parts, job="agent", output="=toolCallResult", into="results", **settings)


def call(id="T", **arguments):
    meta = {"_meta": {"id": "c1", "name": id}}
    return id, {"toolCall": meta | arguments, "toolCallResult": "", "toolCallReason": "It is late."}


def started(*parts, **settings):
    engine = Engine()
    run(engine, agent(*parts, **settings))
    return engine


def answer(engine, **variables):
    (task,) = engine.state.user_tasks.values()
    return engine.run(CompleteUserTask(task.key, raw(variables)))


def asked(engine):
    return [row.element.element for row in engine.state.user_tasks.values()]


def results(engine):
    return engine.variables("h")["results"]


def test_a_person_sees_the_call_and_allows_it():
    engine = started(tool("T", Groups="bosses, legal"))
    assert [one["elementId"] for one in engine.variables("h")["adHocSubProcessElements"]] == ["A", "B", "C", "T"]
    decide(engine, call(order=7), call("A"))
    assert (engine.jobs, asked(engine)) == (["A"], ["T#approval"])
    (one,) = engine.state.user_tasks.values()
    assert (one.element.node.name, tuple(one.candidate_groups)) == ("Approve: Refund it", ("bosses", "legal"))
    shown = engine.variables("T#approval")["approval"]
    assert shown == {"tool": "T", "arguments": {"order": 7}, "reason": "It is late."}
    rebuilt(engine)
    answer(engine, approved=True)
    assert engine.jobs == ["A", "T"]
    engine.complete("T", toolCallResult="done")
    assert results(engine) == ["done"]


@pytest.mark.parametrize(
    "given", [{}, {"approved": False}, {"approved": "true"}, {"approved": None}, {"approved": 1}, {"approved": [True]}]
)
def test_everything_but_true_refuses_with_the_comment(given):
    engine = started(tool("T"))
    decide(engine, call())
    answer(engine, comment="Ask Ana first", **given)
    assert "T" not in engine.jobs
    assert results(engine) == ["Error: the tool was not called: a person has refused it: Ask Ana first"]
    assert ends(engine, "h") == ["T#approval"]


def test_a_variable_around_the_agent_approves_nothing():
    engine = Engine()
    engine.deploy(agent(tool("T")))
    engine.start(approved=True, comment="x")
    decide(engine, call())
    answer(engine)
    assert results(engine) == ["Error: the tool was not called: a person has refused it."]


def test_time_refuses():
    engine = started(tool("T", Timeout="PT4H"))
    decide(engine, call())
    (timer,) = engine.state.timers.values()
    assert timer.due_at == engine.memory.now + 4 * 3600 * 1000
    engine.run(FireTimer(timer.key))
    assert (asked(engine), engine.jobs) == ([], ["h"])
    assert results(engine) == ["Error: the tool was not called: nobody has approved it in time."]


def test_the_first_approval_holds_for_the_agent():
    engine = started(tool("T", "first"), tool("U", "first"))
    decide(engine, call())
    answer(engine, approved=False)
    decide(engine, call())
    answer(engine, approved=True)
    engine.complete("T")
    rebuilt(engine)
    decide(engine, call(), call("U"))
    assert (asked(engine), engine.jobs) == (["U#approval"], ["T"])


def test_gateways_ask_for_each_of_their_tools_but_not_for_their_list():
    engine = started(tool("T", "first", GATEWAY))
    decide(engine, call(method="tools/list"))
    assert (asked(engine), engine.jobs) == ([], ["T"])
    engine.complete("T")
    for name in ("read", "burn", "read"):
        decide(engine, call(method="tools/call", params={"name": name, "arguments": {"a": 1}}))
        if asked(engine):
            shown = engine.variables("T#approval")["approval"]
            assert (shown["tool"], shown["arguments"]) == (name, {"a": 1})
            answer(engine, approved=True)
        engine.complete("T")
    assert ends(engine, "h").count("T#approval") == 2
    decide(engine, call(method="tools/call"))
    assert asked(engine) == ["T#approval"], "a call without a tool is shown, too"


def test_agents_of_other_systems_are_asked_for_their_card_without_approval():
    engine = started(tool("T", "first", (GATEWAY[0], "a2aClient")))
    decide(engine, call(operation="fetchAgentCard"))
    assert (asked(engine), engine.jobs) == ([], ["T"])
    engine.complete("T")
    decide(engine, call(operation="sendMessage", params={"text": "burn"}))
    shown = engine.variables("T#approval")["approval"]
    assert (shown["tool"], shown["arguments"]) == ("T", {"text": "burn"})


def test_a_tool_cannot_pretend_to_be_a_list():
    engine = started(tool("T"))
    decide(engine, call(method="tools/list", params={"name": "harmless"}))
    assert engine.variables("T#approval")["approval"]["tool"] == "T"


def test_a_request_without_a_call_is_asked_for_too():
    engine = started(tool("T"))
    activate(engine, "T")
    assert (asked(engine), engine.incidents) == (["T#approval"], [])
    assert engine.variables("T#approval")["approval"] == {"tool": "T", "arguments": None, "reason": None}


def test_it_ends_with_its_agent():
    engine = started(tool("T"))
    decide(engine, call(), call("A"))
    engine.complete("A")
    decide(engine, fulfilled=True, cancel=True)
    assert (asked(engine), inner(engine)) == ([], [])


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (tool("T", "sometimes"), "is 'sometimes', and not always or first"),
        (tool("T", Timeout="soon"), "the property vivero.approvalTimeout is 'soon', and not a duration above zero"),
        (tool("T") + '<sequenceFlow id="f" sourceRef="A" targetRef="T"/>', "has no effect here: only activities"),
        (tool("T", tag="subProcess", inside=tool("U") + "<startEvent id='s'/>"), "has no effect here"),
    ],
)
def test_wrong_properties_are_problems(part, text):
    problems = read_resource("p.bpmn", agent(part)).problems
    assert any(text in str(problem) for problem in problems), json.dumps([str(one) for one in problems])


def test_it_is_no_property_of_other_elements():
    (problem,) = read_resource("p.bpmn", tools(beside=[tool("T"), task("x")])).problems
    assert "the property vivero.approval has no effect here" in str(problem)
