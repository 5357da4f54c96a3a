"""Words for agents without an engine: inputs, answers, and steps of the loop."""

from vivero.core.agents import loop
from vivero.core.agents.inputs import read_inputs
from vivero.core.agents.loop import AgentJob, begin
from vivero.core.agents.memory.context import TextContent, TokenUsage, written
from vivero.core.agents.model import AskedCall, ModelAnswer

JOB = AgentJob("7", "1", "2", "3")
CITY = {"name": "toolCall.city", "description": "The name", "type": "string"}
ELEMENTS = [
    {"elementId": "Weather", "elementName": "Weather", "documentation": "The weather of a city", "parameters": [CITY]},
    {"elementId": "Ask", "elementName": "Ask a person"},
]


def take(ask, answer, most_calls=16):
    return loop.take(ask, answer, most_calls)


def inputs(context=None, results=None, elements=ELEMENTS, prompt="Go?", **data):
    """The inputs of a job. `data` by path, with `__` between the names."""
    document = {"systemPrompt": {"prompt": "Be brief."}, "userPrompt": {"prompt": prompt}}
    for path, value in data.items():
        *parents, last = path.split("__")
        place = document
        for name in parents:
            place = place.setdefault(name, {})
        place[last] = value
    return read_inputs(elements, context, results, document)


def said(text="Done.", stop="STOP"):
    return ModelAnswer([TextContent(text)], [], TokenUsage(10, 5), stop)


def calls(*given, stop="TOOL_USE"):
    """An answer with tool calls: (id, name, arguments)."""
    return ModelAnswer([], [AskedCall(*call) for call in given], TokenUsage(10, 5), stop)


def asks(job=JOB, **given):
    return begin(inputs(**given), job)


def after_calls(*given, **more):
    """The context after the first answer, which has these calls, and the activation."""
    step = take(asks(**more), calls(*given))
    return written(step.context), step


def result(id, content, name="Weather"):
    return {"id": id, "name": name, "content": content}


def roles(ask):
    return [message.__struct_config__.tag for message in ask.request.messages]


def texts(ask):
    """The texts and values that the model sees, in order."""
    found = []
    for message in ask.request.messages:
        parts = [each for one in getattr(message, "results", ()) for each in one.content] or message.__struct_fields__
        content = parts if not isinstance(parts, tuple) else (message.content or [])
        found += [part.text if isinstance(part, TextContent) else part.content for part in content]
    return found
