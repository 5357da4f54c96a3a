"""The settings that a client takes from the environment: the server's address, credentials, proxies, certificates."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from vivero.client.answers import BadAddress, NotSendable, why_not_sendable
from vivero.client.http1.connections import KeptConnections, reaches
from vivero.core.texts.hosts import is_loopback

DEFAULT_ADDRESS = "http://localhost:8080"
ADDRESS_VARIABLES = ("VIVERO_ADDRESS", "CAMUNDA_REST_ADDRESS")

Credentials = str | tuple[str, str]
"""An API token or a bearer token; or a user's name and password."""


def address_from(given: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The server's address, without `/v2`: the given one, one of the environment, or the default. Raises BadAddress."""
    environment = os.environ if environment is None else environment
    found = [value for value in (given, *map(environment.get, ADDRESS_VARIABLES)) if value]
    return normalised(found[0] if found else DEFAULT_ADDRESS)


def normalised(address: str) -> str:
    """`http://host:port` for any of the usual spellings of an address. Raises BadAddress."""
    whole = address if "://" in address else f"http://{address}"
    try:
        parts = urlsplit(whole)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError as error:
        raise BadAddress(f"'{address}' is not a valid server address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress(f"'{address}' is not a valid server address: use the form {DEFAULT_ADDRESS}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/').removesuffix('/v2')}"


def credentials_from(environment: Mapping[str, str] | None = None) -> Credentials | None:
    """The credentials in the environment: VIVERO_TOKEN, or VIVERO_USERNAME and VIVERO_PASSWORD."""
    environment = os.environ if environment is None else environment
    if token := environment.get("VIVERO_TOKEN"):
        return token
    username = environment.get("VIVERO_USERNAME")
    return (username, environment.get("VIVERO_PASSWORD", "")) if username else None


UNPACKED = {"accept-encoding": "identity"}


def http_client(
    address: str,
    credentials: Credentials | None,
    timeout_s: float,
    transport: httpx.AsyncBaseTransport | None = None,
    connections: int | None = None,
) -> httpx.AsyncClient:
    """A client for a server, which opens and keeps so many `connections`; None: as many as httpx does by default.

    Raises NotSendable if the environment or the credentials do not allow a client.
    """
    with _made(address):
        return httpx.AsyncClient(transport=transport, **_settings(address, credentials, timeout_s, connections))


def blocking_http_client(
    address: str,
    credentials: Credentials | None,
    timeout_s: float,
    transport: httpx.BaseTransport | None = None,
    connections: int | None = None,
) -> httpx.Client:
    """As `http_client`, for a client that blocks."""
    with _made(address):
        return httpx.Client(transport=transport, **_settings(address, credentials, timeout_s, connections))


@contextmanager
def _made(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
        # such as a proxy of the environment that is no URL, or certificates that cannot be read
        raise NotSendable(f"a client for {address} cannot be made: {why_not_sendable(error)}") from error


def _settings(
    address: str, credentials: Credentials | None, timeout_s: float, connections: int | None
) -> dict[str, Any]:
    if isinstance(credentials, tuple):
        _check_encodable(credentials)
    return {
        "base_url": address,
        "timeout": timeout_s,
        # the environment's proxy cannot reach our loopback interface
        "trust_env": not is_loopback(urlsplit(address).hostname or ""),
        "verify": _certificates(address.startswith("https:")),
        "limits": httpx.Limits(max_connections=connections or 100, max_keepalive_connections=connections or 20),
        "auth": credentials if isinstance(credentials, tuple) else None,
        "headers": UNPACKED | (_bearer(credentials) if isinstance(credentials, str) else {}),
    }


def connections_to(
    address: str, credentials: Credentials | None, timeout_s: float, connections: int | None
) -> KeptConnections | None:
    """Connections of our own to a server; None if only httpx can reach it. Raises as `http_client` does."""
    with _made(address):
        found = _settings(address, credentials, timeout_s, connections)
        if not reaches(address, is_local=not found["trust_env"]):
            return None
        tls: ssl.SSLContext | None = found["verify"] if address.startswith("https:") else None
        if tls is not None:
            tls.set_alpn_protocols(["http/1.1"])
        return KeptConnections(address, found["headers"], found["auth"], tls, timeout_s, connections)


def _certificates(secure: bool) -> ssl.SSLContext:
    """The certificates that the client trusts: those that SSL_CERT_FILE names, or none where nothing speaks TLS.

    A twentieth of a second of CPU goes into reading them.
    """
    return httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _check_encodable(credentials: tuple[str, str]) -> None:
    """Raises NotSendable, without the password."""
    try:
        ":".join(credentials).encode()
    except UnicodeEncodeError:
        raise NotSendable("the user's name or password has bytes that are not UTF-8") from None


def _bearer(token: str) -> dict[str, str]:
    """The header with a token. Raises NotSendable, without the token."""
    if not token:
        return {}
    if not (token.isascii() and token.isprintable()):
        raise NotSendable("the token has characters that a token cannot have, such as the end of a line")
    return {"authorization": f"Bearer {token}"}
