"""Listening sockets, opened outside the server task: they survive its restarts, and clients wait instead of failing."""

import errno
import socket
from collections.abc import Sequence
from typing import Any

import trio

BACKLOG = 1024
PORT_0_ATTEMPTS = 10


class ListenError(OSError):
    """The address cannot be listened on; the message says which, and why."""


async def open_listeners(host: str, port: int, backlog: int = BACKLOG) -> list[trio.SocketListener]:
    """Listen on `port` of every address of `host` ("" for all). Port 0 takes a free one, the same for every address.

    Raises ListenError: the port is taken, the address is not ours, the port needs a privilege, the name is unknown.
    """
    if not 0 <= port <= 65535:
        raise ListenError(f"cannot listen on port {port}: it is not between 0 and 65535")
    try:
        found = await trio.socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (socket.gaierror, UnicodeError) as error:
        raise ListenError(f"cannot listen on {host}: {error}") from error
    addresses = list(dict.fromkeys((family, address) for family, _, _, _, address in found))
    for attempt in range(PORT_0_ATTEMPTS):
        try:
            return _listen_on_all(addresses, port, backlog)
        except OSError as error:
            # With port 0 the first address chooses, and the choice can be taken on the second.
            if port != 0 or error.errno != errno.EADDRINUSE or attempt == PORT_0_ATTEMPTS - 1:
                raise _explained(error, host, port) from error
    raise AssertionError("unreachable")


def _listen_on_all(
    addresses: Sequence[tuple[int, tuple[Any, ...]]], port: int, backlog: int
) -> list[trio.SocketListener]:
    listeners: list[socket.socket] = []
    try:
        for family, address in addresses:
            listener = _listen(family, (address[0], port, *address[2:]), backlog)
            if listener is not None:
                listeners.append(listener)
                port = listener.getsockname()[1]
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    if not listeners:
        raise OSError(errno.EAFNOSUPPORT, "no address family of it is supported here")
    return [trio.SocketListener(trio.socket.from_stdlib_socket(listener)) for listener in listeners]


def _listen(family: int, address: tuple[Any, ...], backlog: int) -> socket.socket | None:
    """A listening socket, None if the machine lacks the address family (IPv6, often)."""
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return None
        raise
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by the accepted sockets: a peer that vanished is noticed even while nothing is sent to it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(backlog)
    except BaseException:
        listener.close()
        raise
    return listener


def _explained(error: OSError, host: str, port: int) -> ListenError:
    where = f"port {port} of {host or 'any address'}"
    reasons = {
        errno.EADDRINUSE: "another program is already listening there",
        errno.EACCES: "the system does not allow this user to use that port",
        errno.EADDRNOTAVAIL: "it is not an address of this machine",
    }
    return ListenError(f"cannot listen on {where}: {reasons.get(error.errno or 0, error.strerror or str(error))}")
