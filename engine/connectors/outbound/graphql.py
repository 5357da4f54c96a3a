"""The connector `io.camunda:connector-graphql:1`: a query by HTTP. Errors in its answer fail the job."""

from __future__ import annotations

from typing import Any

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.outbound.http_services import requested
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs


class GraphQL:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._http = around.contract, HttpJson(around)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The document of the response. Raises ConnectorError, also for an answer with errors."""
        inputs = Inputs(self._contract, call.inputs)
        asked = {"query": inputs.text("graphql.query"), "variables": inputs.context("graphql.variables")}
        method = inputs.text("graphql.method")
        request = {
            "method": method,
            "url": inputs.text("graphql.url"),
            "headers": inputs.context("graphql.headers"),
            "authentication": inputs.context("authentication"),
            "connectionTimeoutInSeconds": inputs.value("graphql.connectionTimeoutInSeconds"),
        }
        in_url = {name: text_of(value) for name, value in asked.items()}
        given = {"body": asked} if method == "post" else {"queryParameters": in_url}
        document = await requested(self._http, call, request | given)
        body = document.get("body")
        if isinstance(body, dict) and body.get("errors"):
            raise ConnectorError("GRAPHQL_ERROR", _first(body["errors"]), {"response": document})
        return document


def _first(errors: Any) -> str:
    """The message of the first error."""
    first = errors[0] if isinstance(errors, list) else errors
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, str) else text_of(first)[:1000]
