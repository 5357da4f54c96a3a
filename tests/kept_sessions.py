"""Sessions with a database that outlive a test, as those of a program outlive a request.

To begin a session and to read its first statements takes 8 ms of PostgreSQL's CPU: it fills its caches and plans anew.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGconn

from tests.reused_sessions import Reuse
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.pool import Pool

NAME = "vivero test"
SETTLE = "SELECT pg_advisory_unlock_all(), pg_stat_force_next_flush()"
"""Afterwards nothing of the test is left in a session, and its statistics tell which tables it has changed."""


class KeptSessions:
    """The sessions with one database, and with the same one as another user, by their DSN.

    A session that a test has broken, or has left in the middle of something, ends.
    """

    def __init__(self, dsn: str, reuse: Reuse) -> None:
        self._dsn, self._reuse = dsn, reuse
        self._idle: dict[str, list[Connection]] = defaultdict(list)
        self._rows: psycopg.Connection | None = None

    def of_rows(self) -> psycopg.Connection:
        """The session by which tests put rows."""
        if self._rows is None:
            self._rows = psycopg.connect(self._dsn, autocommit=True)
        return self._rows

    @contextmanager
    def pool(self, dsn: str, size: int = 2) -> Iterator[Pool]:
        """A pool of one test, which takes the idle sessions first, and leaves its own to the next test."""
        used: list[Connection] = []

        async def connect(deadline: float) -> Connection:
            kept = self._idle[dsn]
            used.append(kept.pop() if kept else await driver.connect(dsn, name=NAME, deadline=deadline))
            return used[-1]

        try:
            yield Pool(connect, size)
        finally:
            for connection in used:
                if connection.reusable and not connection.has_input:
                    self._idle[dsn].append(connection)
                else:
                    connection.close()

    def settled(self) -> list[int]:
        """Settle the sessions between two tests: the numbers of their backends. Those that cannot go on have ended."""
        if self._rows is not None and not _is_settled(self._rows.pgconn, f"RESET ALL; {SETTLE}"):
            self._rows.close()
            self._rows = None
        for kept in self._idle.values():
            kept[:] = [connection for connection in kept if _is_settled(below(connection), SETTLE)]
        rows = [] if self._rows is None else [self._rows.info.backend_pid]
        pooled = [connection.backend_pid for kept in self._idle.values() for connection in kept]
        return [*rows, *pooled, *self._reuse.backends(self._dsn)]

    def end(self) -> None:
        """End all sessions."""
        if self._rows is not None:
            self._rows.close()
        for kept in self._idle.values():
            for connection in kept:
                below(connection).finish()
        self._reuse.end(self._dsn)


def below(connection: Connection) -> PGconn:
    """libpq's connection below one of ours: it can be used and ended outside of Trio."""
    return connection._pgconn


def _is_settled(pgconn: PGconn, statements: str) -> bool:
    """Whether a session that runs these statements can go on; it has ended if not."""
    if pgconn.status == pq.ConnStatus.OK and pgconn.transaction_status == pq.TransactionStatus.IDLE:
        done = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
        if pgconn.exec_(statements.encode()).status in done:
            return True
    pgconn.finish()
    return False
