"""The tools of an agent: the elements that its ad-hoc sub-process can activate, as `adHocSubProcessElements` has them.

A tool has the id of its element. Its parameters come from `fromAi(toolCall.name, …)` in the element's expressions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from vivero.core.agents.errors import INVALID_INPUT, INVALID_TOOL, AgentError
from vivero.core.agents.memory.context import ToolDefinition
from vivero.core.bpmn.elements.approvals import GATEWAY

PREFIX = "toolCall."
META = "_meta"
NAME_CHARACTERS = 64
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_CHARACTERS}}}")
"""The names of tools that every provider takes."""


def tools_of(elements: Any) -> list[ToolDefinition]:
    """The tools of a list of elements, in its order, without gateways. Raises AgentError that names the element."""
    if not isinstance(elements, list) or not all(isinstance(element, dict) for element in elements):
        raise AgentError(INVALID_INPUT, "adHocSubProcessElements is not a list of elements")
    return [_tool(element) for element in elements if not is_gateway(element)]


def is_gateway(element: Mapping[str, Any]) -> bool:
    """Whether an element stands for the tools of another system."""
    return GATEWAY in (element.get("properties") or {})


def _tool(element: Mapping[str, Any]) -> ToolDefinition:
    id = element.get("elementId")
    if not isinstance(id, str) or not id:
        raise AgentError(INVALID_INPUT, "adHocSubProcessElements has an element without elementId")
    description = element.get("documentation") or element.get("elementName") or id
    return ToolDefinition(id, str(description), _schema(id, element.get("parameters") or []))


def _schema(id: str, parameters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        name = _name(id, parameter.get("name"))
        if name in properties:
            raise _invalid(id, f"the parameter '{name}' is declared twice")
        properties[name] = _property(parameter)
        is_required = (parameter.get("options") or {}).get("required", True)
        if not isinstance(is_required, bool):
            raise _invalid(id, f"options.required of the parameter '{name}' is not a boolean")
        if is_required:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _name(id: str, path: Any) -> str:
    name = str(path).removeprefix(PREFIX)
    if not str(path).startswith(PREFIX) or not name or "." in name or name == META:
        raise _invalid(id, f"fromAi takes {PREFIX}NAME with one NAME that is not {META}, not '{path}'")
    return name


def _property(parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = dict(parameter.get("schema") or {})
    given = {name: parameter[name] for name in ("type", "description") if parameter.get(name)}
    return {"type": "string", **schema, **given} if "type" in schema or "type" in given else _typed(schema, given)


def _typed(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """A schema without a type is that of a text, unless it says in another way what it allows."""
    says = any(name in schema for name in ("enum", "const", "anyOf", "oneOf", "allOf", "$ref"))
    return {**schema, **given} if says else {"type": "string", **schema, **given}


def _invalid(id: str, why: str) -> AgentError:
    return AgentError(INVALID_TOOL, f"the tool '{id}': {why}")


def alias(name: str) -> str:
    """The name of a tool for providers: letters, digits, `_` and `-`, at most 64. Most names stay as they are."""
    if _NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[: NAME_CHARACTERS - 9]
    return f"{plain}_{digest}"


def by_alias(tools: Iterable[ToolDefinition]) -> dict[str, str]:
    """The names of tools by their aliases."""
    return {alias(tool.name): tool.name for tool in tools}
