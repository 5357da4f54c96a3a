"""Large histories are made in a compute process: requests of others go on meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vivero.api.computing.turns import computed
from vivero.api.services import Services
from vivero.core.records.codec import check_event_format
from vivero.engine.compute.turns import WorkKind
from vivero.storage.log.command_log import CommandEvents, HistoryRow

LARGE_BYTES, LARGE_ROWS = 16 * 1024, 200
"""Documents of fewer bytes of events, in fewer rows, take 4 ms at most."""


async def made(
    services: Services, rows: Sequence[CommandEvents | HistoryRow], make: Callable[..., bytes], *arguments: Any
) -> bytes:
    """The document of `histories` that `make(*arguments)` makes of these rows.

    Raises Problem 503: too many other tasks wait. Raises UnknownFormat: a newer version wrote a row.
    """
    for row in rows:
        check_event_format(row.version)
    if len(rows) < LARGE_ROWS and sum(len(row.events) for row in rows) < LARGE_BYTES:
        return make(*arguments)
    return await computed(services, WorkKind.HISTORIES, make, *arguments)
