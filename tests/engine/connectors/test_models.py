"""Problems of deployments with connectors that Vivero does not have."""

from dataclasses import replace

import pytest

from vivero.core.bpmn.parser import parse
from vivero.engine.connectors import models
from vivero.engine.connectors.contents import BY_TYPE
from vivero.engine.connectors.contracts.http_json import HTTP_JSON

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' targetNamespace="t"><process id="p" isExecutable="true">'
)
START = '<startEvent id="s"><extensionElements><zeebe:properties>{}</zeebe:properties></extensionElements></startEvent>'
TASK = (
    '<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><serviceTask id="t"><extensionElements>'
    '<zeebe:taskDefinition type="{}"/></extensionElements></serviceTask>'
)


def properties(**values):
    given = (f'<zeebe:property name="{name.replace("_", ".")}" value="{value}"/>' for name, value in values.items())
    return START.format("".join(given))


def warnings(content, enabled=True):
    parsed = parse(f"{HEAD}{content}</process></definitions>".encode(), "p.bpmn")
    assert parsed.problems == ()
    return list(models.warnings("p.bpmn", parsed.processes, enabled))


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(
    ("content", "element", "says"),
    [
        (
            properties(inbound_type="io.camunda:kafka:1"),
            "s",
            "has no inbound connector 'io.camunda:kafka:1', so nothing",
        ),
        (properties(inbound_context="orders"), "s", "its properties inbound.… have no effect without inbound.type"),
        (
            TASK.format("io.camunda:google-sheets:1"),
            "t",
            "has no connector 'io.camunda:google-sheets:1': run a worker for its jobs",
        ),
        (
            TASK.format("io.camunda.agenticai:unknown:1"),
            "t",
            "has no connector 'io.camunda.agenticai:unknown:1': run a worker for its jobs",
        ),
    ],
)
def test_a_connector_that_is_not_there(content, element, says, enabled):
    [warning] = warnings(content, enabled)
    assert warning.startswith(f"'p.bpmn' line 1 element '{element}': ")
    assert says in warning


@pytest.mark.parametrize("content", [TASK.format("charge"), properties(color="red"), TASK.format("=&quot;x&quot;")])
def test_nothing_to_say(content):
    assert warnings(content) == []


def test_connectors_that_are_there_are_no_warnings_while_they_are_enabled():
    assert warnings(TASK.format("io.camunda:http-json:1")) == []
    assert len(warnings(TASK.format("io.camunda:http-json:1"), enabled=False)) == 1


def test_a_connector_without_its_packages(monkeypatch):
    contract = replace(HTTP_JSON, extra="mail", modules=("no_such_module",))
    monkeypatch.setitem(BY_TYPE, "io.camunda:http-json:1", contract)
    [warning] = warnings(TASK.format("io.camunda:http-json:1"))
    assert warning.endswith("are not installed here: pip install 'vivero[mail]', or run a worker for its jobs")


@pytest.mark.parametrize(
    ("target", "value", "says"),
    [
        ("data.memory.storage.type", "aws-agentcore", "is 'aws-agentcore', and the connector takes only in-process"),
        ("provider.type", "google-vertex-ai", "takes only openai, openaiCompatible, azureOpenAi, anthropic, bedrock"),
        ("provider.azureOpenAi.authentication.type", "clientCredentials", "takes only apiKey"),
        ("provider.type", "OPENAI", None),
        ("provider.type", "=given", None),
        ("data.memory.storage.type", "", None),
    ],
)
def test_values_that_the_connector_does_not_take(target, value, says):
    mapping = f'<zeebe:ioMapping><zeebe:input source="{value}" target="{target}"/></zeebe:ioMapping>'
    content = TASK.format("io.camunda.agenticai:aiagent:1").replace("</ext", f"{mapping}</ext")
    found = warnings(content)
    assert len(found) == (says is not None)
    assert says is None or (f"element 't': the input {target} is " in found[0] and says in found[0])


AGENT = (
    '<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="a"/><adHocSubProcess id="a"><extensionElements>'
    '<zeebe:taskDefinition type="io.camunda.agenticai:aiagent-job-worker:1"/><zeebe:ioMapping>{}</zeebe:ioMapping>'
    "</extensionElements>{}</adHocSubProcess>"
)
SAYS = "<documentation>The weather</documentation>"
SCRIPT = (
    '<scriptTask id="{}">{}<extensionElements><zeebe:script expression="=1" resultVariable="{}"/></extensionElements>'
    "</scriptTask>"
)
LATER = (
    SCRIPT.format("x", SAYS, "y")
    + '<sequenceFlow id="g" sourceRef="x" targetRef="later"/><serviceTask id="later"><extensionElements>'
    '<zeebe:taskDefinition type="t"/><zeebe:ioMapping><zeebe:input source="=fromAi(toolCall.city)" target="city"/>'
    "</zeebe:ioMapping></extensionElements></serviceTask>"
)
PROMPT = '<zeebe:input source="{}" target="data.systemPrompt.prompt"/>'


@pytest.mark.parametrize(
    ("inputs", "tools", "element", "says"),
    [
        ("", SCRIPT.format("x", "", "toolCallResult"), "x", "this tool has no documentation"),
        ("", SCRIPT.format("x", SAYS, "result"), "x", "nothing in it sets the variable toolCallResult"),
        ("", SCRIPT.format("x" * 65, SAYS, "toolCallResult"), "x" * 65, "the model sees this tool as 'xxxx"),
        ("", LATER, "later", "fromAi declares a parameter in the first element of a tool only"),
        (
            PROMPT.format("Use {{secrets.KEY}}"),
            SCRIPT.format("x", SAYS, "toolCallResult"),
            "a",
            "the input data.systemPrompt.prompt refers to a secret, which stays text",
        ),
    ],
)
def test_an_agent_that_works_badly(inputs, tools, element, says):
    [warning] = warnings(AGENT.format(inputs, tools))
    assert warning.startswith(f"'p.bpmn' line 1 element '{element}': ")
    assert says in warning


def test_a_good_agent_has_no_warnings():
    user = f'<userTask id="ask">{SAYS}<extensionElements><zeebe:userTask/></extensionElements></userTask>'
    found = warnings(AGENT.format(PROMPT.format("Be brief"), SCRIPT.format("x", SAYS, "toolCallResult") + user))
    assert found == []
