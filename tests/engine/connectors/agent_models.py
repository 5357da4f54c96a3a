"""Models of agents as the element template writes them, and scripted providers."""

import json
from dataclasses import dataclass, field

from tests.engine.whole_engine import HEAD

AGENT = "io.camunda.agenticai:aiagent-job-worker:1"
OUTPUT = "={id: toolCall._meta.id, name: toolCall._meta.name, content: toolCallResult}"
TOOLS = """
<scriptTask id="Weather" name="Weather"><documentation>The weather of a city</documentation><extensionElements>
<zeebe:script expression="={sun: true, city: fromAi(toolCall.city, &#34;The city&#34;)}"
resultVariable="toolCallResult"/></extensionElements></scriptTask>
<scriptTask id="Nothing"><extensionElements><zeebe:script expression="=null" resultVariable="toolCallResult"/>
</extensionElements></scriptTask>
<serviceTask id="Slow"><extensionElements><zeebe:taskDefinition type="slow"/></extensionElements></serviceTask>
"""


def provider(url, type="openaiCompatible"):
    """The inputs of a connection to a local server."""
    where = f"provider.{type}"
    if type == "bedrock":
        given = {"endpoint": url, "region": "eu-west-1", "authentication.type": "credentials"}
        given |= {"authentication.accessKey": "AKID", "authentication.secretKey": "{{secrets.KEY}}"}
    else:
        given = {"endpoint": f"{url}/v1", "authentication.apiKey": "{{secrets.KEY}}"}
    return (
        {"provider.type": type}
        | {f"{where}.{name}": value for name, value in given.items()}
        | {f"{where}.model.model": "m"}
    )


def agent(url, type="openaiCompatible", tools=TOOLS, headers="", beside="", retries=3, **data):
    """A process with an agent; the variable `question` is the prompt. `data`: more inputs, `__` for dots."""
    inputs = provider(url, type) | {
        "data.systemPrompt.prompt": "Be brief.",
        "data.userPrompt.prompt": "=question",
        "agentContext": "=if context = null then null else context",
        "data.memory.storage.type": "in-process",
        "data.response.includeAgentContext": "=true",
    }
    inputs |= {f"data.{name.replace('__', '.')}": value for name, value in data.items()}
    mappings = "".join(f'<zeebe:input source="{source}" target="{target}"/>' for target, source in inputs.items())
    return (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><adHocSubProcess id="agent">'
        f'<extensionElements><zeebe:taskDefinition type="{AGENT}" retries="{retries}"/>'
        f'<zeebe:adHoc outputCollection="toolCallResults" outputElement="{OUTPUT}"/>'
        f'<zeebe:ioMapping>{mappings}<zeebe:input target="agent"/><zeebe:output source="=agent" target="answer"/>'
        f"</zeebe:ioMapping><zeebe:taskHeaders>{headers}</zeebe:taskHeaders></extensionElements>{tools}"
        f'</adHocSubProcess><sequenceFlow id="a" sourceRef="start" targetRef="agent"/><endEvent id="end"/>'
        f'<sequenceFlow id="b" sourceRef="agent" targetRef="end"/>{beside}</process></definitions>'
    ).encode()


def chat(text=None, *calls, **message):
    """An answer of chat completions: a text, or tool calls (id, name, arguments)."""
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in calls
    ]
    said = {"role": "assistant", "content": text} | ({"tool_calls": made} if made else {}) | message
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if made else "stop"}
    return {"id": "c", "model": "m-1", "choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}


@dataclass
class Script:
    """The answers of a provider in their order: documents, or (status, headers, body). The last one repeats."""

    answers: list
    bodies: list = field(default_factory=list)

    def __call__(self, request) -> tuple:
        self.bodies.append(request.json)
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        return answer if isinstance(answer, tuple) else (200, {}, answer)

    def results(self, number=-1):
        """The results of tools that the model saw in a request."""
        return [each["content"] for each in self.bodies[number]["messages"] if each["role"] == "tool"]


def agent_task(url):
    """An agent that is a task, in a loop of the model over the calls that it asks for."""
    inputs = provider(url) | {
        "data.userPrompt.prompt": "=question",
        "data.context": "=agent.context",
        "data.tools.containerElementId": "tools",
        "data.tools.toolCallResults": "=results",
    }
    mappings = "".join(f'<zeebe:input source="{source}" target="{target}"/>' for target, source in inputs.items())
    loop = (
        "<multiInstanceLoopCharacteristics><extensionElements>"
        '<zeebe:loopCharacteristics inputCollection="=agent.toolCalls" '
        f'inputElement="toolCall" outputCollection="results" outputElement="{OUTPUT}"/></extensionElements>'
        "</multiInstanceLoopCharacteristics>"
    )
    task = "io.camunda.agenticai:aiagent:1"
    return (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><serviceTask id="ask"><extensionElements>'
        f'<zeebe:taskDefinition type="{task}"/><zeebe:ioMapping>{mappings}</zeebe:ioMapping><zeebe:taskHeaders>'
        '<zeebe:header key="resultVariable" value="agent"/></zeebe:taskHeaders></extensionElements></serviceTask>'
        '<exclusiveGateway id="more" default="no"/><endEvent id="end"/><adHocSubProcess id="tools"><extensionElements>'
        '<zeebe:adHoc activeElementsCollection="=[toolCall._meta.name]"/><zeebe:ioMapping>'
        f'<zeebe:input source="" target="toolCallResult"/></zeebe:ioMapping></extensionElements>{loop}{TOOLS}'
        '</adHocSubProcess><sequenceFlow id="a" sourceRef="start" targetRef="ask"/>'
        '<sequenceFlow id="b" sourceRef="ask" targetRef="more"/>'
        '<sequenceFlow id="no" sourceRef="more" targetRef="end"/>'
        '<sequenceFlow id="d" sourceRef="more" targetRef="tools"><conditionExpression>=count(agent.toolCalls) &gt; 0'
        '</conditionExpression></sequenceFlow><sequenceFlow id="e" sourceRef="tools" targetRef="ask"/></process>'
        "</definitions>"
    ).encode()
