"""The history of a process instance for people: one line per event."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.computing.histories import trace_page
from vivero.api.computing.large_histories import made
from vivero.api.http.decoding import number_in_query
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.storage.log import command_log
from vivero.storage.log.command_log import HistoryRow
from vivero.storage.reads import single_reads
from vivero.storage.search.process_instances import PROCESS_INSTANCES

MAX_ROWS, MAX_BYTES = 10_000, 8_000_000
"""The limits of a page, which has at least one command."""


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/trace: for the whole instance tree, oldest first. `after`: a page's `next`."""
    rows, next_after = await history_page(request, services)
    return json_response(await made(services, rows, trace_page, rows, next_after))


async def history_page(request: Request, services: Services) -> tuple[Sequence[HistoryRow], str | None]:
    """A page of the log of an instance tree, and the `after` of the next page; None after the last. Raises Problem."""
    key, position = request.key("processInstanceKey"), number_in_query(request, "after", 0)
    root = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.root_of_instance(connection, key, tenants)
    )
    if root is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    rows, more = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: command_log.history(connection, key, position, MAX_ROWS, MAX_BYTES, tenants),
    )
    return rows, str(rows[-1].position) if more else None
