"""Forecasts of batch operations: requests with `?dryRun=true` that would create one (Vivero only)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from vivero.api.access.creators import bounds_of, creator_of
from vivero.api.http.problems import invalid_argument, not_computed
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.engine.batch_operations.forecast import Forecast, forecast
from vivero.engine.batch_operations.items import Plan
from vivero.engine.compute.problems import NotComputed
from vivero.storage.search import candidates
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
    Operation,
)

FORESEEN = frozenset(
    (
        *(CANCEL_PROCESS_INSTANCE, MIGRATE_PROCESS_INSTANCE, MODIFY_PROCESS_INSTANCE),
        *(RESUME_PROCESS_INSTANCE, SUSPEND_PROCESS_INSTANCE, RESOLVE_INCIDENT, UPDATE_JOB),
    )
)
"""Types of batches whose items are commands about a process instance, or about a part of one."""
EVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Everything that is there began earlier."""


async def answer(
    request: Request, services: Services, type: str, resource: str, filter: Mapping[str, Any], plan: Plan | None
) -> Response:
    """The forecast of a batch. Its creator needs the same permissions as for the batch. Raises Problem, BadQuery."""
    if type not in FORESEEN:
        raise invalid_argument(f"There is no dry run of batch operations of the type {type}")
    bounds = bounds_of(request.caller, request.tenants, type)
    operation = Operation(0, type, "CREATED", resource, 0, creator_of(request.caller), bounds, EVER)
    read = partial(read_of, services, request.tenants)
    patience_s = services.settings.response_timeout_s
    judging = services.commands.dry_runs.judging(read, services.files.compute, patience_s)
    candidates.check(type, resource, filter)
    try:
        found = await forecast(operation, filter, plan, read, judging.verdicts)
    except NotComputed as error:
        raise not_computed(error) from error
    return json_response(_document(type, found))


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
