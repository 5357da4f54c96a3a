"""The scan of a batch operation: rows that fit its filter become items, portion by portion, behind a cursor."""

from __future__ import annotations

import msgspec
import structlog
import trio

from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError
from vivero.storage.search import candidates
from vivero.storage.search.problems import BadQuery
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import Operation

log = structlog.get_logger(__name__)

CANCELED_BY_THE_SERVER = "57014"
"""The SQLSTATE of a statement that took longer than statement_timeout."""


async def scan(
    connection: Connection, epoch: int, operation: Operation, settings: BatchOperationSettings, rows: int
) -> bool:
    """Make items of the next rows, or fail the batch if its filter cannot be evaluated. Whether anything changed.

    The connection has `settings.scan_timeout_s` as its statement_timeout.
    """
    deadline = trio.current_time() + settings.scan_timeout_s + settings.call_timeout_s
    try:
        filter = msgspec.json.decode(await batch_operations.filter_of(connection, operation.key))
        found, complete = await candidates.find(connection, operation, filter, rows, deadline)
    except BadQuery as error:
        return await _reject(connection, epoch, operation, f"the filter cannot be evaluated: {error}")
    except StorageError as error:
        if error.sqlstate != CANCELED_BY_THE_SERVER:
            raise
        why = f"the filter took longer than {settings.scan_timeout_s:g} s: narrow it"
        return await _reject(connection, epoch, operation, why)
    return await batch_operations.add_items(connection, epoch, operation, found, complete)


async def _reject(connection: Connection, epoch: int, operation: Operation, why: str) -> bool:
    log.warning("a batch operation failed", batch=operation.key)
    return await batch_operations.reject_filter(connection, epoch, operation.key, why)
