"""Cards, messages and tasks of A2A agents as results have them, bounded, whatever the other side sends.

Source: the A2A specification 0.3.0, sections 5 (cards), 6.1 (tasks) and 6.4 (messages); the results that Camunda
documents for its client.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_ERROR
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.documents import bounded

Store = Callable[[str, bytes, str | None], Awaitable[Mapping[str, Any]]]
"""Stores a file with its type and name, and gives the reference to it."""

MOST_LIST_ITEMS = 200
"""The skills of a card, the parts of a message, the messages and artifacts of a task."""
UNFINISHED = ("submitted", "working")
_SKILL = ("id", "name", "description", "tags", "examples", "inputModes", "outputModes")
_MESSAGE = ("role", "messageId", "contextId", "taskId", "referenceTaskIds", "metadata")


def wrong(why: str) -> ConnectorError:
    """The answer of an agent that is not of the protocol."""
    return ConnectorError(A2A_ERROR, f"the agent answers wrongly: {why}")


def card_result(card: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a card that models and other agents need."""
    name = card.get("name")
    if not isinstance(name, str) or not name:
        raise wrong("its card has no name")
    skills = [_present(each, _SKILL) for each in _contexts(card.get("skills"), "skills")]
    return {"kind": "agentCard", "name": name, "description": str(card.get("description") or ""), "skills": skills}


async def answer_result(answer: Any, store: Store) -> dict[str, Any]:
    """A message or a task. Raises ConnectorError."""
    store = bounded(store, A2A_ERROR)
    kind = answer.get("kind") if isinstance(answer, dict) else None
    if kind == "message":
        return await _message(answer, store)
    if kind != "task":
        raise wrong("it is neither a message nor a task")
    return await _task(answer, store)


def state_of(answer: Any) -> str | None:
    """The state of a task. None: it is a message."""
    if not isinstance(answer, dict) or answer.get("kind") != "task":
        return None
    status = answer.get("status")
    state = status.get("state") if isinstance(status, dict) else None
    if not isinstance(state, str) or not isinstance(answer.get("id"), str):
        raise wrong("its task has no id or no state")
    return state


async def _task(task: Mapping[str, Any], store: Store) -> dict[str, Any]:
    state, status = state_of(task), task["status"]
    shown = {"state": state, **_present(status, ("timestamp",))}
    if isinstance(status.get("message"), dict):
        shown["message"] = await _message(status["message"], store)
    found = {"kind": "task", **_present(task, ("id", "contextId", "metadata")), "status": shown}
    artifacts = [
        {**_present(each, ("artifactId", "name", "description", "metadata")), "contents": await _contents(each, store)}
        for each in _contexts(task.get("artifacts"), "artifacts")
    ]
    history = [await _message(each, store) for each in _contexts(task.get("history"), "history")]
    return found | ({"artifacts": artifacts} if artifacts else {}) | ({"history": history} if history else {})


async def _message(message: Mapping[str, Any], store: Store) -> dict[str, Any]:
    return {"kind": "message", **_present(message, _MESSAGE), "contents": await _contents(message, store)}


async def _contents(holder: Mapping[str, Any], store: Store) -> list[dict[str, Any]]:
    return [await _content(part, store) for part in _contexts(holder.get("parts"), "parts")]


async def _content(part: Mapping[str, Any], store: Store) -> dict[str, Any]:
    kind = part.get("kind")
    if kind == "text":
        return {"type": "text", "text": str(part.get("text") or "")}
    if kind == "data":
        return {"type": "object", "content": part.get("data")}
    file = part.get("file")
    if kind != "file" or not isinstance(file, dict):
        raise wrong("a part is neither text, data nor file")
    if file.get("bytes") is None:
        return {"type": "object", "content": _present(file, ("uri", "name", "mimeType"))}
    try:
        content = base64.b64decode(str(file["bytes"]), validate=True)
    except (binascii.Error, ValueError):
        raise wrong("a file is not Base64") from None
    name = file.get("name")
    return {
        "type": "document",
        "document": await store(str(file.get("mimeType") or ""), content, name if isinstance(name, str) else None),
    }


def _contexts(given: Any, what: str) -> list[dict[str, Any]]:
    items = [] if given is None else given
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise wrong(f"{what} is not a list of objects")
    if len(items) > MOST_LIST_ITEMS:
        raise wrong(f"{what} has more than {MOST_LIST_ITEMS} items")
    return items


def _present(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}
