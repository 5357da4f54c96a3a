"""The errors of storage, by what the caller must do about them.

One table (`SQLSTATES`) maps a SQLSTATE to a kind; no other code looks at a SQLSTATE. The kinds:

- `SteppedDown`: another node leads this partition. The term ends; this is not a failure.
- `Retry`: the same call may succeed on a new connection and (for the consumer) in a new term. `Conflict` is a collision
  with other transactions, `ConnectionLost` a connection that has ended, `DeadlineExceeded` our own deadline, which
  closed the connection.
- `Outage`: PostgreSQL cannot serve now. Back off, and report "not ready".
- `DataPoison`: a value that PostgreSQL rejects. Another try is useless: find the value and reject its command.
- `StorageBug`: all other errors. The fault is ours: a wrong statement, a missing table, a missing right.

Source: docs/design/log.md §5; SQLSTATEs: PostgreSQL documentation, appendix A.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The fields of the server's error, as far as it sent them."""

    sqlstate: str | None = None
    detail: str | None = None
    hint: str | None = None
    constraint: str | None = None
    position: int | None = None
    """The place in the statement's text, in characters from 1."""


class StorageError(Exception):
    """Base of all errors that a storage call raises on purpose.

    `statement` names the statement that failed, `index` its place in a pipeline (from 0, None outside of one).
    `in_doubt` is true if the call may have been committed: the connection ended after the request (or a part of it) had
    left. A caller that must know looks the result up by key; it never just repeats the call.
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
        """The server's SQLSTATE, None if the error did not come from the server."""
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
    """The fence rejected the batch: the partition has another epoch or position than this term."""


class Retry(StorageError):
    """The call may succeed on another connection."""


class Conflict(Retry):
    """A collision with other transactions (serialization, deadlock, lock not available, outdated plan)."""


class ConnectionLost(Retry):
    """The connection is closed: by the server, by the network, or by us."""


class DeadlineExceeded(ConnectionLost):
    """The call's own deadline passed, which closed the connection."""


class Outage(StorageError):
    """PostgreSQL cannot serve now: disk full, no resources, read-only, not reachable."""


class ConnectFailed(Outage):
    """All attempts to connect failed. `diagnosis` is empty, because libpq hides the SQLSTATE of a rejected start."""


class NoPrimary(ConnectFailed):
    """A host answers, but none accepts writes: a failover is under way, or only standbys are left."""


class InvalidDsn(StorageError):
    """The connection string is not valid; a retry is useless."""


class DataPoison(StorageError):
    """PostgreSQL rejects a value; a retry is useless."""


class LeaseTaken(DataPoison):
    """A worker has got a job on whose lease a command of the batch depends. A retry reads the leases again."""


class StorageBug(StorageError):
    """Our fault: the statement, the schema or the rights differ from what the program expects."""


# SQLSTATE, or its beginning → kind. The longest entry that fits decides.
SQLSTATES: Mapping[str, type[StorageError]] = {
    "VV001": SteppedDown,  # raised by our own fence
    "VV002": Retry,  # raised by our own append: the appender has another connection
    "VV003": LeaseTaken,  # raised by our own check of jobs that nobody may have
    "08": ConnectionLost,  # connection exception
    "57P0": ConnectionLost,  # admin shutdown, crash shutdown, cannot connect now, database dropped, idle session
    "25P03": ConnectionLost,  # idle_in_transaction_session_timeout: the server closed the session
    "25P04": ConnectionLost,  # transaction_timeout: likewise
    "40": Conflict,  # serialization failure, deadlock, statement completion unknown
    "55P03": Conflict,  # lock not available within lock_timeout
    "57014": Conflict,  # cancelled, by statement_timeout or by an administrator
    "26000": Conflict,  # a prepared statement is gone (DISCARD ALL, or a pooler in between): a new connection has it
    "53": Outage,  # insufficient resources: disk full, out of memory, too many connections
    "25006": Outage,  # read-only: a standby, or default_transaction_read_only
    "58": Outage,  # system error: I/O, missing file
    "42P01": Outage,  # a table is missing: somebody is restoring the database; our statements are tested
    "42883": Outage,  # a function is missing, likewise
    "3F000": Outage,  # the schema is missing, likewise
    "22": DataPoison,  # data exception
    "23": DataPoison,  # integrity constraint violation
    "54": DataPoison,  # program limit exceeded
}


ROUTINES: Mapping[str, type[StorageError]] = {
    "RevalidateCachedQuery": Conflict,
    "ExecFindPartition": Outage,  # the row's log partition does not exist: maintenance is late
}
"""Functions in the server's source whose errors share a SQLSTATE with others."""


REASONS: Mapping[str, str] = {
    "53100": "its disk is full",
    "53200": "it is out of memory",
    "53300": "all of its connections are in use",
    "25006": "it accepts no writes",
    "55P03": "a lock is held for too long",
    "57P": "it is stopping or starting",
    "58": "it cannot access its files",
    "42P01": "its tables are missing",
    "42883": "its tables are missing",
    "3F000": "its tables are missing",
}
"""SQLSTATE, or its beginning → what clients are told of an outage. They get no names of hosts and no statements."""


def reason(error: StorageError) -> str:
    """The reason why PostgreSQL does not serve, in words for clients of the API."""
    if isinstance(error, NoPrimary):
        return "no server accepts writes"
    if isinstance(error, ConnectFailed):
        return "it cannot be reached"
    sqlstate = error.sqlstate or ""
    return next((text for start, text in REASONS.items() if sqlstate.startswith(start)), "the connection was lost")


def describe(error: BaseException) -> str:
    """The text of an error for log lines and probes: one line without data.

    The texts of our own errors and of Trio's are written without data. PostgreSQL quotes values in the texts about data
    and statements, and Python's own errors quote keys and arguments, so of these only the kind is told.
    """
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(describe(inner) for inner in error.exceptions)
    kind = type(error).__name__
    if isinstance(error, DataPoison | StorageBug):
        found = error.diagnosis
        facts = (error.statement, found.sqlstate and f"[{found.sqlstate}]", found.constraint)
        return " ".join([f"{kind}:", *(fact for fact in facts if fact)]).rstrip(":")
    if isinstance(error, StorageError):
        text = f"{kind}: {error.statement}: {error.message}" if error.statement else f"{kind}: {error.message}"
        return f"{text} [{error.sqlstate}]" if error.sqlstate else text
    if isinstance(error, OSError):
        return f"{kind}: {error.strerror}" if error.strerror else kind
    if type(error).__module__.partition(".")[0] in ("vivero", "trio"):
        return f"{kind}: {error}" if str(error) else kind
    return kind


def kind_of(sqlstate: str | None) -> type[StorageError]:
    """The kind of an error with this SQLSTATE. An error without one comes from libpq: the connection is lost."""
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

    `routine` is the function in the server's source that raised it. "cached plan must not change result type" shares
    its SQLSTATE with every missing feature, and its text may be translated; only the routine identifies it. That error
    is a conflict (with a migration), not a bug, because a new connection plans anew.
    """
    kind = ROUTINES.get(routine or "") or kind_of(diagnosis.sqlstate)
    # The end of a session says nothing about a COMMIT that was on its way.
    return kind(message, diagnosis, statement=statement, index=index, in_doubt=issubclass(kind, ConnectionLost))
