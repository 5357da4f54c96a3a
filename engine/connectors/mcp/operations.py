"""Operations on an MCP server: from the inputs of an element to a request, and from its answer to the result.

Source of names: the element templates `io.camunda.connectors.agenticai.mcp.client.v0` and `….remoteclient.v0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from vivero.engine.connectors.contracts.tool_servers.mcp import (
    AS_TOOL,
    INVALID_METHOD,
    INVALID_PARAMS,
    METHODS,
    STANDALONE,
)
from vivero.engine.connectors.errors import ConnectorError, bad_input

CALL = "tools/call"
MOST_LISTED, MOST_TOOLS = 1000, 128
"""Items of a list; the tools that one server gives to an agent."""
_NAMED = {  # method → parameter → (input of the template, whether it is required)
    CALL: {"name": ("toolName", True), "arguments": ("toolArguments", False)},
    "resources/read": {"uri": ("resourceUri", True)},
    "prompts/get": {"name": ("promptName", True), "arguments": ("promptArguments", False)},
}


@dataclass(frozen=True, slots=True)
class Filter:
    """The tools, resources or prompts that may be used. `included` empty: all."""

    included: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def passes(self, name: str) -> bool:
        return (not self.included or name in self.included) and name not in self.excluded


@dataclass(frozen=True, slots=True)
class Operation:
    """One request. `most`: the items of a list."""

    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any] | None
    filter: Filter
    most: int = MOST_LISTED

    @property
    def name(self) -> str:
        """The tool, resource or prompt of the request; empty for a list."""
        return str(self.params.get("name") or self.params.get("uri") or "")


def read_operation(data: Mapping[str, Any]) -> Operation:
    """The operation of the input `data`, of all versions of the templates. Raises ConnectorError."""
    mode = _context(data, "connectorMode")
    kind = str(mode.get("type") or "").strip().lower()
    if kind not in ("", STANDALONE.lower(), AS_TOOL.lower()):
        raise bad_input(f"data.connectorMode.type must be {STANDALONE} or {AS_TOOL}")
    if kind == STANDALONE.lower():
        asked, filters = _context(mode, "operation"), _context(mode, "standaloneModeFilters")
        most = MOST_LISTED
    else:  # version 0 has no mode
        asked = _context(mode, "toolOperation") or _context(data, "operation")
        filters = _context(mode, "toolModeFilters") or {"tools": data.get("tools")}
        most = MOST_TOOLS
    method = str(asked.get("type") or asked.get("method") or "").strip()
    if method not in METHODS:
        raise ConnectorError(INVALID_METHOD, f"the method must be one of {', '.join(METHODS)}", final=True)
    meta = asked.get("meta")
    if meta is not None and not isinstance(meta, dict):
        raise _invalid("meta must be a context")
    filter = _filter(_context(filters, method.partition("/")[0]))
    return Operation(method, _params(method, asked), None if meta is None else plain(meta), filter, most)


def _params(method: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a method: of `params`, or of the inputs that the template has for it."""
    found = {}
    params = asked.get("params")
    if params is not None and not isinstance(params, dict):
        raise _invalid("params must be a context")
    for name, (input, required) in _NAMED.get(method, {}).items():
        value = (params or {}).get(name) if params is not None else asked.get(input)
        if value is None and not required:
            continue
        expected: type = dict if name == "arguments" else str
        if not isinstance(value, expected) or value == "":
            raise _invalid(f"{input} must be {'a context' if expected is dict else 'a text'}")
        found[name] = plain(value)
    if method == "prompts/get":
        for name, value in found.get("arguments", {}).items():
            if not isinstance(value, str):
                raise _invalid(f"the argument '{name}' of a prompt must be a text")
    return found


def _filter(given: Mapping[str, Any]) -> Filter:
    return Filter(_names(given, "included"), _names(given, "excluded"))


def _names(given: Mapping[str, Any], name: str) -> frozenset[str]:
    """Raises ConnectorError: a filter that is not understood must not let everything pass."""
    value = given.get(name)
    if value is None or value == "":
        return frozenset()
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        raise bad_input(f"the filter {name} must be a list of names")
    return frozenset(items)


def _context(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = given.get(name)
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise bad_input(f"{name} must be a context")
    return value


def _invalid(why: str) -> ConnectorError:
    return ConnectorError(INVALID_PARAMS, why, final=True)


def plain(value: Any) -> Any:
    """The value with numbers as JSON libraries write them."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def error_result(operation: Operation, why: str) -> dict[str, Any]:
    """The result of a tool that was not called, or whose call failed."""
    return {"name": operation.name, "content": [{"type": "text", "text": why}], "isError": True}
