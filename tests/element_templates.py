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
from vivero.engine.connectors.contracts.agents import AGENT, AGENT_TASK, TOOLS_SCHEMA
from vivero.engine.connectors.contracts.http_json import AUTHENTICATION, HTTP_JSON

Json = dict[str, Any]

FOLDER = ROOT / "console" / "src" / "editor" / "bpmn" / "templates"
PAGE = FOLDER / "connectors.json"
BY_HAND = FOLDER / "http_json.json"
WITHOUT = (AGENT, AGENT_TASK, TOOLS_SCHEMA)
"""Agents: their contracts do not list the inputs of each provider, and one of them is an ad-hoc sub-process."""
DESCRIPTION = "The server works the job itself if connectors.enabled is on."
_LONG = ("body", "htmlBody", "query", "text", "value")
"""The last parts of names whose texts have several lines."""
_VAGUE = ("type", "value", "id", "data", "name")
"""The last parts that say nothing without the part before."""
_WORDS = {
    "http": "HTTP",
    "sse": "SSE",
    "smtp": "SMTP",
    "url": "URL",
    "uri": "URI",
    "api": "API",
    "id": "id",
    "html": "HTML",
    "cc": "CC",
    "bcc": "BCC",
}


def page(_text: str) -> str:
    """The file with the templates of all contracts but `WITHOUT`."""
    shared = json.loads(BY_HAND.read_text())
    made = [_template(each, shared) for each in CONTRACTS if each not in (HTTP_JSON, *WITHOUT)]
    return json.dumps(made, indent=2) + "\n"


def _template(contract: Contract, shared: Json) -> Json:
    """A template. `shared`: the one of HTTP calls."""
    kept = [each for each in shared["properties"] if each.get("group") in ("limits", "result")]
    kept = [each for each in kept if each["binding"]["type"] != "zeebe:input"]
    own = [*_properties(contract, shared)]
    used = {each.get("group") for each in (*own, *kept)}
    return {
        "$schema": shared["$schema"],
        "name": contract.name,
        "id": f"vivero.{re.sub('[^a-z]+', '-', contract.name.lower())}",
        "version": 1,
        "description": DESCRIPTION,
        "category": shared["category"],
        "appliesTo": shared["appliesTo"],
        "elementType": shared["elementType"],
        "groups": [each for each in shared["groups"] if each["id"] in used],
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


def _properties(contract: Contract, shared: Json) -> Iterator[Json]:
    last = Counter(each.name.rpartition(".")[2] for each in contract.inputs)
    for each in contract.inputs:
        if each == AUTHENTICATION:
            yield from (one for one in shared["properties"] if one.get("group") == "authentication")
            continue
        group = "authentication" if each.name.startswith("authentication.") else "request"
        made: Json = {"id": each.name, "label": _label(each.name, last), "group": group, **_field(each)}
        made["binding"] = {"type": "zeebe:input", "name": each.name}
        if each.name in (contract.secrets or ()) or each.name.endswith(".password"):
            made["description"] = "Such as <code>{{secrets.NAME}}</code>"
        yield made | _condition(each, contract)


def _label(name: str, last: Counter[str]) -> str:
    """The last part of a name in words, after the part before it if it is not enough."""
    *before, end = name.split(".")
    parts = [*before[-1:], end] if last[end] > 1 or end in _VAGUE else [end]
    words = [_WORDS.get(word.lower(), word.lower()) for part in parts for word in re.findall("[A-Z]?[a-z]+", part)]
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
