"""What a connection can be asked to run."""

from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import Params

Query = Statement | str
"""A named statement, prepared at its first use on a connection, or SQL that is planned each time."""

Call = tuple[Query, Params]


def label(query: Query) -> str:
    """How a statement is called in an error: by its name, or by its beginning."""
    return " ".join(query[:80].split()) if isinstance(query, str) else query.name


def text(query: Query) -> bytes:
    """Its SQL, as it goes to the server."""
    return (query if isinstance(query, str) else query.text).encode()


class Prepared:
    """The statements that a connection has prepared, by the names they have on the server."""

    __slots__ = ("_count", "_names")

    def __init__(self) -> None:
        self._names: dict[Statement, bytes] = {}
        self._count = 0

    def get(self, query: Statement) -> bytes | None:
        """Its name, if it is prepared."""
        return self._names.get(query)

    def new_name(self, query: Statement) -> bytes:
        """A name that was never used on this connection: a preparation that was cancelled may have happened."""
        self._count += 1
        return f"{query.name}_{self._count}".encode()

    def add(self, query: Statement, name: bytes) -> None:
        """The server has it now."""
        self._names[query] = name
