"""Changes of the command line in the audit log. Commands that work on the database have no caller of the API: their
actor is the user of the operating system, of the type UNKNOWN, and the address is the name of the machine."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Awaitable, Callable
from typing import TypeVar

from vivero.cli.shared.failures import Failure
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import ADMIN, FAIL, AuditRecord
from vivero.storage.postgres.driver import Connection

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]


def record(command: str, entity: str, operation: str, key: str, member: str | None = None) -> AuditRecord:
    """The record of a command such as `user add`. `member` is a user that a role is given to."""
    return AuditRecord(
        "UNKNOWN",
        _user(),
        ADMIN,
        entity,
        operation,
        key,
        address=socket.gethostname() or None,
        description=f"vivero {command} {key}",
        related_type=None if member is None else "USER",
        related_key=member,
    )


def _user() -> str:
    try:
        return getpass.getuser().encode(errors="replace").decode()  # the environment may have any bytes
    except (OSError, KeyError):  # a user id without a name, in a container
        return "unknown"


def recorded(made: AuditRecord, work: Work[T], rejection: type[Exception]) -> Work[T]:
    """The same work in one transaction with its record. A rejection undoes it and is recorded, too."""

    async def run(connection: Connection) -> T:
        try:
            async with connection.transaction():
                result = await work(connection)
                await audit_log.add(connection, made)
                return result
        except (Failure, rejection):
            await audit_log.add(connection, made, FAIL)
            raise

    return run
