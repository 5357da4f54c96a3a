"""Commands in your own transaction, over a connection of psycopg, SQLAlchemy or Django (docs/your-own-transaction.md).

Nothing is imported of these libraries. The commands are queued when the caller commits, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

__all__ = ["InboxFull", "Queue", "Refused"]

FULL = "53400"
_OURS = {FULL, "P0002", "22023", "54000", "55000", "42501"}
"""The SQLSTATEs with which the functions refuse a call."""


class Refused(Exception):
    """The database refused a command at the call. `sqlstate` says why. The transaction can only be rolled back."""

    def __init__(self, message: str, sqlstate: str) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class InboxFull(Refused):
    """Too many commands wait for the engine."""


class Queue:
    """Queues commands in the open transaction of a connection. Each method returns the id of the command."""

    def __init__(self, connection: Any, schema: str | None = None) -> None:
        """`connection`: of psycopg (2 or 3), Django, or SQLAlchemy (`Connection` or `Session`) over psycopg.

        `schema`: that of Vivero's tables, if it is not in the search path.
        """
        self._connection = connection
        if schema is not None and not set('"%').isdisjoint(schema):
            raise ValueError(f'schema: {schema} has a character that is not allowed here, " or %')
        self._schema = "" if schema is None else f'"{schema}".'

    def start_process(
        self,
        process_id: str,
        variables: Mapping[str, Any] | None = None,
        *,
        business_id: str | None = None,
        tags: Sequence[str] = (),
        version: int | None = None,
        tenant: str | None = None,
    ) -> int:
        """Start a process. Raises Refused."""
        return self._call(
            "start_process(%s::text, %s::jsonb, %s::text, %s::text[], %s::int, %s::text)",
            (process_id, _json(variables or {}), business_id, list(tags), version, tenant),
        )

    def publish_message(
        self,
        name: str,
        correlation_key: str = "",
        variables: Mapping[str, Any] | None = None,
        *,
        time_to_live: timedelta = timedelta(),
        message_id: str | None = None,
        business_id: str | None = None,
        tenant: str | None = None,
    ) -> int:
        """Publish a message. Raises Refused."""
        return self._call(
            "publish_message(%s::text, %s::text, %s::jsonb, %s::interval, %s::text, %s::text, %s::text)",
            (name, correlation_key, _json(variables or {}), time_to_live, message_id, business_id, tenant),
        )

    def complete_job(
        self, job_key: int, variables: Mapping[str, Any] | None = None, *, lease: str | None = None
    ) -> int:
        """Complete a job; with `lease`, only while it has this lease. Raises Refused."""
        return self._call("complete_job(%s::bigint, %s::jsonb, %s::text)", (job_key, _json(variables or {}), lease))

    def defer(
        self,
        job_type: str,
        payload: Any = None,
        *,
        at: datetime | None = None,
        unique_key: str | None = None,
        allow_unknown: bool = False,
    ) -> int:
        """Add a background job. Raises Refused; ValueError if `at` has no time zone."""
        if at is not None and at.utcoffset() is None:
            raise ValueError(f"at: {at} has no time zone")
        document = None if payload is None else _json(payload)
        return self._call(
            "defer(%s::text, %s::jsonb, %s::timestamptz, %s::text, %s::boolean)",
            (job_type, document, at, unique_key, allow_unknown),
        )

    def _call(self, function: str, values: tuple[Any, ...]) -> int:
        try:
            row = _row(self._connection, f"SELECT {self._schema}{function} AS id", values)
        except Exception as error:
            raise _refusal(error) or error from error
        return int(row["id"] if isinstance(row, Mapping) else row[0])


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _row(connection: Any, query: str, values: tuple[Any, ...]) -> Any:
    if hasattr(connection, "exec_driver_sql"):  # SQLAlchemy's Connection
        return connection.exec_driver_sql(query, values).fetchone()
    if callable(getattr(connection, "connection", None)):  # SQLAlchemy's Session
        return _row(connection.connection(), query, values)
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone()


def _refusal(error: BaseException) -> Refused | None:
    """The refusal in an error of a driver, or in the one that SQLAlchemy (`orig`) or Django (its cause) keeps."""
    own = getattr(error, "orig", None) or error
    own = own if _state(own) else own.__cause__ or own
    state = _state(own)
    if state not in _OURS:
        return None
    message = getattr(getattr(own, "diag", None), "message_primary", None) or str(own)
    return (InboxFull if state == FULL else Refused)(message, state)


def _state(error: BaseException) -> str:
    return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
