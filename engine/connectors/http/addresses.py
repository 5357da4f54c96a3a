"""The addresses that connectors may call: public ones, and those that the operator allows.

Models choose URLs, and data of process instances may be a part of them. A call from inside the operator's network could
reach services that trust their network, such as the metadata service of a cloud.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from vivero.core.texts.fields import listed

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by providers
            "127.0.0.0/8",
            "168.63.129.16/32",  # the host of virtual machines in Azure
            "169.254.0.0/16",  # link-local, with the metadata services of clouds
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
"""The special-purpose addresses of IPv4 (RFC 6890 and the registry of IANA)."""
_PUBLIC_6 = IPv6Network("2000::/3")
"""Global unicast. All other addresses of IPv6 are local, multicast, reserved, or contain one of IPv4."""
_NOT_PUBLIC_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
"""Parts of 2000::/3 with another purpose: Teredo and others, documentation, 6to4, documentation."""
_MAPPED = IPv6Network("::ffff:0:0/96")
_LAST_BITS = tuple(
    map(IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))  # compatible, translated, NAT64
)
"""Networks of IPv6 whose addresses end with one of IPv4."""
_ISATAP = (0x00005EFE, 0x02005EFE)


class ForbiddenAddress(Exception):
    """A connector may not call this address."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """The addresses that connectors may call."""

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()
    """Names in small letters whose addresses are all allowed."""

    @classmethod
    def parse(cls, text: str) -> AddressPolicy:
        """A policy with exceptions, separated by commas: networks, addresses, names of hosts. Raises ValueError."""
        networks: list[Network] = []
        hosts: set[str] = set()
        for item in listed(text):
            network = _network(item)
            if network is not None:
                networks.append(network)
            else:
                hosts.add(_host(item))
        return cls(tuple(networks), frozenset(hosts))

    def check(self, host: str, address: str) -> None:
        """Raise ForbiddenAddress unless connectors may connect to `address`, to which the name `host` resolves."""
        if host.lower().rstrip(".") in self.hosts:
            return
        for each in _meanings(ip_address(address)):
            if not (self._allows(each) or _is_public(each)):
                raise ForbiddenAddress(f"{address} is not a public address; connectors.allowed_targets can allow it")

    def names(self, host: str, address: str) -> bool:
        """Whether an exception names this host, or its address. Public addresses alone are not enough."""
        if host.lower().rstrip(".") in self.hosts:
            return True
        return all(self._allows(each) for each in _meanings(ip_address(address)))

    def _allows(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def _network(text: str) -> Network | None:
    """A network or an address. None if the text is a name. Raises ValueError for a wrong network."""
    try:
        return ip_network(text)
    except ValueError:
        if "/" in text or ":" in text or text.replace(".", "").isdigit():
            raise
        return None


def _host(text: str) -> str:
    if any(sign in text for sign in "@*? #[]\\"):
        raise ValueError(f"'{text}' is not a network, an address or the name of a host")
    return text.lower().rstrip(".")


def _meanings(address: Address) -> Iterator[Address]:
    """The addresses that a packet to this one may reach: itself, and addresses of IPv4 inside of it."""
    if isinstance(address, IPv6Address) and address in _MAPPED:
        yield IPv4Address(int(address) & 0xFFFFFFFF)  # a socket connects to the address of IPv4
        return
    yield address
    if isinstance(address, IPv6Address):
        yield from _embedded(address)


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    bits = int(address)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _LAST_BITS) or (bits >> 32) & 0xFFFFFFFF in _ISATAP:
        yield IPv4Address(bits & 0xFFFFFFFF)


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)
