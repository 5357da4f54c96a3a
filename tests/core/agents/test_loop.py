"""The loop of an agent, without an engine. The numbers are those of the situations that the loop must master."""

import pytest

from tests.core.agents.agent_words import (
    ELEMENTS,
    JOB,
    after_calls,
    asks,
    calls,
    inputs,
    result,
    roles,
    said,
    take,
    texts,
)
from vivero.core.agents import errors
from vivero.core.agents.errors import AgentError
from vivero.core.agents.loop import Activate, AgentJob, Ask, Respond, WaitForResults, begin, tool_call_variable
from vivero.core.agents.memory.context import written
from vivero.core.agents.responses import response_of

ONE = ("a", "Weather", {"city": "Bonn"})
TWO = ("b", "Weather", {"city": "Rome"})
EVENT = {"id": None, "name": None, "content": "stop that"}


def refused(code, **given):
    with pytest.raises(AgentError) as raised:
        asks(**given)
    assert (raised.value.code, raised.value.final) == (code, True)
    return raised.value.message


def test_one_tool_one_answer():
    context, step = after_calls(ONE)
    assert isinstance(step, Activate)
    assert [tool_call_variable(call) for call in step.calls] == [
        {"city": "Bonn", "_meta": {"id": "a", "name": "Weather"}}
    ]
    ask = asks(context=context, results=[result("a", {"sun": True})])
    assert roles(ask) == ["system", "user", "assistant", "tool_call_result"]
    end = take(ask, said("Sun."))
    assert isinstance(end, Respond)
    assert response_of(end.message, end.context, ask.inputs) == {"responseText": "Sun."}
    metrics = written(end.context)["metrics"]
    assert metrics == {"modelCalls": 2, "toolCalls": 1, "tokenUsage": {"inputTokenCount": 20, "outputTokenCount": 10}}


def test_the_context_has_the_names_that_models_use():
    context, _ = after_calls(ONE)
    assert list(context) == [
        *("schemaVersion", "state", "metadata", "metrics", "toolDefinitions", "conversation", "properties")
    ]
    assert context["state"] == "READY"
    assert context["metadata"] == {"processDefinitionKey": "1", "processInstanceKey": "2"}
    schema = {"type": "object", "properties": {"city": {"type": "string", "description": "The name"}}}
    assert context["toolDefinitions"][0]["inputSchema"] == {**schema, "required": ["city"]}
    assert context["conversation"]["messages"][2] == {
        "role": "assistant",
        "metadata": {},
        "toolCalls": [{"id": "a", "name": "Weather", "arguments": {"city": "Bonn"}}],
        "stopReason": "TOOL_USE",
    }


def test_missing_results_are_waited_for_and_put_in_the_order_of_the_calls():
    context, step = after_calls(ONE, TWO)
    assert len(step.calls) == 2
    assert isinstance(asks(context=context, results=[result("b", 2)]), WaitForResults)
    assert isinstance(asks(context=context, results=[]), WaitForResults)
    assert texts(asks(context=context, results=[result("b", 2), result("a", 1)]))[-2:] == [1, 2]


@pytest.mark.parametrize(
    ("value", "seen"), [(None, None), ("", None), (" ", None), (False, False), (0, 0), ({}, {}), ("text", "text")]
)
def test_an_empty_result_becomes_a_note(value, seen):
    context, _ = after_calls(ONE)
    shown = texts(asks(context=context, results=[result("a", value)]))[-1]
    assert shown == ("The tool has ended. It gave no result." if seen is None else seen)


def test_a_long_result_is_shortened_with_a_note():
    context, _ = after_calls(ONE)
    shown = texts(asks(context=context, results=[result("a", "x" * 70_000)]))[-1]
    assert shown.startswith("x" * 65_536)
    assert shown.endswith("[4464 characters were left out]")


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (("x", "Nothing", {}), "there is no tool 'Nothing'. The tools are: Weather, Ask"),
        (("x", "Weather", None), "the arguments are not a JSON object"),
        (("x", "Weather", {}), "'city' is missing"),
        (("x", "Weather", {"city": 7}), "'city' must be of type string"),
    ],
)
def test_calls_that_cannot_be_made_get_an_error_as_their_result(call, why):
    again = take(asks(), calls(call))
    assert isinstance(again, Ask)
    assert texts(again)[-1] == f"Error: the tool was not called: {why}."
    assert again.context.metrics.model_calls == 1
    some = take(asks(), calls(ONE, call))
    assert [made.id for made in some.calls] == ["a"]
    assert some.refused == [{"id": "x", "name": call[1], "content": f"Error: the tool was not called: {why}."}]
    after = asks(context=written(some.context), results=[*some.refused, result("a", 1)])
    assert texts(after)[-2:] == [1, f"Error: the tool was not called: {why}."]


def test_a_flood_of_calls_is_bounded():
    step = take(asks(), calls(*((f"c{n}", "Ask", {}) for n in range(40))))
    assert len(step.calls) == 16
    assert len(step.refused) == 24
    assert "at most 16 tools" in step.refused[0]["content"]


def test_ids_that_repeat_or_miss_are_replaced():
    context, step = after_calls(("", "Ask", {}), ("a", "Ask", {}), ("a", "Ask", {}))
    assert [call.id for call in step.calls] == ["call_1_1", "a", "call_1_3"]
    results = [result(call.id, "x") for call in step.calls]
    later = take(asks(context=context, results=results), calls(("a", "Ask", {})))
    assert [call.id for call in later.calls] == ["call_2_1"]


def test_the_limit_of_calls_holds_before_a_call():
    context, _ = after_calls(ONE, limits__maxModelCalls="2")
    last = asks(context=context, results=[result("a", 1)], limits__maxModelCalls=2)
    context = written(take(last, calls(TWO)).context)
    message = refused(errors.MAXIMUM_CALLS, context=context, results=[result("b", 1)], limits__maxModelCalls=2)
    assert message == "the model was called 2 times, and data.limits.maxModelCalls is 2"
    with pytest.raises(AgentError, match=errors.MAXIMUM_CALLS):
        take(asks(limits__maxModelCalls=1), calls(("x", "Nothing", {})))


def test_an_event_follows_the_results_or_cancels_the_tools():
    context, _ = after_calls(ONE, TWO)
    given = [EVENT, result("a", 1), {"id": None, "content": {}}]
    assert isinstance(asks(context=context, results=given), WaitForResults)
    ask = asks(context=context, results=[*given, result("b", 2)])
    assert texts(ask)[-4:] == [1, 2, "stop that", "An event has occurred. It has no data."]
    assert not ask.cancels
    ask = asks(context=context, results=given, events__behavior="interrupt_Tool_Calls")
    assert texts(ask)[-4:-2] == [1, "The tool was cancelled by an event before it ended."]
    assert written(ask.context)["conversation"]["messages"][-3]["results"][1]["interrupted"] is True
    assert take(ask, said()).cancels
    assert take(ask, calls(("c", "Ask", {}))).cancels


def test_an_event_before_the_first_call_follows_the_prompt():
    ask = asks(results=[EVENT])
    assert texts(ask) == ["Be brief.", "Go?", "stop that"]
    refused(errors.RESULTS_WITHOUT_CONTEXT, results=[result("a", 1)])


def test_nothing_to_ask_is_an_error_and_no_silence():
    for prompt in (None, "", " "):
        assert "data.userPrompt.prompt is empty" in refused(errors.NO_USER_MESSAGE, prompt=prompt)


def test_a_context_of_an_earlier_run_goes_on():
    first = take(asks(), said("Yes."))
    again = asks(context=written(first.context), prompt="And now?", job=AgentJob("8", "1", "2", "9"))
    assert texts(again) == ["Be brief.", "Go?", "Yes.", "And now?"]
    assert again.context.metrics.model_calls == 1
    assert again.context.metrics.token_usage.input == 10


def test_calls_of_an_earlier_run_that_never_ended_do_not_hold_the_next_one_back():
    context, _ = after_calls(ONE)
    again = asks(context=context, results=[], prompt="Well?", job=AgentJob("8", "1", "2", "9"))
    assert texts(again)[-2:] == ["The tool was cancelled by an event before it ended.", "Well?"]
    assert not again.cancels, "they are in another element instance"


def test_the_window_keeps_calls_with_their_results():
    context, _ = after_calls(ONE, memory__contextWindowSize=3)
    ask = asks(context=context, results=[result("a", 1)], memory__contextWindowSize=3)
    assert roles(ask) == ["system", "user", "assistant", "tool_call_result"]
    context = written(take(ask, calls(TWO)).context)
    ask = asks(context=context, results=[result("b", 2)], memory__contextWindowSize=3)
    assert roles(ask) == ["system", "assistant", "tool_call_result"]
    assert len(ask.context.conversation.messages) == 6, "the memory keeps all"
    ask = asks(context=context, results=[result("b", 2)], memory__contextWindowSize=1)
    assert roles(ask) == ["system", "assistant", "tool_call_result"], "the newest group stays"


def test_a_context_of_8_9_is_lifted():
    context, _ = after_calls(ONE)
    ask = asks(context=context, results=[result("a", {"x": 1})])
    document = written(ask.context)
    document["conversation"]["messages"][-1]["results"][0]["content"] = {"x": 1}
    del document["schemaVersion"], document["properties"]
    document["conversation"]["messages"][0]["metadata"] = None
    lifted = written(inputs(context=document).context)
    assert lifted["schemaVersion"] == 1
    assert lifted["conversation"] == written(ask.context)["conversation"]


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"schemaVersion": 2}, "its schemaVersion is 2"),
        ({"schemaVersion": 1}, "missing required field"),
        ({"conversation": {"type": "camunda-document"}}, "stored as 'camunda-document'"),
        ({"conversation": {"messages": [{"role": "x"}]}}, "is not a context of an agent"),
        ({"conversation": 7}, "is not a context of an agent"),
    ],
)
def test_a_wrong_context_says_where(context, why):
    with pytest.raises(AgentError, match=why):
        inputs(context=context)


def test_an_answer_that_is_filtered_or_paused():
    with pytest.raises(AgentError, match=errors.FILTERED):
        take(asks(), said(stop="CONTENT_FILTERED"))
    again = take(asks(), said("Hm", "PAUSE"))
    assert (roles(again), again.context.metrics.model_calls) == (["system", "user", "assistant"], 1)


FENCED = '```json\n{"a": [1.5]}\n```'


@pytest.mark.parametrize("text", ['{"a": [1.5]}', FENCED, f" {FENCED} "])
def test_a_response_in_json(text):
    schema = {"type": "object"}
    ask = asks(response__format={"type": "JSON", "schema": schema, "schemaName": "S"})
    assert (ask.request.format.schema, ask.request.format.schema_name) == (schema, "S")
    end = take(ask, said(text))
    assert str(response_of(end.message, end.context, ask.inputs)["responseJson"]["a"]) == "[Decimal('1.5')]"
    with pytest.raises(AgentError, match=errors.NOT_PARSED):
        response_of(take(ask, said("no")).message, end.context, ask.inputs)


def test_a_response_in_text():
    ask = asks(response={"format": {"type": "text", "parseJson": "true"}, "includeAssistantMessage": True})
    end = take(ask, said("[1]"))
    response = response_of(end.message, end.context, ask.inputs)
    assert response["responseJson"] == [1]
    assert response["responseMessage"]["content"] == [{"type": "text", "text": "[1]"}]
    assert "responseJson" not in response_of(take(ask, said("[")).message, end.context, ask.inputs)
    ask = asks(response__includeAgentContext=True)
    assert response_of(end.message, end.context, ask.inputs)["context"] == written(end.context)


def test_a_migration_takes_new_tools_and_misses_none():
    context, _ = after_calls(ONE)
    moved, results = AgentJob("7", "99", "2", "3"), [result("a", 1)]
    ask = asks(job=moved, context=context, results=results, elements=[*ELEMENTS, {"elementId": "New"}])
    assert [tool.name for tool in ask.request.tools] == ["Weather", "Ask", "New"]
    assert ask.context.metadata.process_definition_key == "99"
    with pytest.raises(AgentError, match=f"{errors.MISSING_TOOLS}: the process definition has no longer the tools Ask"):
        begin(inputs(context, results, ELEMENTS[:1]), moved)
    assert begin(inputs(context, results, ELEMENTS[:1]), JOB), "another agent of the same definition"


def test_references_to_secrets_are_text():
    context, _ = after_calls(ONE)
    ask = asks(context=context, results=[result("a", "{{secrets.X}}")])
    assert texts(ask)[-1] == "{{secrets.X}}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"memory__storage__type": "aws-agentcore"}, "data.memory.storage.type 'aws-agentcore' is not supported"),
        ({"userPrompt__documents": [{}]}, "data.userPrompt.documents"),
        ({"memory__contextWindowSize": "many"}, "data.memory.contextWindowSize is not a number"),
        ({"limits__maxModelCalls": 0}, "data.limits.maxModelCalls must be a whole number"),
        ({"limits__maxModelCalls": True}, "data.limits.maxModelCalls"),
        ({"events__behavior": "x"}, "data.events.behavior is not one of"),
        ({"response__format": {"type": "json", "schema": "x"}}, "data.response.format.schema is not a JSON schema"),
        ({"response__includeAgentContext": "maybe"}, "data.response.includeAgentContext is neither true nor false"),
        ({"results": "x"}, "toolCallResults is not a list"),
        ({"results": ["x"]}, r"toolCallResults\[0\] is not a context"),
        ({"context": "x"}, "agentContext is not a context"),
    ],
)
def test_wrong_inputs_are_named(data, why):
    with pytest.raises(AgentError, match=why):
        inputs(**data)
