"""The three protocols of providers: requests, answers, providers, signatures and refusals."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.core.agents.agent_words import after_calls, asks, result, take
from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import TokenUsage, written
from vivero.core.agents.model import MOST_CALLS, parsed_text
from vivero.core.agents.wires.providers import CHAT, CONVERSE, MESSAGES, read_provider
from vivero.core.agents.wires.signatures import AwsKeys, signed
from vivero.core.agents.wires.table import WIRES, refusal

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "The name"}}, "required": ["city"]}
ASK_SCHEMA = {"type": "object", "properties": {}, "required": []}
EVENT = {"id": None, "content": "stop"}


def conversation(**more):
    """A request with everything: a call with a text, its result, and an event."""
    context, _ = after_calls(("a", "Weather", {"city": "Bonn"}))
    context["conversation"]["messages"][-1]["content"] = [{"type": "text", "text": "Look."}]
    return asks(context=context, results=[result("a", {"sun": Decimal("1.5")}), EVENT], **more).request


def test_a_request_of_chat_completions():
    body = WIRES[CHAT].body(conversation(), "m", {"temperature": 0})
    function = {"name": "Weather", "arguments": '{"city":"Bonn"}'}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Go?"},
        {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"sun":1.5}'},
        {"role": "user", "content": "stop"},
    ]
    tool = {"name": "Weather", "description": "The weather of a city", "parameters": SCHEMA}
    assert body["tools"][0] == {"type": "function", "function": tool}
    assert (body["model"], body["temperature"], "response_format" in body) == ("m", 0, False)


def test_a_request_of_messages():
    body = WIRES[MESSAGES].body(conversation(), "m", {})
    assert (body["system"], body["max_tokens"]) == ("Be brief.", 4096)
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Go?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "tool_use", "id": "a", "name": "Weather", "input": {"city": "Bonn"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": '{"sun":1.5}'},
                {"type": "text", "text": "stop"},
            ],
        },
    ]
    assert body["tools"][1] == {"name": "Ask", "description": "Ask a person", "input_schema": ASK_SCHEMA}


def test_a_request_of_converse():
    body = WIRES[CONVERSE].body(conversation(), "m", {"maxTokens": 7})
    assert (body["system"], body["inferenceConfig"]) == ([{"text": "Be brief."}], {"maxTokens": 7})
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"text": "Look."},
                {"toolUse": {"toolUseId": "a", "name": "Weather", "input": {"city": "Bonn"}}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": '{"sun":1.5}'}]}}, {"text": "stop"}],
        },
    ]
    spec = {"name": "Ask", "description": "Ask a person", "inputSchema": {"json": ASK_SCHEMA}}
    assert body["toolConfig"]["tools"][1] == {"toolSpec": spec}


@pytest.mark.parametrize(("wire", "extra"), [(MESSAGES, {"type": "text"}), (CONVERSE, {})])
def test_a_window_without_a_user_begins_with_a_note(wire, extra):
    context, _ = after_calls(("a", "Weather", {"city": "Bonn"}))
    request = asks(context=context, results=[result("a", 1)], memory__contextWindowSize=1).request
    messages = WIRES[wire].body(request, "m", {})["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"] == [{"text": "(Earlier messages are left out.)"} | extra]


def test_a_schema_of_the_response():
    given = {"type": "json", "schema": {"type": "array"}, "schemaName": "N"}
    request = asks(response__format=given).request
    schema = {"name": "N", "schema": {"type": "array"}}
    chat = WIRES[CHAT].body(request, "m", {})
    assert chat["response_format"] == {"type": "json_schema", "json_schema": schema}
    assert '{"type":"array"}' in WIRES[MESSAGES].body(request, "m", {})["system"]
    assert '{"type":"array"}' in WIRES[CONVERSE].body(request, "m", {})["system"][0]["text"]
    plain = asks(response__format={"type": "json"}).request
    assert WIRES[CHAT].body(plain, "m", {})["response_format"] == {"type": "json_object"}


def chat(stop="tool_calls", content="Look.", usage=None, **message):
    choice = {"finish_reason": stop, "message": {"content": content, **message}}
    return {"id": "i", "model": "m-1", "choices": [choice], "usage": usage}


def call(arguments, id="a", name="Weather"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_an_answer_of_chat_completions():
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    given = [call('{"city":"Bonn"}'), call("{"), call("[]"), call(""), call(None, id=None), call({"city": "x"})]
    answer = WIRES[CHAT].answer(chat(usage=usage, tool_calls=given), asks().request)
    assert [one.arguments for one in answer.calls] == [{"city": "Bonn"}, None, None, {}, {}, {"city": "x"}]
    assert (answer.calls[4].id, answer.stop_reason, answer.model_id, answer.message_id) == ("", "TOOL_USE", "m-1", "i")
    assert answer.usage == TokenUsage(40, 20, 60, 0, 8)
    assert WIRES[CHAT].answer(chat("content_filter"), asks().request).stop_reason == "CONTENT_FILTERED"
    assert WIRES[CHAT].answer(chat("odd"), asks().request).stop_reason == "odd"
    for known, senseless in ((9, -1), ("9", 1), (9, True), (9, 1e9), (2**40, 1)):  # a budget would never end
        unknown = {"prompt_tokens": known, "completion_tokens": senseless}
        assert WIRES[CHAT].answer(chat(usage=unknown), asks().request).usage is None


def test_an_answer_of_messages_keeps_what_only_its_provider_reads():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    document = {
        "id": "i",
        "model": "c",
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 2},
        "content": [
            thought,
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "a", "name": "Weather", "input": {"city": "Bonn"}},
        ],
    }
    ask = asks()
    answer = WIRES[MESSAGES].answer(document, ask.request)
    assert (answer.stop_reason, answer.usage) == ("TOOL_USE", TokenUsage(5, 3, 2))
    assert answer.calls[0].arguments == {"city": "Bonn"}
    step = take(ask, answer)
    after = asks(context=written(step.context), results=[result("a", 1)]).request
    assert WIRES[MESSAGES].body(after, "m", {})["messages"][1]["content"][0] == thought
    assert "thinking" not in str(WIRES[CONVERSE].body(after, "m", {}))


def test_an_answer_of_converse():
    block = {"toolUse": {"toolUseId": "a", "name": "Weather", "input": {"city": "Bonn"}}}
    document = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Look."}, block]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 5, "outputTokens": 3},
    }
    answer = WIRES[CONVERSE].answer(document, asks().request)
    assert (answer.calls[0].name, answer.stop_reason, answer.usage) == ("Weather", "TOOL_USE", TokenUsage(5, 3))


def test_names_that_providers_refuse_have_an_alias():
    elements = [{"elementId": "Prüfung.1"}]
    request = asks(elements=elements).request
    name = WIRES[CHAT].body(request, "m", {})["tools"][0]["function"]["name"]
    answer = WIRES[CHAT].answer(chat(tool_calls=[call("{}", name=name)]), request)
    assert answer.calls[0].name == "Prüfung.1"


def test_a_flood_of_calls_is_cut():
    flood = [call("{}", id=None)] * 300
    assert len(WIRES[CHAT].answer(chat(tool_calls=flood), asks().request).calls) == MOST_CALLS
    blocks = [{"type": "tool_use", "id": "a", "name": "Weather", "input": {}}] * 300
    assert len(WIRES[MESSAGES].answer({"content": blocks}, asks().request).calls) == MOST_CALLS
    uses = [{"toolUse": {"toolUseId": "a", "name": "Weather", "input": {}}}] * 300
    answer = WIRES[CONVERSE].answer({"output": {"message": {"content": uses}}}, asks().request)
    assert (len(answer.calls), answer.content) == (MOST_CALLS, [])


@pytest.mark.parametrize("wire", list(WIRES))
@pytest.mark.parametrize(
    "document", [None, [], {}, {"choices": []}, {"choices": [{}]}, {"content": "x"}, {"output": {"message": {}}}]
)
def test_senseless_answers_are_failed_calls(wire, document):
    with pytest.raises(AgentError, match="FAILED_MODEL_CALL: the answer of the provider cannot be read"):
        WIRES[wire].answer(document, asks().request)


# Providers ------------------------------------------------------------------------------------------------------------

MODEL = {"model": "m:0", "parameters": {"temperature": 0.5, "maxTokens": None}}


def provider(type, name=None, **inputs):
    return read_provider({"type": type, name or type: {"model": MODEL, **inputs}}, "https://api.openai.com/v1")


def test_openai():
    keys = {"apiKey": "k", "organizationId": "o", "projectId": None}
    found = provider("openai", authentication=keys, timeouts={"timeout": "PT5S"})
    assert (found.wire, found.target) == (CHAT, "https://api.openai.com/v1/chat/completions")
    assert found.headers == {"Authorization": "Bearer k", "OpenAI-Organization": "o"}
    assert (found.model, found.parameters, found.timeout) == ("m:0", {"temperature": 0.5}, "PT5S")


@pytest.mark.parametrize("own", ["model", "models", "messages", "tools", "functions", "stream", "n"])
def test_custom_parameters_cannot_ask_another_model_or_for_more(own):
    model = {"model": "m", "parameters": {"customParameters": {own: "x"}}}
    with pytest.raises(AgentError, match=f"customParameters cannot set {own}$"):
        provider("openaiCompatible", "openaiCompatible", endpoint="http://x", model=model)


def test_servers_that_are_compatible():
    model = {"model": "m", "parameters": {"customParameters": {"seed": 7}}}
    found = provider(
        "OPENAICOMPATIBLE",
        "openaiCompatible",
        endpoint="http://x/v1/",
        model=model,
        headers={"authorization": "mine", "A": 1},
        queryParameters={"q": "ä"},
        authentication={"apiKey": "k"},
    )
    assert found.target == "http://x/v1/chat/completions?q=%C3%A4"
    assert (found.headers, found.parameters) == ({"authorization": "mine", "A": "1"}, {"seed": 7})


def test_azure_anthropic_and_bedrock():
    keys = {"type": "apiKey", "apiKey": "k"}
    azure = provider("azureOpenAi", endpoint="https://a.example", authentication=keys, model={"deploymentName": "d/1"})
    assert azure.target.startswith("https://a.example/openai/deployments/d%2F1/chat/completions?api-version=")
    assert azure.headers == {"api-key": "k"}
    claude = provider("anthropic", authentication=keys, endpoint="https://c.example/v1/")
    assert (claude.wire, claude.target, claude.headers["x-api-key"]) == (MESSAGES, "https://c.example/v1/messages", "k")
    amazon = provider("bedrock", region="eu-west-1", authentication=keys)
    assert amazon.wire == CONVERSE
    assert amazon.target == "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m%3A0/converse"
    signing = {"type": "credentials", "accessKey": "a", "secretKey": "s"}
    assert provider("bedrock", region="r", authentication=signing).aws_keys == AwsKeys("a", "s")
    assert provider("bedrock", region="r", authentication={"type": "defaultCredentialsChain"}).is_ambient
    assert "secret" not in repr(provider("bedrock", region="r", authentication={**signing, "secretKey": "secret"}))


@pytest.mark.parametrize(
    ("type", "inputs", "why"),
    [
        ("vertex", {}, "provider.type 'vertex' is not supported"),
        ("", {}, "provider.type '' is not supported"),
        ("openai", {}, "provider.openai.authentication.apiKey is missing"),
        ("bedrock", {}, "provider.bedrock.region is missing"),
        ("bedrock", {"region": "x.evil.example/"}, "provider.bedrock.region is not the name of a region"),
        ("bedrock", {"region": "r", "authentication": {"type": "x"}}, "provider.bedrock.authentication.type 'x'"),
        ("azureOpenAi", {"authentication": {"type": "clientCredentials"}}, "only apiKey is supported"),
        (
            "openaiCompatible",
            {"headers": "x", "endpoint": "http://x"},
            "provider.openaiCompatible.headers is not a context",
        ),
    ],
)
def test_wrong_providers_are_named(type, inputs, why):
    with pytest.raises(AgentError, match=why):
        provider(type, **inputs)


# Signatures: the test suite of AWS for version 4 ----------------------------------------------------------------------

KEYS = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)


@pytest.mark.parametrize(
    ("method", "path", "signature"),
    [
        ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ("GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
)
def test_signatures_are_those_of_the_published_vectors(method, path, signature):
    url = f"https://example.amazonaws.com{path}"
    headers = signed(method, url, {}, b"", KEYS, region="us-east-1", service="service", now=NOW)
    credential = "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
    expected = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host;x-amz-date, Signature={signature}"
    assert headers == {"X-Amz-Date": "20150830T123600Z", "Authorization": expected}


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "final"), [(401, True), (400, True), (404, True), (408, False), (409, False), (429, False), (503, False)]
)
def test_a_status_decides_whether_a_repetition_makes_sense(status, final):
    assert refusal(status, None, None).final is final


def test_a_refusal_tells_no_message_of_the_provider():
    error = refusal(429, {"error": {"message": "your prompt 'canary'", "type": "rate_limit"}}, "7")
    assert error.variables == {"status": 429, "providerCode": "rate_limit", "retryAfter": 7}
    assert (error.retry_after_s, "canary" in str(error)) == (7.0, False)
    assert refusal(429, None, "9999").retry_after_s == 300.0
    assert refusal(429, {"__type": "ThrottlingException"}, "Wed, 21 Oct").variables == {
        "status": 429,
        "providerCode": "ThrottlingException",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": [1, null]}', {"a": [1, None]}), ("no", None), ("[" * 600, None), (f"[{'1,' * 30_000}1]", None)],
)
def test_texts_of_models_are_read_within_bounds(text, value):
    assert parsed_text(text) == value
