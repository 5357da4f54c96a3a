"""Task: the end of messages whose time has passed (docs/messages.md).

The core gives nobody an expired message, so this only frees room, a bounded piece at a time: it looks up to which
deadline the oldest expired messages go, and appends one command that deletes those. It waits until that has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from engine.admission import NotAppended
from engine.appender import Append, Appended
from engine.core.records import ExpireMessages
from engine.supervision import Beat
from storage import channels
from storage.driver import CONNECT_TIMEOUT_S, Connection

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """How often is looked, and how much is deleted at once. Seconds and messages."""

    every_s: float = 1.0
    messages: int = 1_000
    pause_s: float = 0.05
    """Between two pieces, while there is more."""
    call_timeout_s: float = 5.0


class Appends(Protocol):
    """`engine.appender.Appender`."""

    async def append(self, item: Append, *, deadline_s: float) -> Appended: ...


class Expiry:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        appender: Appends,
        settings: ExpirySettings | None = None,
        partition: int = 1,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`leads`: whether the partition is this node's to look after."""
        self._connect = connect
        self._appender = appender
        self._settings = settings or ExpirySettings()
        self._partition = partition
        self._leads = leads
        self._connection: Connection | None = None
        self._asked: int | None = None
        """The deadline that the last command names, until it is done."""
        self.commands = 0
        """Appended so far, for metrics and tests."""

    def close(self) -> None:
        """Shut the socket, so that a call behind a black hole ends."""
        if self._connection is not None:
            self._connection.abort()

    async def run(self, beat: Beat) -> None:
        """Look every second, until cancelled. Raises when the connection is lost, to be started again."""
        settings, self._asked = self._settings, None
        beat.beat()
        with beat.waiting(CONNECT_TIMEOUT_S):
            self._connection = connection = await self._connect()
        try:
            while True:
                busy = await self.run_once(connection, beat) if self._leads() else False
                await beat.sleep(settings.pause_s if busy else settings.every_s)
        finally:
            connection.abort()

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """Append one command if messages have expired; whether some had."""
        with beat.waiting(self._settings.call_timeout_s):
            until = await channels.expired(connection, self._partition, self._settings.messages)
        if until is None or until == self._asked:
            self._asked = None  # done; or, after a whole interval, lost: then once more
            return False
        command = Append(ExpireMessages(until), "", partition=self._partition)
        try:
            with beat.waiting(self._settings.call_timeout_s):
                await self._appender.append(command, deadline_s=self._settings.call_timeout_s)
        except NotAppended as error:
            log.warning("expired messages stay for now", reason=str(error))
            return False
        self._asked = until
        self.commands += 1
        return True
