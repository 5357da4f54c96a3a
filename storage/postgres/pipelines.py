"""Pipelines: many statements in one round trip with one Sync.

`enqueue` hands the statements to libpq, `collect` reads the answers. The connection sends in between, because it
reports when the last byte has left.
"""

from collections.abc import Sequence
from typing import NamedTuple

from psycopg import generators, pq
from psycopg.abc import Transformer
from psycopg.pq.abc import PGconn, PGresult

from vivero.storage.postgres.errors import ConnectionLost, StorageError
from vivero.storage.postgres.queries import Call, Prepared, Query, label, text
from vivero.storage.postgres.results import QueryResult, read
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import BINARY, Encoded, Params, encode
from vivero.storage.postgres.waiting import drive


class Step(NamedTuple):
    """One expected answer: to the call with index `call`, or to the preparation of its statement under `name`."""

    call: int
    query: Query
    prepares: Statement | None = None
    name: bytes = b""


def enqueue(pgconn: PGconn, prepared: Prepared, calls: Sequence[Call]) -> list[Step]:
    """Hands all statements to libpq, each new one after its preparation, and one Sync.

    Raises `DataPoison`, with the index of a call whose parameters cannot be sent. libpq has nothing then.
    """
    encoded = [_encode(index, params) for index, (_, params) in enumerate(calls)]
    pgconn.enter_pipeline_mode()
    steps: list[Step] = []
    fresh: dict[Statement, bytes] = {}
    for index, ((query, _), (values, formats)) in enumerate(zip(calls, encoded, strict=True)):
        if isinstance(query, str):
            pgconn.send_query_params(text(query), values, None, formats, BINARY)
        else:
            name = prepared.get(query) or fresh.get(query)
            if name is None:
                name = fresh[query] = prepared.new_name(query)
                pgconn.send_prepare(name, text(query))
                steps.append(Step(index, query, query, name))
            pgconn.send_query_prepared(name, values, formats, BINARY)
        steps.append(Step(index, query))
    pgconn.pipeline_sync()
    return steps


async def collect(
    pgconn: PGconn, fd: int, reader: Transformer, prepared: Prepared, steps: Sequence[Step]
) -> list[QueryResult]:
    """Reads the answers up to the Sync's; leaves pipeline mode.

    Raises the first error, with the index of its call; the server skipped the calls after it. An error without an index
    belongs to the commit: without BEGIN the commit comes with the Sync.
    """
    results: list[QueryResult] = []
    failure: StorageError | None = None
    for step in steps:
        answers = await drive(generators.fetch_many(pgconn), fd)
        if failure is not None:
            continue
        try:
            result = read(reader, _only(answers), label(step.query), step.call)
        except ConnectionLost:
            raise
        except StorageError as error:
            failure = error
            continue
        if step.prepares is None:
            results.append(result)
        else:
            prepared.add(step.prepares, step.name)
    while not _is_sync(answers := await drive(generators.fetch_many(pgconn), fd)):
        try:
            read(reader, _only(answers), "commit")
        except ConnectionLost:
            raise
        except StorageError as error:
            failure = failure or error
    pgconn.exit_pipeline_mode()
    if failure is not None:
        raise failure
    return results


def _is_sync(answers: list[PGresult]) -> bool:
    return len(answers) == 1 and answers[0].status == pq.ExecStatus.PIPELINE_SYNC


def _only(answers: list[PGresult]) -> PGresult:
    if len(answers) != 1:
        raise ConnectionLost(f"{len(answers)} results for one statement of a pipeline", in_doubt=True)
    return answers[0]


def _encode(index: int, params: Params) -> Encoded:
    try:
        return encode(params)
    except StorageError as error:
        error.index = index
        raise
