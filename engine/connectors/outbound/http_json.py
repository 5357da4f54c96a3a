"""The connector `io.camunda:http-json:1`: from the inputs of a job to the document `{status, headers, body}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from vivero.core.feel import EvaluationError, from_json
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.authentication import Authentication
from vivero.engine.connectors.http.charsets import decoded
from vivero.engine.connectors.http.http_client import HttpResponse
from vivero.engine.connectors.http.requests import HttpRequest, flag, read_request
from vivero.engine.connectors.outbound.documents import CallDocuments, needs_files
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.secrets import UsedSecrets

UNAUTHORIZED, LEAST_ERROR = 401, 400


class HttpJson:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._client, self._documents = around.client, around.documents
        self._authentication = Authentication(self._client.post)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The document of the response. Raises ConnectorError, also for a status of 400 or more."""
        job, inputs, used = call.job, call.inputs, call.used
        stores = flag(inputs, "storeResponse", False)
        if not stores and not needs_files(inputs):
            return await self._exchange(read_request(inputs), job, inputs, used)
        if self._documents is None:
            raise bad_input("documents are not supported here")
        async with self._documents.turn():
            if needs_files(inputs):
                inputs = await self._documents.with_files(inputs, job.tenant_id)
            request = read_request(inputs)
            if stores:
                request = replace(request, max_response_bytes=self._documents.max_bytes)
            return await self._exchange(request, job, inputs, used, self._documents if stores else None)

    async def _exchange(
        self,
        request: HttpRequest,
        job: ConnectorJob,
        inputs: Mapping[str, Any],
        used: UsedSecrets,
        stored_in: CallDocuments | None = None,
    ) -> dict[str, Any]:
        credentials = await self._authentication.credentials(inputs.get("authentication"), used)
        response = await self._client.call(request, credentials)
        if stored_in is not None and response.status < LEAST_ERROR:
            head: dict[str, Any] = used.mask(response_document(replace(response, body=b"")))
            kind = used.mask(response.header("content-type") or "")
            reference = await stored_in.store(job, kind, await used.mask_file(response.body))
            return {**head, "document": reference}
        if len(response.body) > self._client.max_response_bytes:  # of an error that is not stored
            raise ConnectorError(str(response.status), reason(response.status))
        document: dict[str, Any] = used.mask(response_document(response))
        if response.status == UNAUTHORIZED:
            self._authentication.forget(credentials)
        if response.status >= LEAST_ERROR:
            raise ConnectorError(str(response.status), reason(response.status), {"response": document})
        return document


def response_document(response: HttpResponse) -> dict[str, Any]:
    """Status, headers and body. A body that is not JSON is a text; an empty one is null."""
    headers: dict[str, Any] = {}
    for name, value in response.headers:
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return {
        "status": response.status,
        "headers": headers,
        "body": _body(decoded(response.body, response.header("content-type") or "")),
    }


def _body(text: str) -> Any:
    if not text:
        return None
    try:
        return without_nul(from_json(text)) if "\\u0000" in text else from_json(text)
    except EvaluationError:
        return text.replace("\0", "\ufffd")


def without_nul(value: Any) -> Any:
    """The value as PostgreSQL can store it."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {without_nul(name): without_nul(item) for name, item in value.items()}
    return [without_nul(item) for item in value] if isinstance(value, list) else value


def reason(status: int) -> str:
    """The phrase of a status, such as Not Found."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"HTTP status {status}"
