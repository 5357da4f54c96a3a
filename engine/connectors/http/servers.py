"""Servers of other protocols than HTTP: mail servers and brokers. Their addresses are checked as those of HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.addresses import AddressPolicy, ForbiddenAddress
from vivero.engine.connectors.http.transport import checked_addresses

MOST_ADDRESSES = 3
"""The addresses of a host that are tried."""


async def server_addresses(host: str, port: int, policy: AddressPolicy) -> Sequence[str]:
    """The first addresses of a host, checked all. Raises ConnectorError."""
    try:
        addresses = await checked_addresses(host, port, policy)
    except ForbiddenAddress as error:
        raise ConnectorError("FORBIDDEN_ADDRESS", str(error), final=True) from error
    except (OSError, UnicodeError) as error:
        why = f"the name of the host {host[:100]} cannot be resolved: {error}"
        raise ConnectorError("CONNECTION_FAILED", why) from error
    return addresses[:MOST_ADDRESSES]


def check_plain_login(host: str, addresses: Sequence[str], allowed: AddressPolicy) -> None:
    """Raise ConnectorError unless a password may go to these addresses without TLS: to this machine, or as allowed."""
    if not all(ip_address(each).is_loopback or allowed.names(host, each) for each in addresses):
        why = (
            f"the password would go to {host[:100]} without TLS, for everyone on the way to read: use TLS, or let"
            " connectors.plain_logins name the host"
        )
        raise ConnectorError("PLAIN_LOGIN", why, final=True)
