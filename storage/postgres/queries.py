"""Queries, their names in errors, and the statements that a connection has prepared."""

from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import Params

Query = Statement | str
"""A named statement, prepared at its first use on a connection, or SQL that is planned each time."""

Call = tuple[Query, Params]


def label(query: Query) -> str:
    """The name of a query in errors: the statement's name, or the beginning of its SQL."""
    return " ".join(query[:80].split()) if isinstance(query, str) else query.name


def text(query: Query) -> bytes:
    """The SQL of a query, encoded for the server."""
    return (query if isinstance(query, str) else query.text).encode()


class Prepared:
    """The statements that a connection has prepared, with their names on the server."""

    __slots__ = ("_count", "_names")

    def __init__(self) -> None:
        self._names: dict[Statement, bytes] = {}
        self._count = 0

    def get(self, query: Statement) -> bytes | None:
        """The name of a prepared statement, None if it is not prepared."""
        return self._names.get(query)

    def new_name(self, query: Statement) -> bytes:
        """A name that this connection never used: the server may have done a preparation that was cancelled."""
        self._count += 1
        return f"{query.name}_{self._count}".encode()

    def add(self, query: Statement, name: bytes) -> None:
        """Records that the server has prepared a statement."""
        self._names[query] = name
