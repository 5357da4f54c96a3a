"""Listening sockets, which outlive restarts of the server task, so that clients wait and do not fail."""

import errno
import socket
from collections.abc import Sequence
from typing import Any

import trio

BACKLOG = 1024
PORT_0_ATTEMPTS = 10


class ListenError(OSError):
    """Listening on the address failed. The message names the address and the reason."""


async def open_listeners(host: str, port: int, backlog: int = BACKLOG) -> list[trio.SocketListener]:
    """Listen on `port` of every address of `host` ("" for all). Port 0 selects a free one, the same for all addresses.

    Raises ListenError: the port is in use, the address is not one of this machine, the port needs a privilege, or the
    name is unknown.
    """
    if not 0 <= port <= 65535:
        raise ListenError(f"cannot listen on port {port}: it must be between 0 and 65535")
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
            # With port 0 the first address selects the port, which may be in use on the second one.
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
        raise OSError(errno.EAFNOSUPPORT, "this machine supports none of its address families")
    return [trio.SocketListener(trio.socket.from_stdlib_socket(listener)) for listener in listeners]


def _listen(family: int, address: tuple[Any, ...], backlog: int) -> socket.socket | None:
    """A listening socket; None if the machine does not support the address family (often IPv6)."""
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return None
        raise
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit this, so that a vanished peer is noticed even if nothing is sent to it.
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
        errno.EADDRINUSE: "another program is already listening there; stop it, or choose another port",
        errno.EACCES: "this user may not use that port; choose one above 1023",
        errno.EADDRNOTAVAIL: "it is not an address of this machine",
    }
    return ListenError(f"cannot listen on {where}: {reasons.get(error.errno or 0, error.strerror or str(error))}")
