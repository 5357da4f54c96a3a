"""Names and addresses of hosts."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """True if only this machine can reach the host: a name, or an address without brackets."""
    name = host.lower()
    return name == "localhost" or name.endswith(".localhost") or (is_address(name) and ip_address(name).is_loopback)


def is_address(name: str) -> bool:
    """True for an IP address of either version."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
