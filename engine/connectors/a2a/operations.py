"""Operations on an A2A agent, from the inputs of an element.

Source of names: the template `io.camunda.connectors.agenticai.a2a.client.v0` and the documentation of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any

from vivero.engine.connectors.contracts.tool_servers.a2a import (
    BLOCKING,
    FETCH_CARD,
    HISTORY,
    NOTIFICATION,
    POLLING,
    SEND_MESSAGE,
)
from vivero.engine.connectors.contracts.tool_servers.mcp import AS_TOOL
from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.jobs.durations import seconds

DEFAULT_TIMEOUT_S = 60.0
MOST_HISTORY = 1000
MOST_REFERENCES = 100
TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class Notification:
    """The place where the agent tells of its task, and what it shows there."""

    url: str
    token: str
    """It is random if the model has none."""
    authentication: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message to an agent."""

    text: str
    context_id: str | None
    task_id: str | None
    references: list[str]
    documents: list[Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The way in which an answer comes, as the author of the model chose it."""

    retrieval: str
    notification: Notification | None
    history: int
    timeout_s: float


@dataclass(frozen=True, slots=True)
class MessageOperation:
    """A message to an agent, whose parameters are not read yet: the model of an AI agent may have chosen them."""

    params: Mapping[str, Any]
    settings: Settings
    is_tool: bool

    def message(self) -> SentMessage:
        """Raises ConnectorError for wrong parameters."""
        params = self.params
        text = _text(params, "text")
        if text is None:
            raise bad_input("the input params.text is missing")
        return SentMessage(
            text,
            _text(params, "contextId"),
            _text(params, "taskId"),
            _references(params.get("referenceTaskIds")),
            _list(params.get("documents"), "params.documents"),
        )


def read_operation(inputs: Inputs) -> MessageOperation | None:
    """The message of the inputs. None: the card is asked for. Raises ConnectorError."""
    mode = "data.connectorMode"
    is_tool = inputs.text(f"{mode}.type") == AS_TOOL
    if is_tool:
        operation = inputs.text(f"{mode}.toolOperation.operation").strip()
        params = inputs.context(f"{mode}.toolOperation.params")
        settings = inputs.context(f"{mode}.toolOperation.sendMessageSettings")
    else:
        operation = inputs.text(f"{mode}.operation.type")
        names = ("text", "contextId", "taskId", "referenceTaskIds", "documents")
        params = {name: inputs.value(f"{mode}.operation.params.{name}") for name in names}
        settings = inputs.context(f"{mode}.operation.settings")
    if operation == FETCH_CARD:
        return None
    if operation != SEND_MESSAGE:
        raise bad_input(f"the operation must be {FETCH_CARD} or {SEND_MESSAGE}")
    retrieval, notification = _retrieval(settings.get("responseRetrievalMode"))
    history, timeout_s = _history(settings.get("historyLength")), _timeout_s(settings.get("timeout"))
    return MessageOperation(params, Settings(retrieval, notification, history, timeout_s), is_tool)


def _retrieval(given: Any) -> tuple[str, Notification | None]:
    where = "settings.responseRetrievalMode"
    if given is None or given == "":
        return BLOCKING, None
    if not isinstance(given, dict):
        raise bad_input(f"{where} must be a context")
    kind = str(given.get("type") or BLOCKING).strip().lower()
    if kind not in (BLOCKING, POLLING, NOTIFICATION):
        raise bad_input(f"{where}.type must be {BLOCKING}, {POLLING} or {NOTIFICATION}")
    if kind != NOTIFICATION:
        return kind, None
    url = _text(given, "webhookUrl")
    if url is None:
        raise bad_input(f"{where}.webhookUrl is missing")
    schemes, credentials = (
        _list(given.get("authenticationSchemes"), f"{where}.authenticationSchemes"),
        given.get("credentials"),
    )
    authentication = None
    if schemes:
        authentication = {"schemes": schemes} | ({} if credentials is None else {"credentials": str(credentials)})
    return kind, Notification(url, _text(given, "token") or token_urlsafe(TOKEN_BYTES), authentication)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise bad_input(f"{name} must be a text")
    return value if value and value.strip() else None


def _list(value: Any, where: str) -> list[Any]:
    if value is None or value == "":
        return []
    items = value if isinstance(value, list) else [value]
    if len(items) > MOST_REFERENCES:
        raise bad_input(f"{where} has more than {MOST_REFERENCES} items")
    return items


def _references(value: Any) -> list[str]:
    items = _list(value, "params.referenceTaskIds")
    if not all(isinstance(item, str) and item for item in items):
        raise bad_input("params.referenceTaskIds must be a list of texts")
    return items


def _history(value: Any) -> int:
    if value is None or value == "":
        return HISTORY
    text = str(value).strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > MOST_HISTORY:
        raise bad_input(f"settings.historyLength must be a whole number from 0 to {MOST_HISTORY}")
    return int(text)


def _timeout_s(value: Any) -> float:
    try:
        found_s = DEFAULT_TIMEOUT_S if value is None or value == "" else seconds(str(value))
    except ValueError as error:
        raise bad_input(f"settings.timeout: {error}") from error
    if found_s <= 0:
        raise bad_input("settings.timeout must be longer than zero")
    return found_s
