"""The mail server that inputs name, for mails that go out and for those that come in."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import httpx

from vivero.engine.connectors.contracts.email import NO_AUTHENTICATION, PLAIN
from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.http.servers import check_plain_login, server_addresses
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """One for all servers but those of HTTP, whose context offers HTTP by ALPN: some servers break off then."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class MailServer:
    """A server, as the inputs name it. `addresses` are those of the host, and are checked."""

    host: str
    port: int
    security: str
    addresses: Sequence[str]
    login: tuple[str, str] | None
    """Name and password."""
    context: ssl.SSLContext


async def mail_server(inputs: Inputs, prefix: str, settings: ConnectorSettings, used: UsedSecrets) -> MailServer:
    """The server of the inputs that begin with `prefix`, as `data.smtpConfig.smtp`. Raises ConnectorError."""
    host, port = inputs.line(f"{prefix}Host").strip(), inputs.whole(f"{prefix}Port", 1, 65535)
    security = inputs.text(f"{prefix}CryptographicProtocol")
    login = _login(inputs, used)
    addresses = await server_addresses(host, port, settings.addresses)
    if login is not None and security == PLAIN:
        check_plain_login(host, addresses, settings.plain_login_targets)
    return MailServer(host, port, security, addresses, login, tls_context())


def _login(inputs: Inputs, used: UsedSecrets) -> tuple[str, str] | None:
    if inputs.text("authentication.type") == NO_AUTHENTICATION:
        return None
    login = inputs.line("authentication.username"), inputs.line("authentication.password")
    if "" in login:
        raise bad_input("authentication.username and authentication.password are missing")
    used.hide(login[1])
    used.hide(f"\0{login[0]}\0{login[1]}")  # as AUTH PLAIN sends them in Base64
    return login
