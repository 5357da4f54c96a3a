"""Tells systemd, or whoever else started the program, that it serves clients."""

from __future__ import annotations

import os
import socket

import structlog

from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)


def notify(state: str) -> None:
    """Send a state such as `READY=1` to the socket that `NOTIFY_SOCKET` names (sd_notify(3)), if there is one."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"  # in Linux's abstract name space
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        try:
            manager.sendto(state.encode(), address)
        except OSError as error:
            log.warning("the service manager was not told", address=address, error=describe(error))
