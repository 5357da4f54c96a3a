"""Calls of services with an API over HTTP, by the connector for HTTP calls: its limits, addresses and masks hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vivero.core.texts.fields import MOST_RETRY_AFTER_S, retry_after_s
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.http_json import HttpJson
from vivero.engine.connectors.work.calls import Call


async def requested(http: HttpJson, call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """The document of the response to a request in the form of `io.camunda:http-json:1`.

    Raises ConnectorError, also for a status of 400 or more: with the pause that the server demands.
    """
    try:
        return await http.answer(replace(call, inputs=request))
    except ConnectorError as error:
        error.backoff_ms = _retry_after_ms(error)
        raise


def posting(url: str, token: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A request that posts JSON with a bearer token. It follows no redirects."""
    access = {"type": "bearer", "token": token}
    return {"method": "POST", "url": url, "authentication": access, "body": body, "followRedirects": False}


def _retry_after_ms(error: ConnectorError) -> int | None:
    """The pause of the header `Retry-After` in milliseconds, at most five minutes."""
    headers = error.variables.get("response", {}).get("headers", {})
    pause_s = retry_after_s(next((value for name, value in headers.items() if name.lower() == "retry-after"), None))
    return None if pause_s is None else round(min(pause_s, MOST_RETRY_AFTER_S) * 1000)
