"""Sessions with databases of tests that begin again as new ones: `driver.connect` gets one that has been closed.

A new session costs PostgreSQL and Python 9 ms of CPU with its first statements. A whole engine has five of them, and
tests restart it. A session that begins again has forgotten its settings, prepared statements, temporary tables, locks
and channels, and keeps the system's caches. Its backend has the number that it had: sessions by which the database
knows a node or the leader of a partition therefore do end when they are closed.
"""

import os
import select
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import pytest
from psycopg import generators, pq
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq.abc import PGconn
from trio.lowlevel import notify_closing

from vivero.storage.postgres.session import Session

MOST = 30
"""Sessions that rest in all databases. The server has 80."""
ANSWER_S = 1.0
"""Backends that tests have stopped do not answer."""
FORGET = b"""
    SET SESSION AUTHORIZATION DEFAULT; RESET ALL; DEALLOCATE ALL; CLOSE ALL; UNLISTEN *; DISCARD PLANS;
    DISCARD TEMP; DISCARD SEQUENCES; SET application_name = 'resting';
    SELECT pg_advisory_unlock_all(), pg_stat_force_next_flush();
    SELECT FROM partitions WHERE owner_pid = pg_backend_pid()
    UNION ALL SELECT FROM nodes WHERE pid = pg_backend_pid()"""
"""The work of DISCARD ALL, in one round trip. The last result has no row if nobody knows the backend by its number."""
CALLED = b"SELECT set_config('application_name', $1, false)"
Parameters = frozenset[tuple[str, Any]]


class Reuse:
    """The sessions that rest, the one used last at the end. Forks of this process open and end their own."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._databases: set[object] = set()
        self._used: WeakKeyDictionary[PGconn, Parameters] = WeakKeyDictionary()
        self._resting: list[tuple[Parameters, PGconn]] = []
        self._paused = False

    @contextmanager
    def installed(self) -> Iterator["Reuse"]:
        """From here on, connections of the driver begin and end by way of this."""
        connect = generators.connect

        def connected(conninfo: str, **options: Any) -> Generator[Any, Any, PGconn]:
            parameters = conninfo_to_dict(conninfo)
            name = parameters.pop("application_name", "")
            key = frozenset(parameters.items())
            pgconn = self._taken(key, str(name)) or (yield from connect(conninfo, **options))
            self._used[pgconn] = key
            return pgconn

        def ending(end: Callable[[Session], None]) -> Callable[[Session], None]:
            def ended(session: Session) -> None:
                idle = not (session.closed or session.running or session.in_transaction or session.has_input)
                if idle and self._is_reused(session.pgconn):
                    session.closed = True
                    notify_closing(session.fd)
                    self._rest(session.pgconn)
                else:
                    end(session)

            return ended

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(generators, "connect", connected)
            for name in ("close", "abort"):
                patch.setattr(Session, name, ending(getattr(Session, name)))
            yield self

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For a while, sessions begin and end as the program's do, and none rests."""
        while self._resting:
            self._resting.pop()[1].finish()
        self._paused = True
        yield
        self._paused = False

    def begin(self, dsn: str) -> None:
        """Sessions with this database may be used again from now on."""
        self._databases.add(_database(conninfo_to_dict(dsn)))

    def backends(self, dsn: str) -> list[int]:
        """The numbers of those that rest in a database."""
        return [pgconn.backend_pid for pgconn in self._of(dsn)]

    def end(self, dsn: str) -> None:
        """End the sessions with this database."""
        for pgconn in self._of(dsn):
            pgconn.finish()
        database = _database(conninfo_to_dict(dsn))
        self._databases.discard(database)
        self._resting = [(key, pgconn) for key, pgconn in self._resting if _database(dict(key)) != database]

    def _of(self, dsn: str) -> list[PGconn]:
        database = _database(conninfo_to_dict(dsn))
        return [pgconn for key, pgconn in self._resting if _database(dict(key)) == database]

    def _is_reused(self, pgconn: PGconn) -> bool:
        key = self._used.get(pgconn)
        active = not self._paused and os.getpid() == self._process
        return active and key is not None and _database(dict(key)) in self._databases

    def _rest(self, pgconn: PGconn) -> None:
        last = _last_result(pgconn, FORGET)
        if last is None or last.ntuples:
            pgconn.finish()
            return
        while pgconn.notifies():
            pass
        self._resting.append((self._used[pgconn], pgconn))
        if len(self._resting) > MOST:
            self._resting.pop(0)[1].finish()

    def _taken(self, key: Parameters, name: str) -> PGconn | None:
        """A session with this application name that begins again, if one rests."""
        if self._paused or os.getpid() != self._process:
            return None
        for at in reversed(range(len(self._resting))):
            if self._resting[at][0] == key:
                _, pgconn = self._resting.pop(at)
                if _last_result(pgconn, CALLED, name.encode()) is not None:
                    return pgconn
                pgconn.finish()
        return None


def _database(parameters: dict[str, Any]) -> object:
    return tuple(parameters.get(name) for name in ("host", "hostaddr", "port", "dbname"))


def _last_result(pgconn: PGconn, statements: bytes, *values: bytes) -> pq.abc.PGresult | None:
    """The last result of statements; None if one has failed, or there is no answer."""
    try:
        if values:
            pgconn.send_query_params(statements, values)
        else:
            pgconn.send_query(statements)
        pgconn.flush()
        last = None
        while True:
            while pgconn.is_busy():
                if not select.select([pgconn.socket], [], [], ANSWER_S)[0]:
                    return None
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                return last
            if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
                return None
            last = result
    except psycopg.OperationalError:
        return None
