"""SIGHUP: it reads the certificate again, and never ends the program in the middle of its work."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import structlog
import trio

log = structlog.get_logger(__name__)


class Hangup:
    """The reaction to a SIGHUP: `reload`, or a line in the log. Only the end of the terminal stops the program."""

    def __init__(self) -> None:
        self.reload: Callable[[], None] | None = None

    async def run(self, stop: trio.Event) -> None:
        """Answer each SIGHUP, until cancelled. Without this, the signal ends the process at once.

        A program that someone started in a terminal, and not with nohup, stops in good order when the terminal closes:
        nobody would see it any more, and it would keep its port.
        """
        bound = has_terminal() and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        with trio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                if bound and not has_terminal():
                    log.info("stopping: its terminal was closed", signal="SIGHUP")
                    stop.set()
                elif self.reload is not None:
                    self.reload()
                else:
                    log.warning("SIGHUP is ignored without TLS: restart the program to read its settings")


def has_terminal() -> bool:
    """Whether this process belongs to a terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
