"""Forecasts of batch operations: requests with `?dryRun=true` that would create one (Vivero only)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from vivero.api.access.creators import bounds_of, creator_of
from vivero.api.http.problems import not_computed
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.engine.batch_operations import deletions
from vivero.engine.batch_operations.forecast import Forecast, Judge, forecast, trying
from vivero.engine.batch_operations.items import Plan
from vivero.engine.compute.problems import NotComputed
from vivero.storage.search import candidates
from vivero.storage.work.batch_operations import Candidate, ItemEnd, Operation

EVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Everything that is there began earlier."""


async def answer(
    request: Request, services: Services, type: str, resource: str, filter: Mapping[str, Any], plan: Plan | None
) -> Response:
    """The forecast of a batch. Its creator needs the same permissions as for the batch. Raises Problem, BadQuery."""
    bounds = bounds_of(request.caller, request.tenants, type)
    operation = Operation(0, type, "CREATED", resource, 0, creator_of(request.caller), bounds, EVER)
    read = partial(read_of, services, request.tenants)
    candidates.check(type, resource, filter)
    try:
        found = await forecast(operation, filter, read, _judge(request, services, type, plan))
    except NotComputed as error:
        raise not_computed(error) from error
    return json_response(_document(type, found))


def _judge(request: Request, services: Services, type: str, plan: Plan | None) -> Judge:
    if type in deletions.FORESEEN:
        return _of_deletions(services, type)
    read, patience_s = partial(read_of, services, request.tenants), services.settings.response_timeout_s
    judging = services.commands.dry_runs.judging(read, services.files.compute, patience_s)
    return trying(type, plan, judging.verdicts)


def _of_deletions(services: Services, type: str) -> Judge:
    async def judge(found: Sequence[Candidate]) -> list[ItemEnd]:
        async with (
            services.reads.pool.connection() as connection
        ):  # readers of tenants do not see all that keeps a tree
            return await deletions.FORESEEN[type](connection, [one.key for one in found])

    return judge


def _document(type: str, found: Forecast) -> dict[str, Any]:
    stopped = found.stopped_at
    return {
        "batchOperationType": type,
        "total": found.total,
        "wouldSucceed": found.succeed,
        "wouldSkip": found.skip,
        "wouldFail": found.fail,
        "notTried": found.not_tried,
        "stoppedAt": None if stopped is None else {"bound": stopped.bound, "value": stopped.value},
    }
