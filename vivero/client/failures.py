"""Exceptions of the HTTP library as those of the client: whether the request was sent, and why there is no answer."""

from __future__ import annotations

import re
from collections.abc import Set

import httpx

from vivero.client.answers import ClientError, NotSendable, Unreachable, why_not_sendable

NOT_SENT_OR_LOST = (ValueError, OverflowError, RecursionError, httpx.InvalidURL, httpx.HTTPError)
"""All that a request may raise before there is an answer."""
TEMPORARY_REDIRECT = 307
_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout)
_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


def failure_of(error: Exception, address: str) -> ClientError:
    """The failure of a request to this address. One that may have arrived is `in_doubt`."""
    if isinstance(error, _NOT_CONNECTED):
        reason = _reason(error)
        if "WRONG_VERSION_NUMBER" in reason:
            plain = address.replace("https:", "http:", 1)
            return Unreachable(f"the server at {address} does not speak TLS: use {plain}")
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            advice = "SSL_CERT_FILE names a file with the certificate of its authority"
            return Unreachable(f"the certificate of {address} is not trusted ({reason}): {advice}")
        return Unreachable(f"no server answers at {address} ({reason}): is `vivero up` running?")
    if isinstance(error, httpx.PoolTimeout):
        return Unreachable(f"all connections of this client to {address} are in use: give it more `connections`")
    if isinstance(error, httpx.HTTPError) and not isinstance(error, httpx.UnsupportedProtocol):
        return Unreachable(f"{address} did not answer: {_reason(error)}", in_doubt=True)
    return NotSendable(f"the request cannot be sent to {address}: {why_not_sendable(error)}")


def _reason(error: Exception) -> str:
    """The first text of the error and its causes. Under Trio, failures of TLS have theirs in the cause alone."""
    cause: BaseException | None = error
    while cause is not None and not str(cause):
        cause = cause.__cause__ or cause.__context__
    return _ERROR_NUMBER.sub("", str(cause)) if cause is not None else type(error).__name__


def redirect_of(response: httpx.Response, nodes: Set[str]) -> str | None:
    """The URL at which to repeat a request that another node leads; None if it is answered.

    Credentials go to the given nodes only. Instead of any other, the same node gets the request with the mark of the
    redirect, and carries it out itself.
    """
    location = str(response.headers.get("location", ""))
    if response.status_code != TEMPORARY_REDIRECT or not location:
        return None
    try:
        url = httpx.URL(location)
    except (httpx.InvalidURL, ValueError):
        return None
    if any(location.startswith(f"{node}/") for node in nodes):
        return location
    path = str(url.raw_path, "ascii")
    return path if path.startswith("/") else None  # the path of "x:http://host/" is an address of another server
