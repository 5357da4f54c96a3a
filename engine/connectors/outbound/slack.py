"""The connector `io.camunda:slack:1`: methods of Slack's Web API. `ok: false` in an answer is an error."""

from __future__ import annotations

from typing import Any

from vivero.core.feel import EvaluationError, from_json
from vivero.engine.connectors.contracts.slack import CREATE, INVITE, POST, REACT
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.outbound.http_services import posting, requested
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs

URL = "https://slack.com/api/"
TRANSIENT = frozenset(("ratelimited", "internal_error", "service_unavailable", "request_timeout", "fatal_error"))
"""Errors of Slack that a repetition may not have."""


class Slack:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._http = around.contract, HttpJson(around)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The fields of Slack's answer. Raises ConnectorError."""
        inputs = Inputs(self._contract, call.inputs)
        request = posting(URL + inputs.text("method"), inputs.text("token"), _body(inputs))
        document = await requested(self._http, call, request)
        body = document["body"]
        if not isinstance(body, dict) or body.get("ok") is not True:
            error = body.get("error") if isinstance(body, dict) else None
            said = error[:200] if isinstance(error, str) else "the answer is not one of Slack's API"
            final = isinstance(error, str) and error not in TRANSIENT
            raise ConnectorError("SLACK_ERROR", said, {"response": document}, final)
        return body


def _body(inputs: Inputs) -> dict[str, Any]:
    method = inputs.text("method")
    if method == POST:
        return _message(inputs)
    if method == CREATE:
        is_private = inputs.text("data.visibility") == "PRIVATE"
        return {"name": inputs.needed_text("data.newChannelName"), "is_private": is_private}
    if method == INVITE:
        return {"channel": _id(inputs, "data.channelName"), "users": ",".join(inputs.texts("data.users"))}
    body = {"channel": _id(inputs, "data.channel"), "timestamp": inputs.needed_text("data.timestamp")}
    return body | {"name": inputs.needed_text("data.emoji").strip(":")} if method == REACT else body


def _message(inputs: Inputs) -> dict[str, Any]:
    if inputs.list("data.documents"):
        raise ConnectorError("UNSUPPORTED_DOCUMENT", "messages to Slack cannot have documents", final=True)
    body: dict[str, Any] = {"channel": _id(inputs, "data.channel")}
    if thread := inputs.text("data.thread"):
        body["thread_ts"] = thread
    if inputs.text("data.messageType") == "plainText":
        return body | {"text": inputs.needed_text("data.text")}
    return body | {"blocks": _blocks(inputs.value("data.blockContent")), "text": inputs.text("data.text")}


def _blocks(given: Any) -> list[Any]:
    """Blocks as a list, as a context with `blocks`, or as JSON text of one of these."""
    if isinstance(given, str):
        try:
            given = from_json(given)
        except EvaluationError as error:
            raise bad_input("data.blockContent is not valid JSON") from error
    blocks = given.get("blocks") if isinstance(given, dict) else given
    if not isinstance(blocks, list):
        raise bad_input("data.blockContent must be a list of blocks")
    return blocks


def _id(inputs: Inputs, name: str) -> str:
    text = inputs.needed_text(name)
    if text.startswith("@"):
        raise bad_input(f"the input {name} is the name of a person: Slack needs an id")
    return text
