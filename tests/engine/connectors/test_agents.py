"""Agents end to end: jobs of ad-hoc sub-processes, a provider on loopback, and tools that the engine runs."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from tests.core.engine import raw
from tests.engine.connectors.agent_models import AGENT, Script, agent, agent_task, chat, provider
from tests.engine.connectors.dispatching import calling, ended, running
from vivero.config.sections import Config
from vivero.core.agents.wires.prices import Price, Prices
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.jobs import CompleteJob, UpdateJob
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents import worker
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.agent_figures import AgentFigures
from vivero.operations.agent_reruns import NotAgain, Wish, run_again
from vivero.storage.background import agents
from vivero.storage.background.agents import AgentStop

WEATHER = ("w", "Weather", {"city": "Bonn"})


PRICES = Prices("EUR", [Price("m*", Decimal("1.5"), Decimal(5), Decimal(1), Decimal(2))])
MONEY = {"prices_file": Path("prices.toml")}


@pytest.fixture
def dispatcher(engine, connect):
    def make(targets="127.0.0.1", prices=None, figures=None, **given):
        allowed = {"providers": "openaiCompatible,bedrock", "endpoints": "127.0.0.1", **given}
        more = {"prices": prices or Prices(), "agent_figures": figures or AgentFigures()}
        return engine.dispatching(connect, agents=AgentSettings(**allowed), allowed_targets=targets, parts=more)

    return make


async def answer_of(engine):
    """The variable `answer` of the instance that ended."""
    return json.loads(await engine.value("SELECT value FROM variables WHERE name = 'answer'"))


async def incident(engine):
    await engine.until_value(1, "SELECT count(*) FROM incidents")
    return await engine.value("SELECT message FROM incidents")


async def resolve(engine):
    """Give the job of the incident retries, and let it be tried again."""
    await engine.run(UpdateJob(await engine.value("SELECT job_key FROM incidents"), retries=3))
    assert (
        await engine.run(ResolveIncident(await engine.value("SELECT incident_key FROM incidents")))
    ).rejection is None


async def complete(engine, element, **variables):
    """Complete the first open job of an element."""
    query = "SELECT coalesce(min(job_key), 0) FROM jobs WHERE element_id = $1 AND ended_at IS NULL"
    with trio.fail_after(20):
        while not (key := await engine.value(query, element)):
            await trio.lowlevel.checkpoint()
    reply = await engine.run(CompleteJob(key, raw(variables)))
    assert reply.rejection is None


async def again(engine, prompt=None, model=None, from_turn=1, number=0):
    """The report of a second run of the agents of an instance."""
    keys = [key for (key,) in await engine.rows("SELECT process_instance_key FROM process_instances ORDER BY 1")]
    allowed = AgentSettings(providers="openaiCompatible", endpoints="127.0.0.1")
    config = replace(Config(), agents=allowed, connectors=ConnectorSettings(allowed_targets="127.0.0.1"))
    async with engine.pool.connection() as connection:
        return await run_again(connection, keys[number], Wish(from_turn, prompt, model, config))


async def same_again(engine, turns, number=0):
    """Situation 32."""
    report = await again(engine, number=number)
    assert [row["request"] for row in report.rows] == ["same"] * turns, report
    assert report.said == ["agent: the same end"]
    assert report.is_same


async def test_one_tool_and_one_answer(engine, dispatcher, server):
    server.answer = script = Script([chat(None, WEATHER, ("n", "Nothing", {"x": "\0"})), chat("Sun.")])
    await engine.deploy(agent(server.url))
    figures = AgentFigures()
    async with running(dispatcher(prices=PRICES, figures=figures, **MONEY, max_cost_per_instance=1.0)):
        await engine.create(question="Sun?")
        await ended(engine, 1)
    calls = await engine.rows(
        "SELECT turn, cause, outcome, model, input_tokens, output_tokens, cost, currency, tools_offered, tools_called"
        " FROM agent_calls ORDER BY turn"
    )
    tools, made = ["Weather", "Nothing", "Slow"], ["Weather", "Nothing"]
    assert calls == [
        (1, "PROMPT", "ANSWERED", "m", 10, 5, 40, "EUR", tools, made),
        (2, "TOOL_RESULTS", "ANSWERED", "m", 10, 5, 40, "EUR", tools, []),
    ]
    assert await engine.rows("SELECT calls, cost FROM agent_usage") == [(2, 80)], "what was used, not what was reserved"
    assert (figures.calls["m", "ANSWERED"], figures.tokens["m", "output"], figures.cost["m", "EUR"]) == (2, 10, 80)
    answer = await answer_of(engine)
    assert answer["responseText"] == "Sun."
    assert answer["context"]["metrics"]["modelCalls"] == 2
    assert script.results() == ['{"sun":true,"city":"Bonn"}', "The tool has ended. It gave no result."]
    names = await engine.rows("SELECT name FROM variables WHERE scope_key = process_instance_key")
    assert {name for (name,) in names} == {"question", "answer", "toolCallResults"}, "nothing else leaves the agent"
    assert script.bodies[0]["tools"][0]["function"]["parameters"]["required"] == ["city"]
    assert server.received[0].headers["authorization"] == "Bearer canary-secret"
    assert await engine.value("SELECT count(*) FROM agent_answers") == 1, "the first is in the log"
    await same_again(engine, 2)
    assert [row["turn"] for row in (await again(engine, from_turn=2)).rows] == [2]
    other = await again(engine, prompt="Be kind.")
    assert [row["request"] for row in other.rows] == ["differs"]
    assert [line[0] for line in other.said if "Be " in line] == ["-", "+"]
    assert len(script.bodies) == 2, "nobody was called"


async def test_another_model_runs_an_agent_again(engine, dispatcher, server, monkeypatch):
    """It is asked with recorded results of tools. Nothing of it is stored, and a stop holds."""
    server.answer = script = Script([chat(None, WEATHER), chat("Sun.")])
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="Sun?")
        await ended(engine, 1)
    with pytest.raises(NotAgain, match="the secrets of the agent 'agent' are not set here"):
        await again(engine, model="m2")
    monkeypatch.setenv("VIVERO_SECRET_KEY", "canary-secret")
    script.answers[2:] = [chat(None, WEATHER), chat("Yes."), chat(None, ("o", "Weather", {"city": "Oslo"}))]
    report = await again(engine, prompt="Be kind.", model="m2")
    assert [(row["turn"], row["request"], row["answer"]) for row in report.rows] == [
        (1, "new", 'Weather({"city":"Bonn"})'),
        (2, "new", "Yes."),
    ]
    assert report.said == ["agent: the model has answered; the recorded answer was: Sun."]
    assert (script.bodies[2]["model"], script.bodies[2]["messages"][0]["content"]) == ("m2", "Be kind.")
    assert script.results(3) == ['{"sun":true,"city":"Bonn"}']
    missing = await again(engine, model="m2")
    assert missing.said == ['agent: the record has no result of Weather({"city":"Oslo"}), so the run ends here']
    assert await engine.value("SELECT count(*) FROM agent_calls") == 2
    async with engine.pool.connection() as connection:
        await agents.stop(connection, AgentStop("", "", ""))
    with pytest.raises(NotAgain, match="stops of agents hold"):
        await again(engine, model="m2")


async def test_tools_at_once_and_the_same_one_twice(engine, dispatcher, server):
    """The job after the first result completes without a call. Results come in the order of the calls."""
    server.answer = script = Script([chat(None, ("a", "Slow", {}), ("b", "Slow", {}), WEATHER), chat("Done.")])
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="Go")
        await complete(engine, "Slow", toolCallResult="first")
        await complete(engine, "Slow", toolCallResult=False)
        await ended(engine, 1)
    assert script.results() == ["first", "false", '{"sun":true,"city":"Bonn"}']
    assert len(script.bodies) == 2
    await same_again(engine, 2)


async def test_calls_that_cannot_be_made_cost_no_incident(engine, dispatcher, server):
    answers = [chat(None, ("x", "Unknown", {})), chat(None, WEATHER, ("y", "Weather", {})), chat("Done.")]
    server.answer = script = Script(answers)
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="Go")
        await ended(engine, 1)
    assert script.results(1)[0].startswith("Error: the tool was not called: there is no tool 'Unknown'")
    assert script.results()[1:] == [
        '{"sun":true,"city":"Bonn"}',
        "Error: the tool was not called: 'city' is missing.",
    ]


BOUNDARY = (
    '<boundaryEvent id="caught" attachedToRef="agent"><errorEventDefinition errorRef="limit"/></boundaryEvent>'
    '<endEvent id="other"/><sequenceFlow id="c" sourceRef="caught" targetRef="other"/>'
)
LIMIT = "if error.code = &#34;MAXIMUM_NUMBER_OF_MODEL_CALLS_REACHED&#34; then bpmnError(&#34;LIMIT&#34;, error.message)"


async def test_the_limit_of_calls_is_a_bpmn_error_if_the_model_says_so(engine, dispatcher, server):
    server.answer = script = Script([chat(None, WEATHER)])
    headers = f'<zeebe:header key="errorExpression" value="={LIMIT} else null"/>'
    made = agent(server.url, headers=headers, beside=BOUNDARY, limits__maxModelCalls="=2")
    await engine.deploy(made.replace(b"</definitions>", b'<error id="limit" errorCode="LIMIT"/></definitions>'))
    async with running(dispatcher()):
        await engine.create(question="Go")
        await ended(engine, 1)
    assert len(script.bodies) == 2
    assert await engine.value("SELECT count(*) FROM element_instances WHERE element_id = 'other'") == 1


async def test_errors_cannot_be_ignored(engine, dispatcher, server):
    server.answer = Script([(401, {}, {"error": {"code": "invalid_api_key", "message": "canary-secret"}})])
    await engine.deploy(agent(server.url, headers='<zeebe:header key="errorExpression" value="=ignoreError({})"/>'))
    async with running(dispatcher()):
        await engine.create(question="Go")
        assert "ignoreError cannot complete" in await incident(engine)


async def test_failed_calls(engine, dispatcher, server):
    """500 and 429 are repeated, the latter when the provider says so; 401 is an incident at once. None uses tokens."""
    server.answer = Script([(500, {}, {}), (500, {}, {}), chat("Done.")])
    await engine.deploy(agent(server.url))
    async with running(dispatcher(max_tokens_per_instance=6000)):
        await engine.create(question="Go")
        await ended(engine, 1)
        server.answer = Script([(429, {"Retry-After": "700"}, {"error": {"code": "rate_limit"}})])
        await engine.create(question="Go")
        await engine.until_value(1, "SELECT count(*) FROM jobs WHERE retries = 2 AND ended_at IS NULL")
        wait_s = "SELECT extract(epoch FROM available_at - updated_at)::int FROM jobs WHERE ended_at IS NULL"
        assert 295 <= await engine.value(wait_s) <= 335
        server.answer = Script([(401, {}, {"error": {"code": "invalid_api_key", "message": "your key canary-secret"}})])
        await engine.create(question="Go")
        assert await incident(engine) == "FAILED_MODEL_CALL: the provider answers 401 (invalid_api_key)"
    assert await engine.rows("SELECT outcome, input_tokens FROM agent_calls ORDER BY ended_at DESC LIMIT 1") == [
        ("FAILED_MODEL_CALL", 0)
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"providers": ""}, "NOT_ALLOWED: agents.providers does not name the provider 'openaiCompatible'"),
        ({"models": "gpt-*"}, "NOT_ALLOWED: agents.models does not allow the model 'm'"),
        ({"endpoints": "other.example"}, "NOT_ALLOWED: agents.endpoints does not name the host '127.0.0.1"),
        ({"targets": ""}, "FORBIDDEN_ADDRESS: 127.0.0.1 is not a public address"),
        (MONEY | {"max_cost_per_day": 1.0}, "AGENT_BUDGET_EXCEEDED: agents.prices_file has no price for the model 'm'"),
        (
            MONEY | {"max_cost_per_instance": 0.01, "prices": PRICES},
            "AGENT_BUDGET_EXCEEDED: the budget of this process instance is 0.01 in money, and the next call reserves",
        ),
        ({"max_tokens_per_instance": 50}, "AGENT_BUDGET_EXCEEDED: the budget of this process instance is 50 tokens"),
    ],
)
async def test_settings_forbid_calls(engine, dispatcher, server, given, why):
    await engine.deploy(agent(server.url))
    async with running(dispatcher(**{"max_tokens_per_day": 5000, **given})):
        await engine.create(question="Go")
        assert (await incident(engine)).startswith(why)
    assert server.received == []
    assert await engine.value("SELECT coalesce(sum(tokens), 0)::int FROM agent_usage") == 0, "nobody was asked"


async def test_a_redirect_is_not_followed(engine, dispatcher, server):
    server.answer = Script([(307, {"Location": "http://169.254.169.254/"}, {})])
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="Go")
        assert await incident(engine) == "FAILED_MODEL_CALL: the provider answers 307"
    assert len(server.received) == 1


async def test_an_answer_is_paid_once(engine, dispatcher, server, monkeypatch):
    """The node ends between the answer and the report of it. The next one reports the stored answer."""
    server.answer = script = Script([chat("Done.")])
    await engine.deploy(agent(server.url))
    made, answered = dispatcher(), trio.Event()

    async def never(_job, _command):
        answered.set()
        await trio.sleep_forever()

    with monkeypatch.context() as patch:
        patch.setattr(made, "_report", never)
        async with running(made):
            await engine.create(question="Go")
            await answered.wait()
    assert await engine.value("SELECT count(*) FROM agent_answers") == 1
    async with running(made):
        await ended(engine, 1)
    assert (await answer_of(engine))["responseText"] == "Done."
    assert len(script.bodies) == 1


async def test_an_answer_that_cannot_be_kept_in_time_is_used_and_the_log_says_so(
    engine, dispatcher, server, connection, monkeypatch
):
    """The record of the call and its answer are stored together, or neither."""
    monkeypatch.setattr(worker, "KEEP_S", 0.1)
    server.answer = script = Script([chat("Done.")])
    await engine.deploy(agent(server.url))
    async with connection.transaction():
        await connection.execute("LOCK TABLE agent_calls IN SHARE MODE")
        with capture_logs() as logged:
            async with running(dispatcher(max_tokens_per_instance=6000)):
                await engine.create(question="Go")
                await ended(engine, 1)
    assert (await answer_of(engine))["responseText"] == "Done."
    assert await engine.value("SELECT count(*) FROM agent_answers") == 0
    assert await engine.value("SELECT tokens > 4096 FROM agent_usage"), "it counts as its reservation"
    assert len(script.bodies) == 1
    assert [each["outcome"] for each in logged if "not stored in time" in each["event"]] == ["ANSWERED"]


async def test_a_call_ends_with_its_job(engine, dispatcher, server):
    begun, over = trio.Event(), trio.Event()

    async def never(_request):
        begun.set()
        try:
            await trio.sleep_forever()
        finally:
            over.set()

    server.answer = never
    await engine.deploy(agent(server.url))
    made = dispatcher()
    async with running(made):
        await engine.create(question="Go")
        await begun.wait()
        key = await engine.value("SELECT process_instance_key FROM process_instances")
        assert (await engine.run(CancelInstance(key))).rejection is None
        for held in made.leases.held.values():
            held.renew_at = 0  # the time of the renewal has come
        made.wake()
        with trio.fail_after(20):
            while made.figures.failed or made.leases.held:
                await trio.lowlevel.checkpoint()


async def test_stopped_agents_wait_without_losing_a_retry(engine, dispatcher, server, connection):
    begun = trio.Event()

    async def never(_request):
        begun.set()
        await trio.sleep_forever()

    server.answer = never
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="Go")
        await begun.wait()
        assert await agents.stop(connection, AgentStop("", "p", ""))
        said = "AGENTS_STOPPED: the operator has stopped the process 'p': `vivero agents resume` ends it"
        await engine.until_value(said, "SELECT error_message FROM jobs")
    assert await engine.rows("SELECT retries, available_at > updated_at FROM jobs") == [(3, True)]
    assert await engine.rows("SELECT outcome, input_tokens FROM agent_calls") == [("CANCELLED", None)]
    assert len(server.received) == 1
    assert await agents.resume(connection, AgentStop("", "p", ""))


async def test_bedrock_gets_signed_requests(engine, dispatcher, server):
    text = {"output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}}, "stopReason": "end_turn"}
    server.answer = Script([text])
    await engine.deploy(agent(server.url, "bedrock"))
    async with running(dispatcher()):
        await engine.create(question="Go")
        await ended(engine, 1)
    [request] = server.received
    assert request.target == "/model/m/converse"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "canary" not in str(request)


async def test_a_conversation_goes_on_in_another_instance(engine, dispatcher, server):
    server.answer = script = Script([chat("Yes."), chat("No.")])
    await engine.deploy(agent(server.url))
    async with running(dispatcher()):
        await engine.create(question="One?")
        await ended(engine, 1)
        context = (await answer_of(engine))["context"]
        await engine.create(question="Two?", context=context)
        await ended(engine, 2)
    assert [message["content"] for message in script.bodies[1]["messages"]] == ["Be brief.", "One?", "Yes.", "Two?"]
    await same_again(engine, 1, number=1)


async def test_secrets_in_data_are_text(engine, dispatcher, server):
    server.answer = script = Script([chat("{{secrets.KEY}}")])
    await engine.deploy(agent(server.url, systemPrompt__prompt="{{secrets.KEY}} canary-secret"))
    async with running(dispatcher()):
        await engine.create(question="{{secrets.KEY}}")
        await ended(engine, 1)
    assert [message["content"] for message in script.bodies[0]["messages"]] == [
        "{{secrets.KEY}} ***",
        "{{secrets.KEY}}",
    ]
    assert (await answer_of(engine))["responseText"] == "{{secrets.KEY}}"


async def test_a_budget_holds_for_calls_at_once_and_for_those_that_a_dead_node_leaves(engine):
    budget = agents.Budget("tenant", "t", "", 0, agents.TODAY, 0, 1000, 35)
    granted = []

    async def reserve():
        try:
            async with engine.pool.connection() as connection, connection.transaction():
                granted.append(await agents.reserve(connection, [budget], 150, 7))
        except agents.Exceeded:
            pass

    async with trio.open_nursery() as nursery:
        for _ in range(12):
            nursery.start_soon(reserve)
    assert len(granted) == 5
    async with engine.pool.connection() as connection, connection.transaction():
        await agents.settle(connection, granted[0], -700, -30)
        rows = (await connection.execute("SELECT calls, tokens, cost FROM agent_usage")).rows
    assert rows == [(5, 50, 5)]
    for _ in range(12):
        await reserve()
    assert len(granted) == 9, "nobody settles the other reservations, and they count on"


async def test_an_agent_as_a_task_gives_its_calls_to_the_process(engine, dispatcher, server):
    """A call that cannot be made is not given, and the model sees its error with the results of the others."""
    server.answer = script = Script([chat("Look.", ("x", "Unknown", {}), WEATHER), chat("Sun\0.")])
    await engine.deploy(agent_task(server.url))
    async with running(dispatcher()):
        await engine.create(question="Sun?")
        await ended(engine, 1)
    assert script.results()[0].startswith("Error: the tool was not called: there is no tool 'Unknown'")
    assert script.results()[1:] == ['{"sun":true,"city":"Bonn"}']
    answer = json.loads(await engine.variable("agent"))
    assert (answer["responseText"], answer["toolCalls"]) == ("Sun\ufffd.", [])
    assert [message["role"] for message in script.bodies[1]["messages"]] == ["user", "assistant", "tool", "tool"]


@pytest.mark.parametrize("container", ["tools", "ask"])
async def test_the_tools_of_an_element_can_be_read(engine, dispatcher, server, container):
    type_ = "io.camunda.agenticai:adhoctoolsschema:1"
    made = agent_task(server.url).replace(b"io.camunda.agenticai:aiagent:1", type_.encode())
    target = (
        f'<zeebe:input source="{container}" target="data.containerElementId"/></zeebe:ioMapping><zeebe:taskHeaders>'
    )
    await engine.deploy(made.replace(b"</zeebe:ioMapping><zeebe:taskHeaders>", target.encode()))
    async with running(dispatcher()):
        await engine.create()
        if container == "ask":
            assert await incident(engine) == (
                "AD_HOC_SUB_PROCESS_NOT_FOUND: the process has no ad-hoc sub-process 'ask'"
            )
            return
        await engine.until_value(1, "SELECT count(*) FROM variables WHERE name = 'agent'")
    tools = json.loads(await engine.variable("agent"))["toolDefinitions"]
    assert [tool["name"] for tool in tools] == ["Weather", "Nothing", "Slow"]


COUNT = (
    '<scriptTask id="{0}"><extensionElements><zeebe:script expression="=1" resultVariable="{0}"/></extensionElements>'
    '</scriptTask><sequenceFlow id="from{0}" sourceRef="{0}" targetRef="join"/>'
)
JOINED = f'{COUNT.format("A")}{COUNT.format("B")}<parallelGateway id="join"/>'


async def test_a_decision_that_the_engine_rejects_is_an_incident_and_is_paid_again(engine, dispatcher, server):
    """Tools with a common join share `toolCall`, so two calls of them contradict each other."""
    server.answer = script = Script([chat(None, ("a", "A", {}), ("b", "B", {})), chat("Done.")])
    await engine.deploy(agent(server.url, tools=JOINED))
    async with running(dispatcher()):
        await engine.create(question="Go")
        said = await incident(engine)
        assert said.startswith("REJECTED: the engine rejects the outcome: ")
        assert "the elements [A, B] share an inner instance and set 'toolCall' to different values" in said
        await resolve(engine)
        await ended(engine, 1)
    assert len(script.bodies) == 2, "the stored answer is not used again"


async def test_the_type_of_an_ad_hoc_agent_at_a_task_is_an_incident(engine, dispatcher, server):
    server.answer = Script([chat("Done.")])
    inputs = {**provider(server.url), "data.userPrompt.prompt": "Go", "adHocSubProcessElements": "=[]"}
    await engine.deploy(calling(AGENT, inputs))
    async with running(dispatcher()):
        await engine.create()
        assert "a result of an ad-hoc sub-process does not fit a job of kind" in await incident(engine)


async def test_an_answer_that_cannot_be_used_is_asked_for_again(engine, dispatcher, server):
    server.answer = script = Script([chat("no JSON"), chat('{"a": 1}')])
    await engine.deploy(agent(server.url, response__format__type="json"))
    async with running(dispatcher()):
        await engine.create(question="Go")
        assert (await incident(engine)).startswith("FAILED_TO_PARSE_RESPONSE_CONTENT")
        await resolve(engine)
        await ended(engine, 1)
    assert (await answer_of(engine))["responseJson"] == {"a": 1}
    assert len(script.bodies) == 2


def with_input(made, target, source):
    """The process, whose agent has this input, too."""
    text = source.replace('"', "&#34;")
    mapping = f'<zeebe:input source="={text}" target="provider.openaiCompatible.{target}"/>'
    return made.replace(b"<zeebe:ioMapping>", b"<zeebe:ioMapping>" + mapping.encode(), 1)


async def test_a_header_that_cannot_be_sent_is_named(engine, dispatcher, server):
    await engine.deploy(with_input(agent(server.url), "headers", '{"X-Team": "a\\nb"}'))
    async with running(dispatcher(max_calls_per_instance=1)):
        await engine.create(question="Go")
        assert "the header X-Team has a character that a header cannot have" in await incident(engine)
    assert server.received == []
    assert await engine.value("SELECT count(*) FROM agent_usage") == 0, "nothing is reserved"


async def test_the_largest_limit_of_an_answer_is_reserved(engine, dispatcher, server):
    limits = '{"max_tokens": 1, "max_completion_tokens": 9000}'
    await engine.deploy(with_input(agent(server.url), "model.parameters.customParameters", limits))
    async with running(dispatcher(max_tokens_per_instance=9000)):
        await engine.create(question="Go")
        assert "the budget of this process instance is 9000 tokens" in await incident(engine)
    assert server.received == []
