"""The problems for failed reads of the database. Failures of commands come from the appender as `NotAppended`."""

from __future__ import annotations

import structlog

from vivero.api.http.problems import LATER, Problem, bad_request
from vivero.storage.postgres.errors import DataPoison, DeadlineExceeded, Outage, Retry, StorageError, describe, reason
from vivero.storage.postgres.outage_log import OutageLog
from vivero.storage.postgres.pool import PoolExhausted

log = structlog.get_logger(__name__)


class StorageProblems:
    """Makes the problems, and logs their causes: those of an outage once, however many requests meet it."""

    def __init__(self) -> None:
        self._outage = OutageLog()

    def problem(self, error: StorageError, method: str, route: str) -> Problem:
        """The problem for the request whose read failed."""
        if isinstance(error, PoolExhausted):
            return Problem(
                503, "RESOURCE_EXHAUSTED", "Too many requests read from the database; try again later", LATER
            )
        if isinstance(error, DeadlineExceeded):
            self._outage.failed("read took too long", describe(error), method=method, route=route)
            return Problem(504, "DEADLINE_EXCEEDED", "The database did not answer in time")
        if isinstance(error, Outage | Retry):
            self._outage.failed("read failed", describe(error), method=method, route=route)
            detail = f"The database is not available at present ({reason(error)}); try again later"
            return Problem(503, "UNAVAILABLE", detail, LATER)
        if isinstance(error, DataPoison):
            log.warning("read refused", method=method, route=route, error=describe(error))
            return bad_request("The request contains a value that the database cannot store or compare")
        log.error("read failed", method=method, route=route, exc_info=error)
        return bug()


def bug() -> Problem:
    """The problem for an error that should not happen."""
    return Problem(500, "INTERNAL", "The server failed to handle the request; its log has the details")
