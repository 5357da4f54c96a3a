"""libpq's result of a statement as a `QueryResult`, or as an error of `storage.postgres.errors`."""

from typing import Any

import msgspec
from psycopg import pq
from psycopg.abc import Transformer
from psycopg.pq.abc import PGresult

from vivero.storage.postgres.errors import Diagnosis, StorageBug, StorageError, from_server

_OK = frozenset({pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK})
_FIELD = pq.DiagnosticField


class QueryResult(msgspec.Struct, frozen=True):
    """The rows of a statement, the number of rows that it returned or changed, and its tag (`INSERT 0 3`)."""

    rows: list[tuple[Any, ...]]
    count: int
    tag: str


def read(reader: Transformer, result: PGresult, statement: str, index: int | None = None) -> QueryResult:
    """The rows of a result as tuples. Raises the server's error."""
    if result.status not in _OK:
        raise _failure(result, statement, index)
    rows: list[tuple[Any, ...]] = []
    if result.ntuples:
        reader.set_pgresult(result)
        rows = reader.load_rows(0, result.ntuples, tuple)
    return QueryResult(rows, result.command_tuples or 0, (result.command_status or b"").decode())


def _failure(result: PGresult, statement: str, index: int | None) -> StorageError:
    if result.status != pq.ExecStatus.FATAL_ERROR:
        status = pq.ExecStatus(result.status).name
        return StorageBug(
            f"{status}: COPY and empty statements are not for this call", statement=statement, index=index
        )
    message = _field(result, _FIELD.MESSAGE_PRIMARY) or result.get_error_message().strip()
    routine = _field(result, _FIELD.SOURCE_FUNCTION)
    return from_server(message, _diagnosis(result), statement=statement, index=index, routine=routine)


def _diagnosis(result: PGresult) -> Diagnosis:
    position = _field(result, _FIELD.STATEMENT_POSITION)
    return Diagnosis(
        sqlstate=_field(result, _FIELD.SQLSTATE),
        detail=_field(result, _FIELD.MESSAGE_DETAIL),
        hint=_field(result, _FIELD.MESSAGE_HINT),
        constraint=_field(result, _FIELD.CONSTRAINT_NAME),
        position=int(position) if position else None,
    )


def _field(result: PGresult, field: pq.DiagnosticField) -> str | None:
    value = result.error_field(field)
    return None if value is None else value.decode(errors="replace")
