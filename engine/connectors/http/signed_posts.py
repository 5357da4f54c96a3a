"""Signed POSTs: events and notices on their way to another system, which can tell that they are ours."""

from __future__ import annotations

import hmac

import httpx

from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import JSON, HttpRequest

OK = range(200, 300)


async def post_signed(
    client: HttpClient, url: httpx.URL, id: str, now_s: int, content: bytes, secret: str | None
) -> str | None:
    """Send a JSON document with its id, signed if there is a secret. Returns what its status says is wrong, or None.

    Raises ConnectorError.
    """
    headers = {"Content-Type": JSON, "X-Vivero-Event-Id": id, "X-Vivero-Timestamp": str(now_s)}
    if secret is not None:
        headers["X-Vivero-Signature"] = f"sha256={signature(secret, now_s, content)}"
    timeout_s = float("inf")  # the client limits the whole call
    request = HttpRequest("POST", url, headers, content, timeout_s, timeout_s, timeout_s, follows=False)
    response = await client.call(request, Credentials())
    return None if response.status in OK else f"HTTP status {response.status}"


def signature(secret: str, timestamp_s: int, content: bytes) -> str:
    """HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal. The timestamp keeps old deliveries from being
    replayed."""
    return hmac.digest(secret.encode(), b"%d." % timestamp_s + content, "sha256").hex()
