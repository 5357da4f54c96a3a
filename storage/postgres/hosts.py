"""Chooses one of several hosts: attempts that overlap, and the first connection that fits.

One silent host must not use up the time of the others. The next attempt therefore begins as soon as the last one has
failed, or after `STAGGER_S` without an answer. The earlier attempts go on meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum

import trio

from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn, NoPrimary

STAGGER_S = 0.25
"""A server that is well answers sooner, also one in another building."""

Open = Callable[[str], Awaitable[Connection]]
"""Opens the connection of one attempt, or raises `ConnectFailed`."""


class Role(StrEnum):
    """The values of `target_session_attrs` that make sense for a program that writes."""

    ANY = "any"
    PRIMARY = "primary"
    READ_WRITE = "read-write"


def needed_role(given: str | None, addresses: int) -> Role:
    """The role that a server must have: with several addresses by default `read-write`. Raises `InvalidDsn`."""
    if not given:
        return Role.ANY if addresses == 1 else Role.READ_WRITE
    try:
        return Role(given)
    except ValueError:
        raise InvalidDsn(
            f"target_session_attrs={given} in the database URL leads to a server that accepts no writes:"
            " use read-write or primary"
        ) from None


def check_role(connection: Connection, role: Role, address: str) -> None:
    """Raises `NoPrimary` if the server of the connection does not have the role. The server reports both settings."""
    if role is Role.ANY:
        return
    if connection.parameter("in_hot_standby") == "on":
        raise NoPrimary(f"{address} is a standby")
    if role is Role.READ_WRITE and connection.parameter("default_transaction_read_only") == "on":
        raise NoPrimary(f"{address} is read-only (default_transaction_read_only is on)")


async def first(attempts: Sequence[str], open_one: Open) -> Connection:
    """The first connection that opens; the earlier of two. Raises `ConnectFailed` with all failures."""
    failures: list[ConnectFailed] = []
    opened: list[Connection] = []

    async def attempt(dsn: str, failed: trio.Event) -> None:
        try:
            opened.append(await open_one(dsn))
        except ConnectFailed as error:
            failures.append(error)
            failed.set()
        else:
            nursery.cancel_scope.cancel()

    try:
        async with trio.open_nursery() as nursery:
            for dsn in attempts:
                failed = trio.Event()
                nursery.start_soon(attempt, dsn, failed)
                with trio.move_on_after(STAGGER_S):
                    await failed.wait()
    except BaseException:
        _close(opened)
        raise
    _close(opened[1:])
    if not opened:
        raise _all_failed(failures)
    return opened[0]


def _close(connections: Sequence[Connection]) -> None:
    for connection in connections:
        connection.close()


def _all_failed(failures: Sequence[ConnectFailed]) -> ConnectFailed:
    """`NoPrimary` if a host is there and only its role does not fit."""
    kind = NoPrimary if any(isinstance(failure, NoPrimary) for failure in failures) else ConnectFailed
    return kind("; ".join(failure.message for failure in failures))
