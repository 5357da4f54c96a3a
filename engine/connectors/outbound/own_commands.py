"""Commands that a connector gives to the engine of its own cluster, and their outcomes.

A command has an idempotency key that follows from its job: a call that is made again after a crash has the outcome of
the first one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import msgspec
import trio

from vivero.core.records.base import Command
from vivero.core.records.codec import encode_command
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.work.inputs import unavailable
from vivero.engine.outcomes.admission import Draining, NotAppended, ValueRejected
from vivero.engine.outcomes.replies import OutcomeRegistry, Reply, reply_by
from vivero.storage.cluster import routes
from vivero.storage.log.command_log import Appended, CommandOutcome
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError

PAUSE_S = 0.5
"""The pause before a command that was not appended is tried again."""
WAIT_S = 10.0
"""The wait for an outcome before the command is appended again, with the same key."""
MOST_REJECTED = 100
"""Attempts of one job whose commands were rejected, and whose keys are passed over."""


@dataclass(frozen=True, slots=True)
class OwnCommands:
    """Appends commands and waits for their outcomes."""

    appender: Appender
    outcomes: OutcomeRegistry
    connections: Callable[[], AbstractAsyncContextManager[Connection]]
    """Lends a connection, to read which partition a command goes to."""

    async def run(self, command: Command, tenant: str, key: int) -> CommandOutcome:
        """The outcome, or that of an earlier call of the job `key` with the same command, unless it was rejected.

        Cancel it to limit its time. Raises ConnectorError.
        """
        digest = hashlib.sha256(encode_command(msgspec.structs.replace(command, by_program=True))).digest()
        outcome, _ = await self.once(command, tenant, f"connector {key} {digest.hex()[:16]}", digest, key)
        return outcome

    async def once(
        self, command: Command, tenant: str, name: str, digest: bytes, key: int | None = None
    ) -> tuple[CommandOutcome, bool]:
        """The outcome, or that of an earlier command with the same name and digest, unless it was rejected.

        The flag says whether it is surely of an earlier command, and not of an attempt of this call.
        `key`: its subject, for display. Cancel it to limit its time. Raises ConnectorError.
        """
        command, following = msgspec.structs.replace(command, by_program=True), name
        for _ in range(MOST_REJECTED):
            appended, outcome, is_first = await self._outcome(command, tenant, key, (following, digest))
            if outcome.rejection is None or not appended.replayed:
                return outcome, appended.replayed and is_first
            following = f"{name} {appended.position}"
        raise unavailable("the command was rejected too often")

    async def _outcome(
        self, command: Command, tenant: str, key: int | None, idempotency: tuple[str, bytes]
    ) -> tuple[Appended, CommandOutcome, bool]:
        """The place, the outcome, and whether the first attempt got it: later ones may find what that has appended."""
        is_first = True
        while True:
            try:
                partition = await self._partition(command, tenant)
                item = Append(command, tenant, key, idempotency, partition)
                if (found := await self.attempt(item)) is not None:
                    return *found, is_first
            except ValueRejected as error:
                raise ConnectorError("INVALID_ARGUMENT", f"PostgreSQL rejects a value: {error}", final=True) from error
            except Draining as error:  # the lease goes back
                raise unavailable("the program is stopping") from error
            except (NotAppended, StorageError):
                await trio.sleep(PAUSE_S)
            is_first = False

    async def _partition(self, command: Command, tenant: str) -> int:
        async with self.connections() as connection:
            known = await routes.read(connection)
        return command.home(tenant, known) or known.of_tenant(tenant)[0]

    async def attempt(
        self, item: Append, on_append: Callable[[], object] = lambda: None
    ) -> tuple[Appended, CommandOutcome] | None:
        """The place and the outcome of a command; None if the outcome does not come soon. Raises NotAppended.

        `on_append` is called when the command is in the log.
        """
        until = trio.current_time() + WAIT_S
        send, replies = trio.open_memory_channel[Reply | None](2)
        with replies:
            pending = self.appender.begin_append(item, send, self.outcomes)
            pending.tells_append = True
            try:
                appended = await self.appender.finish_append(pending, replies, until)
                on_append()
                reply = await reply_by(replies, until)
            finally:
                pending.leave()
        return None if reply is None else (appended, reply.answer)
