"""The connector `io.camunda:sendgrid:1`: one e-mail by SendGrid's `v3/mail/send`, of a text or of a template."""

from __future__ import annotations

import base64
from typing import Any

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.outbound.http_services import posting, requested
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs

URL = "https://api.sendgrid.com/v3/mail/send"
ACCEPTED = 202


class SendGrid:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._documents, self._http = around.contract, around.documents, HttpJson(around)

    async def answer(self, call: Call) -> dict[str, Any]:
        """Status and headers of SendGrid's answer. Raises ConnectorError unless it accepts the mail."""
        inputs = Inputs(self._contract, call.inputs)
        key, body = inputs.text("apiKey"), _body(inputs)
        given = inputs.list("attachments")
        if not given:
            return await self._send(call, key, body)
        if self._documents is None:
            raise bad_input("documents are not supported here")
        async with self._documents.turn():
            files = await self._documents.files(given, call.job.tenant_id)
            body["attachments"] = [
                {"content": base64.b64encode(each.content).decode(), "filename": each.name, "type": each.content_type}
                for each in files
            ]
            return await self._send(call, key, body)

    async def _send(self, call: Call, key: str, body: dict[str, Any]) -> dict[str, Any]:
        document = await requested(self._http, call, posting(URL, key, body))
        if document["status"] != ACCEPTED:
            raise ConnectorError(str(document["status"]), "SendGrid did not accept the mail", {"response": document})
        return {"status": ACCEPTED, "headers": document["headers"]}


def _body(inputs: Inputs) -> dict[str, Any]:
    recipient: dict[str, Any] = {"to": [_person(inputs, "to")]}
    body: dict[str, Any] = {"personalizations": [recipient], "from": _person(inputs, "from")}
    if template := inputs.text("template.id"):
        recipient["dynamic_template_data"] = inputs.context("template.data")
        return body | {"template_id": template}
    content = {"type": inputs.text("content.type"), "value": inputs.text("content.value")}
    return body | {"subject": inputs.text("content.subject"), "content": [content]}


def _person(inputs: Inputs, name: str) -> dict[str, str]:
    person = {"email": inputs.text(f"{name}.email")}
    return person | ({"name": shown} if (shown := inputs.text(f"{name}.name")) else {})
