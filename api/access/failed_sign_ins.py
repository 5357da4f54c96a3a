"""Failed sign-ins in the audit log: counted in memory, and recorded together every few seconds.

A flood of wrong passwords neither costs a statement each nor fills the table. Passwords are never kept. A name is kept
only if a user has it: people type their passwords into the wrong field.
"""

from __future__ import annotations

import structlog
import trio

from vivero.api.access.buckets import Buckets
from vivero.api.services import ConnectionPool
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import ADMIN, FAIL, AuditRecord
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

EVERY_S = 10.0
MAX_COUNTED = 1_000
"""Pairs of a name and an address that are counted one by one between two writes."""
RECORDS = (100, 1 / 60)
"""The records of a node: so many at once, then so many a second. All other failures share one record."""
LAST_WRITE_S = 2.0


class FailedSignIns:
    """Counts failed sign-ins. `pool` gives connections for their records."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._counts: dict[tuple[str | None, str], int] = {}
        self.others = 0
        """Failures without a record of their own, which have not been recorded yet."""
        self._records = Buckets(*RECORDS)

    @property
    def pairs(self) -> int:
        """The number of names and addresses that are counted one by one."""
        return len(self._counts)

    def count(self, username: str | None, address: str) -> None:
        """Count a failure of a user, or of a name that nobody has (None)."""
        key = username, address
        if key in self._counts or len(self._counts) < MAX_COUNTED:
            self._counts[key] = self._counts.get(key, 0) + 1
        else:
            self.others += 1

    async def run(self) -> None:
        """Record what was counted, again and again, until cancelled; then once more."""
        try:
            while True:
                await trio.sleep(EVERY_S)
                await self.write()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_WRITE_S):
                await self.write()

    async def write(self) -> None:
        """Record what was counted since the last time. An outage of the database loses it, with a warning."""
        records = self._taken()
        if not records:
            return
        try:
            async with self._pool.connection() as connection:
                await audit_log.add_all(connection, records, FAIL)
        except StorageError as error:
            log.warning("cannot record failed sign-ins", records=len(records), error=describe(error))

    def _taken(self) -> list[AuditRecord]:
        """The records of what was counted, which is counted no more."""
        counted, self._counts = self._counts, {}
        records = []
        for (username, address), times in counted.items():
            if self._records.take("one"):
                self.others += times
            else:
                records.append(_record(username, address, _times(times)))
        if self.others and not self._records.take("others"):
            records.append(_record(None, "", f"{_times(self.others)}, of several names and addresses"))
            self.others = 0
        return records


def _times(number: int) -> str:
    return "failed sign-in" if number == 1 else f"failed sign-in, {number} times"


def _record(username: str | None, address: str, description: str) -> AuditRecord:
    return AuditRecord(
        *("ANONYMOUS", "anonymous", ADMIN, "USER", "UNKNOWN", username),
        address=address or None,
        description=description,
    )
