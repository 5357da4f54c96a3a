"""Agents in the test kit: the model has a script, and everything else is what a server does."""

import json

import pytest

from tests.engine.connectors.agent_models import agent
from tests.engine.whole_engine import HEAD
from vivero.core.agents.memory.context import AssistantMessage, TextContent, ToolCall
from vivero.operations.agent_reruns import RerunReport
from vivero.testing import AgentEvaluation, JobFailure, Processes, recorded, text, tool
from vivero.testing.evaluations import from_json, to_json

ERROR = (
    '<zeebe:header key="errorExpression" value="=if error.code = &#34;MAXIMUM_NUMBER_OF_MODEL_CALLS_REACHED&#34;'
    ' then bpmnError(&#34;TOO_MANY&#34;, error.message) else null"/>'
)
CAUGHT = (
    '<boundaryEvent id="stopped" attachedToRef="agent"><errorEventDefinition/></boundaryEvent><userTask id="person">'
    "<extensionElements><zeebe:userTask/></extensionElements></userTask>"
    '<sequenceFlow id="c" sourceRef="stopped" targetRef="person"/>'
)
APPROVED = (
    '<serviceTask id="Refund"><extensionElements><zeebe:taskDefinition type="refund"/><zeebe:properties>'
    '<zeebe:property name="vivero.approval" value="always"/></zeebe:properties></extensionElements></serviceTask>'
)
TASK = f"""{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start"
targetRef="ask"/><serviceTask id="ask"><extensionElements><zeebe:taskDefinition type="io.camunda.agenticai:aiagent:1"/>
<zeebe:ioMapping><zeebe:input source="{{{{secrets.KEY}}}}" target="provider.openai.authentication.apiKey"/><zeebe:input
source="=question" target="data.userPrompt.prompt"/><zeebe:input source="tools" target="data.tools.containerElementId"/>
<zeebe:input source="json" target="data.response.format.type"/></zeebe:ioMapping><zeebe:taskHeaders><zeebe:header
key="resultExpression" value="={{category: responseJson.category, calls: toolCalls}}"/></zeebe:taskHeaders>
</extensionElements></serviceTask><sequenceFlow id="b" sourceRef="ask" targetRef="tools"/><adHocSubProcess id="tools">
<completionCondition>=true</completionCondition><scriptTask id="Look"><extensionElements><zeebe:script
expression="=1" resultVariable="x"/></extensionElements></scriptTask></adHocSubProcess></process></definitions>"""


@pytest.fixture
def started(tmp_path):
    """An instance of an agent whose model has this script, with the question "Go?"."""

    def start(answers, content=None, **given):
        (tmp_path / "p.bpmn").write_bytes(agent("http://nowhere.example", **given) if content is None else content)
        processes = Processes([tmp_path]).use("p.bpmn").mock_model("agent", answers).mock_model("ask", answers)
        return processes.start("p", {"question": "Go?"})

    return start


def test_tools_run_and_the_model_gets_their_results(started):
    run = started([[tool("Weather", city="Bonn"), tool("Weather", city="Rome")], text("Done")])
    run.expect_completed().expect_path("Weather", "Weather", "agent")
    assert run.variables["answer"]["responseText"] == "Done"
    found = run.agent("agent").expect_tools("Weather", "Nothing", "Slow")
    found.expect_tool_calls(tool("Weather", city="Bonn"), "Weather").expect_budget(calls=2, tokens=2000)
    assert found.calls[0].prompt == "Go?"
    assert [one.text for one in found.calls[1].results] == ['{"sun":true,"city":"Bonn"}', '{"sun":true,"city":"Rome"}']
    context = run.variables["answer"]["context"]
    assert context["metrics"]["tokenUsage"]["inputTokenCount"] < sum(call.tokens for call in found.calls)


def test_a_tool_that_waits_lets_the_agent_wait(started):
    run = started([tool("Slow"), text("Done")])
    run.expect_active("Slow").complete("Slow", {"toolCallResult": 7}).expect_completed()
    assert run.agent("agent").calls[-1].results == [("Slow", "7")]


def test_recorded_answers_and_approvals(started, tmp_path):
    """The lines are those that `vivero agents rerun` prints."""
    said = [
        ("agent", "", [{"name": "Refund", "arguments": {"euros": 5}}]),
        ("other", "No.", []),
        ("agent", "Done.", []),
    ]
    report = RerunReport()
    for turn, (element, content, calls) in enumerate(said):
        made = [ToolCall("c", each["name"], each["arguments"]) for each in calls]
        report.add(element, turn, "same", AssistantMessage({}, [TextContent(content)], made))
    case = tmp_path / "case.jsonl"
    case.write_text("".join(f"{json.dumps(row)}\n" for row in [*report.rows, {"text": "agent: the same end"}]))
    run = started(recorded(case, "agent"), tools=APPROVED)
    run.complete_user_task("Refund#approval", {"approved": True}).complete("Refund", {"toolCallResult": 7})
    run.expect_completed().agent("agent").expect_tool_calls(tool("Refund", euros=5))
    with pytest.raises(ValueError, match="has no answer of a model of 'nobody'"):
        recorded(case, "nobody")
    case.write_text("[1]")
    with pytest.raises(ValueError, match="is no output of `vivero agents rerun KEY --json`"):
        recorded(case, "agent")


def test_a_function_sees_the_request_and_the_variables(started):
    def answers(asked):
        return text(f"{asked.variables['question']} {len(asked.results)}") if asked.results else tool("Nothing")

    assert started(answers).variables["answer"]["responseText"] == "Go? 1"


def test_expectations_say_what_the_model_did(started):
    found = started([tool("Weather", city="Bonn"), text("Done")]).agent("agent")
    with pytest.raises(AssertionError, match=r'The tool calls of \'agent\' are Weather\(city="Bonn"\)\.\nThe instance'):
        found.expect_tool_calls(tool("Weather", city="Rome"))
    with pytest.raises(AssertionError, match="The tool calls"):
        found.expect_tool_calls("Weather", "Weather")
    with pytest.raises(AssertionError, match="The tools of 'agent' are Weather, Nothing, Slow"):
        found.expect_tools("Weather")
    with pytest.raises(AssertionError, match="was called 2 times"):
        found.expect_budget(calls=1)
    with pytest.raises(AssertionError, match=r"have \d+ tokens"):
        found.expect_budget(tokens=10)


def test_a_wrong_call_gets_an_error_as_its_result_and_a_script_that_ends_early_says_so(started):
    with pytest.raises(AssertionError, match="has 1 answers, and the model is asked once more") as raised:
        started([tool("Wether", city="Bonn")])
    assert "there is no tool 'Wether'. The tools are: Weather, Nothing, Slow" in str(raised.value)


def test_a_failure_is_tried_again_with_the_next_answer_after_the_back_off(started):
    backoff = '<zeebe:header key="retryBackoff" value="PT1H"/>'

    def fails(_asked):
        raise JobFailure("the provider is busy")

    run = started([fails, text("Done")], headers=backoff)
    run.expect_active("agent").advance(hours=1).expect_completed()
    assert len(run.agent("agent").calls) == 2


def test_limits_and_error_expressions_are_those_of_the_model(started):
    run = started(lambda _: tool("Weather", city="Bonn"), headers=ERROR, beside=CAUGHT, limits__maxModelCalls="=2")
    run.expect_active("person").agent("agent").expect_tool_calls("Weather", "Weather").expect_budget(calls=2)


def test_an_agent_that_is_a_task_has_its_result_expression_and_the_tools_of_its_container(started):
    run = started([text({"category": "refund"})], TASK.encode())
    run.expect_variables(category="refund", calls=[]).agent("ask").expect_tools("Look")
    run = started([tool("Look")], TASK.encode())
    assert run.variables["calls"] == [{"_meta": {"id": "call_1_1", "name": "Look"}}]


def test_a_listener_of_an_agent_is_no_call_of_its_model(tmp_path):
    listener = '<zeebe:executionListeners><zeebe:executionListener eventType="start" type="audit"/>'
    place = '<serviceTask id="ask"><extensionElements>'
    (tmp_path / "p.bpmn").write_text(TASK.replace(place, f"{place}{listener}</zeebe:executionListeners>"))
    processes = Processes([tmp_path]).use("p.bpmn").mock_model("ask", [text({"category": "x"})]).mock_job("audit")
    processes.start("p", {"question": "?"}).expect_variables(category="x")


def test_an_element_that_is_no_agent_or_has_no_script_is_named(started, tmp_path):
    (tmp_path / "q.bpmn").write_text(TASK.replace("io.camunda.agenticai:aiagent:1", "other"))
    with pytest.raises(AssertionError, match="'ask' is no agent: its job has the type 'other'"):
        Processes([tmp_path]).use("q.bpmn").mock_model("ask", [text("x")]).start("p", {"question": "?"})
    with pytest.raises(AssertionError, match="The model of 'agnt' has no script"):
        started([text("Done")]).agent("agnt")


def test_an_evaluation_notes_all_checks_and_names_those_that_fail(started):
    agent = started([[tool("Weather", city="Bonn"), tool("Weather", city="Rome")], text("Done")]).agent("agent")
    evaluation, price = AgentEvaluation(), (1_000_000, 0)
    with evaluation.cell(agent, model="b", case="x\ny") as cell:
        cell.check("calls twice", len(agent.calls) == 2)
    named = pytest.raises(AssertionError, match="model 'a', case '2' has failed: is short; is polite")
    with named, evaluation.cell(agent, price=price, model="a", case=2) as cell:
        cell.check("is short", False).check("is short", True).check("is right", True).check("is polite", None)
    with pytest.raises(KeyError), evaluation.cell(agent, model="a"):
        raise KeyError("answer")
    of_workers = AgentEvaluation()
    of_workers.results = from_json(to_json(evaluation))
    title, *rows, sum_a, sum_b = of_workers.lines()
    used, cost = (sum(each) for each in zip(*((one.tokens, one.used.input) for one in agent.calls), strict=True))
    assert title.split() == ["model", "case", "checks", "turns", "tokens", "cost", "tools"]
    assert [" ".join(row.split()) for row in rows] == [
        f"a 0 of 1 2 {used} Weather, Weather",
        f"a 2 1 of 3 2 {used} {cost}.000000 Weather, Weather",
        f"b x y 1 of 1 2 {used} Weather, Weather",
    ]
    assert sum_a == f"a: 0 of 2 cells pass, 4 turns, {2 * used} tokens, cost {cost}.000000"
    assert sum_b == f"b: 1 of 1 cells pass, 2 turns, {used} tokens"
