"""The handle of a task with a connection of its own: others wake it, drain it, and shut its socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.postgres.driver import Connection


class ConnectedTask:
    """The part that such handles share. Their `run` is the child."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connection = DedicatedConnection(connect)
        self._wake = WakeUp()
        self._draining = False

    def drain(self) -> None:
        """Begin nothing more. `run` returns when what runs has ended or gone back."""
        self._draining = True
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()
