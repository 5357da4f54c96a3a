"""The broker that the inputs of a connector name: by a URI, or by host, port, virtual host and a login."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from vivero.engine.connectors.contracts.brokers.rabbitmq import PORT, TLS_PORT, URI
from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.http.servers import check_plain_login, server_addresses
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

GUEST = "guest"
"""The login of a URI without one, as all clients of RabbitMQ have it."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker. `addresses` are those of the host, and are checked."""

    host: str
    port: int
    is_tls: bool
    addresses: Sequence[str]
    virtual_host: str
    login: tuple[str, str]
    """Name and password."""


async def broker_of(inputs: Inputs, settings: ConnectorSettings, used: UsedSecrets) -> Broker:
    """The broker of a call. Raises ConnectorError."""
    by_uri = inputs.text("authentication.authType") == URI
    host, port, is_tls, virtual_host, login = (_of_uri if by_uri else _of_credentials)(inputs)
    used.hide(login[1])
    addresses = await server_addresses(host, port, settings.addresses)
    if not is_tls:
        check_plain_login(host, addresses, settings.plain_login_targets)
    return Broker(host, port, is_tls, addresses, virtual_host, login)


_Found = tuple[str, int, bool, str, tuple[str, str]]


def _of_credentials(inputs: Inputs) -> _Found:
    """The template has no input for TLS. Its port decides: 5671 is that of TLS."""
    host, port = inputs.line("routing.hostName").strip(), inputs.whole("routing.port", 1, 65535)
    login = inputs.line("authentication.userName"), inputs.line("authentication.password")
    if not host:
        raise bad_input("the input routing.hostName is missing")
    if "" in login:
        raise bad_input("authentication.userName and authentication.password are missing")
    return host, port, port == TLS_PORT, inputs.line("routing.virtualHost"), login


def _of_uri(inputs: Inputs) -> _Found:
    """As RabbitMQ describes its URIs: `amqps://name:password@host:port/virtual%2Fhost`. Errors have no part of it."""
    try:
        uri = urlsplit(inputs.line("authentication.uri").strip())
        given_port = uri.port
    except ValueError:
        raise bad_input("authentication.uri is not a URI: its host or port is not valid") from None
    if uri.scheme not in ("amqp", "amqps") or not uri.hostname:
        raise bad_input("authentication.uri must be like amqps://name:password@host:5671/virtualHost")
    is_tls = uri.scheme == "amqps"
    path = uri.path.removeprefix("/")
    if "/" in path:
        raise bad_input("a slash in the virtual host of authentication.uri must be written as %2F")
    return uri.hostname, given_port or (TLS_PORT if is_tls else PORT), is_tls, unquote(path) or "/", _login(uri)


def _login(uri: SplitResult) -> tuple[str, str]:
    """Both parts, or neither: an empty password is a secret that is missing."""
    if uri.username is None and uri.password is None:
        return GUEST, GUEST
    login = unquote(uri.username or ""), unquote(uri.password or "")
    if "" in login:
        raise bad_input("authentication.uri has only one of name and password")
    return login
