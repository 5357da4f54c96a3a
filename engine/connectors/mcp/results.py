"""Results of operations on MCP servers: the fields that result expressions and agents see.

Binary contents become documents. A value that is not in a result is absent.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from vivero.core.feel import EvaluationError, from_json

Store = Callable[[str, bytes], Awaitable[Mapping[str, Any]]]
"""Stores a content of a type as a document, and gives its reference. Raises ConnectorError."""
LISTS = {
    "tools/list": ("tools", "toolDefinitions", ("name", "title", "description", "inputSchema")),
    "resources/list": ("resources", "resources", ("uri", "name", "title", "description", "mimeType", "size")),
    "resources/templates/list": (
        *("resourceTemplates", "resourceTemplates"),
        ("uriTemplate", "name", "title", "description", "mimeType"),
    ),
    "prompts/list": ("prompts", "promptDescriptions", ("name", "title", "description", "arguments")),
}
"""Method → field of the answer, field of the result, and the fields of its items."""
MOST_COMPARED = 512 * 1024
"""Characters of a text that is compared with structured content."""
_BINARY = {"image": "data", "audio": "data"}


def listed(method: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The result of a list."""
    _, name, fields = LISTS[method]
    return {name: [{field: item[field] for field in fields if item.get(field) is not None} for item in items]}


async def tool_result(name: str, answer: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """The result of a tool. Structured content replaces the text that says the same."""
    content, structured = list(answer.get("content") or []), answer.get("structuredContent")
    if structured is not None:
        content = [item for item in content if not _says(item, structured)]
    items = [await _content(item, store) for item in content]
    if structured is not None:
        items.append({"type": "object", "content": structured})
    return {"name": name, "content": items, "isError": bool(answer.get("isError"))}


async def resource_result(answer: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """The contents of a resource."""
    return {"contents": [await _resource(each, store) for each in answer.get("contents") or []]}


async def prompt_result(answer: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """The messages of a prompt."""
    messages = [
        {"role": each.get("role"), "content": await _content(each.get("content") or {}, store)}
        for each in answer.get("messages") or []
    ]
    return _present({"description": answer.get("description"), "messages": messages})


async def _content(item: Mapping[str, Any], store: Store) -> dict[str, Any]:
    kind = item.get("type")
    if kind in _BINARY:
        return {"type": "document", "document": await _stored(item, _BINARY[kind], store)}
    if kind == "resource":
        return {"type": "resource", "resource": await _resource(item.get("resource") or {}, store)}
    return {name: value for name, value in item.items() if name not in ("_meta", "annotations")}


async def _resource(resource: Mapping[str, Any], store: Store) -> dict[str, Any]:
    shown = {name: resource.get(name) for name in ("uri", "mimeType", "text")}
    if resource.get("blob") is not None:
        shown["document"] = await _stored(resource, "blob", store)
    return _present(shown)


async def _stored(item: Mapping[str, Any], field: str, store: Store) -> Mapping[str, Any]:
    try:
        content = base64.b64decode(str(item.get(field) or ""), validate=True)
    except (binascii.Error, ValueError):
        content = str(item.get(field)).encode()
    return await store(str(item.get("mimeType") or ""), content)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _says(item: Mapping[str, Any], structured: Any) -> bool:
    """Whether an item is the text of a structured content, which servers send for older clients."""
    text = item.get("text") if item.get("type") == "text" else None
    try:
        return isinstance(text, str) and len(text) <= MOST_COMPARED and bool(from_json(text) == structured)
    except (EvaluationError, ArithmeticError, RecursionError):
        return False
