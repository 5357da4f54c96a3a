"""What went wrong in storage, by what the caller has to do about it.

One table maps SQLSTATE to these kinds (`SQLSTATES`); nothing else in the program looks at a SQLSTATE. The kinds:

- `SteppedDown`: somebody else leads this partition. The term ends, nobody counts it as a failure.
- `Retry`: the same call, on a fresh connection and (for the consumer) in a new term, may well succeed.
  `Conflict` is a collision with other transactions, `ConnectionLost` a connection that is gone, `DeadlineExceeded`
  our own deadline, which closed the connection.
- `Outage`: PostgreSQL cannot serve at present. Back off, and say "not ready".
- `DataPoison`: a value that PostgreSQL refuses. Trying again is useless; find the culprit and reject it.
- `StorageBug`: all else. Ours: a statement that is wrong, a table that is missing, a right that was not granted.

Source: docs/design/log.md §5; SQLSTATEs: PostgreSQL documentation, appendix A.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the server said about an error, as far as it said it."""

    sqlstate: str | None = None
    detail: str | None = None
    hint: str | None = None
    constraint: str | None = None
    position: int | None = None
    """Where in the statement's text, in characters from 1."""


class StorageError(Exception):
    """Base of everything that a storage call raises on purpose.

    `statement` names the statement that failed, `index` its place in a pipeline (from 0, None outside of one).
    `in_doubt` is true when the call may nevertheless have been committed: the connection went away after the request
    (or a part of it) had left. Whoever must know asks again by key; nobody repeats the call blindly.
    """

    def __init__(
        self,
        message: str,
        diagnosis: Diagnosis | None = None,
        *,
        statement: str | None = None,
        index: int | None = None,
        in_doubt: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.diagnosis = diagnosis or Diagnosis()
        self.statement = statement
        self.index = index
        self.in_doubt = in_doubt

    @property
    def sqlstate(self) -> str | None:
        """The five characters that PostgreSQL gave, or None if the error did not come from the server."""
        return self.diagnosis.sqlstate

    def __str__(self) -> str:
        place = self.statement or ""
        if self.index is not None:
            place = f"{place} (statement {self.index} of the pipeline)".lstrip()
        text = f"{place}: {self.message}" if place else self.message
        if self.sqlstate:
            text = f"{text} [{self.sqlstate}]"
        return f"{text}: {self.diagnosis.detail}" if self.diagnosis.detail else text


class SteppedDown(StorageError):
    """The fence refused the batch: this term's epoch or position is not the partition's any more."""


class Retry(StorageError):
    """May succeed when it is tried again on another connection."""


class Conflict(Retry):
    """Collided with other transactions (serialization, deadlock, lock not available, plan outdated)."""


class ConnectionLost(Retry):
    """The connection is closed: by the server, by the network, or by us."""


class DeadlineExceeded(ConnectionLost):
    """The call's own deadline passed; the connection was closed to be free at once."""


class Outage(StorageError):
    """PostgreSQL cannot serve now: no room, no resources, read-only, not reachable."""


class ConnectFailed(Outage):
    """No connection could be made. `diagnosis` is empty: libpq keeps the SQLSTATE of a refused start to itself."""


class InvalidDsn(StorageError):
    """The connection string cannot be read; no retry helps."""


class DataPoison(StorageError):
    """PostgreSQL refuses a value: trying again is useless."""


class StorageBug(StorageError):
    """Our fault: the statement, the schema or the rights are not what the program expects."""


# SQLSTATE, or the beginning of one → what to do. The longest entry that fits decides.
SQLSTATES: Mapping[str, type[StorageError]] = {
    "VV001": SteppedDown,  # raised by our own fence
    "VV002": Retry,  # raised by our own append: the appender has another connection
    "08": ConnectionLost,  # connection exception
    "57P0": ConnectionLost,  # admin shutdown, crash shutdown, cannot connect now, database dropped, idle session
    "25P03": ConnectionLost,  # idle_in_transaction_session_timeout: the server closed the session
    "25P04": ConnectionLost,  # transaction_timeout: likewise
    "40": Conflict,  # serialization failure, deadlock, statement completion unknown
    "55P03": Conflict,  # lock not available within lock_timeout
    "57014": Conflict,  # cancelled, by statement_timeout or by an administrator
    "26000": Conflict,  # a prepared statement is gone (DISCARD ALL, or a pooler in between): a new connection has it
    "53": Outage,  # insufficient resources: disk full, out of memory, too many connections
    "25006": Outage,  # read-only: a standby, or a server that was told so
    "58": Outage,  # system error: I/O, missing file
    "22": DataPoison,  # data exception
    "23": DataPoison,  # integrity constraint violation
    "54": DataPoison,  # program limit exceeded
}


ROUTINES: Mapping[str, type[StorageError]] = {
    "RevalidateCachedQuery": Conflict,
    "ExecFindPartition": Outage,  # a log has no partition for a row: it was not made in time
}
"""Functions in the server's source that raise what a SQLSTATE does not tell apart."""


def kind_of(sqlstate: str | None) -> type[StorageError]:
    """The kind of an error with this SQLSTATE. An error without one is made by libpq: the connection is lost."""
    if not sqlstate:
        return ConnectionLost
    for length in (5, 4, 2):
        if (kind := SQLSTATES.get(sqlstate[:length])) is not None:
            return kind
    return StorageBug


def from_server(
    message: str, diagnosis: Diagnosis, *, statement: str | None, index: int | None, routine: str | None = None
) -> StorageError:
    """The error to raise for an ErrorResponse of the server.

    `routine` is the function in the server's source that raised it: "cached plan must not change result type" shares
    its SQLSTATE with every missing feature, and only its place of origin is free of translations. A new connection
    plans anew, so it is a conflict (with a migration), not a bug.
    """
    kind = ROUTINES.get(routine or "") or kind_of(diagnosis.sqlstate)
    # A server that closes the session (or its closing) tells nothing about a COMMIT that was on its way.
    return kind(message, diagnosis, statement=statement, index=index, in_doubt=issubclass(kind, ConnectionLost))
