"""The element templates of connectors that the console's editor offers. `make tables` writes them from the contracts.

The template of HTTP calls is written by hand; its groups for authentication, limits and results are those of all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tests.imports import ROOT
from vivero.engine.connectors.contents import CONTRACTS
from vivero.engine.connectors.contract import Contract, Input, Kind
from vivero.engine.connectors.contracts.agents import AGENT
from vivero.engine.connectors.contracts.http_json import AUTHENTICATION, HTTP_JSON
from vivero.engine.connectors.contracts.tool_servers.a2a import ACCESS

Json = dict[str, Any]

FOLDER = ROOT / "console" / "src" / "editor" / "bpmn" / "templates"
PAGE = FOLDER / "connectors.json"
BY_HAND = FOLDER / "http_json.json"
OF_ENGINE = ("adHocSubProcessElements", "toolCallResults")
"""The inputs of agents that the engine gives."""
_RESULTS = {
    "outputCollection": "toolCallResults",
    "outputElement": "={id: toolCall._meta.id, name: toolCall._meta.name, content: toolCallResult}",
}
"""The results of an agent's tools, as the agent reads them."""
DESCRIPTION = "The server works the job itself if connectors.enabled is on."
_LONG = ("prompt", "body", "htmlBody", "query", "text", "value")
"""The last parts of names whose texts have several lines."""
_SECRET = (".password", ".apiKey", ".secretKey", ".accessKey")
"""The ends of names whose values are secrets."""
_VAGUE = ("type", "value", "id", "data", "name")
"""The last parts that say nothing without the part before."""
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]$")
_WORDS = {
    "http": "HTTP",
    "sse": "SSE",
    "smtp": "SMTP",
    "url": "URL",
    "uri": "URI",
    "api": "API",
    "json": "JSON",
    "p": "P",
    "k": "K",
    "id": "id",
    "html": "HTML",
    "cc": "CC",
    "bcc": "BCC",
}


def page(_text: str) -> str:
    """The file with the templates of all contracts but the one that is written by hand."""
    shared = json.loads(BY_HAND.read_text())
    made = [_template(each, shared) for each in CONTRACTS if each != HTTP_JSON]
    return json.dumps(made, indent=2) + "\n"


def _template(contract: Contract, shared: Json) -> Json:
    """A template. `shared`: the one of HTTP calls."""
    kept = [each for each in shared["properties"] if each.get("group") in ("limits", "result")]
    kept = [each for each in kept if each["binding"]["type"] != "zeebe:input"]
    is_agent = contract == AGENT
    if is_agent:
        kept = [*_results_of_agent(), *(each for each in kept if not each["id"].startswith("result"))]
    own = [*_properties(contract, shared)]
    used = {each.get("group") for each in (*own, *kept)}
    groups = [{"id": "provider", "label": "Model"}, *shared["groups"]]
    return {
        "$schema": shared["$schema"],
        "name": contract.name,
        "id": f"vivero.{re.sub('[^a-z]+', '-', contract.name.lower())}",
        "version": 1,
        "description": DESCRIPTION,
        "category": shared["category"],
        "appliesTo": ["bpmn:SubProcess", "bpmn:AdHocSubProcess"] if is_agent else shared["appliesTo"],
        "elementType": {"value": "bpmn:AdHocSubProcess"} if is_agent else shared["elementType"],
        "groups": [each for each in groups if each["id"] in used],
        "properties": [
            {
                "type": "Hidden",
                "value": contract.types[0],
                "binding": {"type": "zeebe:taskDefinition", "property": "type"},
            },
            *own,
            *kept,
        ],
    }


def _results_of_agent() -> Iterator[Json]:
    """The needs of an ad-hoc sub-process that is an agent, and the variable of its answer."""
    for name, value in _RESULTS.items():
        yield {"type": "Hidden", "value": value, "binding": {"type": "zeebe:adHoc", "property": name}}
    yield {
        "id": "resultVariable",
        "label": "Result variable",
        "group": "result",
        "type": "String",
        "value": "agent",
        "constraints": {"notEmpty": True},
        "binding": {"type": "zeebe:output", "source": "=agent"},
    }


def _provider(name: str) -> str:
    """The provider whose input it is, as in `provider.openai.model.model`; empty for others."""
    first, _, rest = name.partition(".")
    return rest.partition(".")[0] if first == "provider" and "." in rest else ""


def _properties(contract: Contract, shared: Json) -> Iterator[Json]:
    shown = [each for each in contract.inputs if each.name not in OF_ENGINE]
    for each in shown:
        last = Counter(one.name.rpartition(".")[2] for one in shown if _provider(one.name) == _provider(each.name))
        if each.name in (AUTHENTICATION.name, ACCESS):
            yield from _authentication(each.name, shared)
            continue
        first = each.name.partition(".")[0]
        group = first if first in ("authentication", "provider") else "request"
        made: Json = {"id": each.name, "label": _label(each.name, last), "group": group, **_field(each)}
        made["binding"] = {"type": "zeebe:input", "name": each.name}
        if each.name in (contract.secrets or ()) or each.name.endswith(_SECRET):
            made["description"] = "Such as <code>{{secrets.NAME}}</code>"
        yield made | _condition(each, contract)


def _authentication(name: str, shared: Json) -> Iterator[Json]:
    """The properties of the authentication of HTTP calls, for an input of this name."""
    given = [each for each in shared["properties"] if each.get("group") == AUTHENTICATION.name]
    moved: list[Json] = json.loads(json.dumps(given).replace(f'"{AUTHENTICATION.name}.', f'"{name}.'))
    yield from moved


def _label(name: str, last: Counter[str]) -> str:
    """The last part of a name in words, after the part before it if it is not enough."""
    *before, end = name.split(".")
    parts = [*before[-1:], end] if last[end] > 1 or end in _VAGUE else [end]
    words = [_WORDS.get(word.lower(), word.lower()) for part in parts for word in _WORD.findall(part)]
    words = [word for word, _ in groupby(words)]  # `correlationType.type` is no "type type"
    first: str = words[0]
    return first[0].upper() + first[1:] + "".join(f" {word}" for word in words[1:])


def _field(of: Input) -> Json:
    choices = ("true", "false") if of.kind is Kind.FLAG else of.choices
    default = None if of.default is None else str(of.default).replace("True", "true").replace("False", "false")
    if choices:
        listed = [{"name": each, "value": each} for each in choices]
        return {"type": "Dropdown", "value": default or choices[0], "choices": listed}
    is_structure = of.kind in (Kind.CONTEXT, Kind.LIST, Kind.ANY)
    made: Json = {"type": "Text" if of.name.rpartition(".")[2] in _LONG else "String"}
    made["feel"] = "required" if is_structure else "optional"
    if of.required:
        made["constraints"] = {"notEmpty": True}
    return made | ({"value": default} if default is not None else {} if of.required else {"optional": True})


def _condition(of: Input, contract: Contract) -> Json:
    """Inputs below the name of a choice, as in `transport.http.url`, are there for this choice of `transport.type`."""
    parts = of.name.split(".")
    for i, part in enumerate(parts):
        chooser = contract.by_name.get(".".join((*parts[:i], "type")))
        if chooser and part in chooser.choices:
            return {"condition": {"property": chooser.name, "equals": part}}
    return {}
