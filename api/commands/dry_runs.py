"""Requests with `?dryRun=true`: the answer shows what the command would do, and nothing is appended (Vivero only)."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import READ_INSTANCE, authorise, denied
from vivero.api.access.scopes import require_by_key
from vivero.api.commands import preconditions, submission
from vivero.api.http.problems import REJECTIONS, Problem, invalid_argument, not_computed, rejected
from vivero.api.http.request import Request
from vivero.api.http.response import Response, encode, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.records.base import Command
from vivero.core.records.effects import RejectionCode
from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.engine.compute.problems import NotComputed
from vivero.engine.dry_runs.copies import Answer, UndoForecast
from vivero.engine.dry_runs.dry_runs import CannotTry
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads.latest_changes import HAD_WORKER, job_with_worker
from vivero.storage.state.snapshots import TooLarge


async def submit_or_try(request: Request, services: Services, command: Command, key: int) -> Response:
    """Submit a command about a process instance, or with `dryRun` show what it would do.

    A dry run needs the right to read the instance, too. A refusal is part of its answer, unless the key is unknown.
    Raises Problem like a command.
    """
    if not is_asked(request):
        return await submission.command(request, services, command, key)
    return await show(request, services, preconditions.as_expected(request, command, key), key)


def is_asked(request: Request) -> bool:
    """Whether the request is one for a dry run. Raises Problem 400."""
    return request.flag("dryRun", False)


def refuse(request: Request) -> None:
    """Raises Problem 400 if a request for a dry run is one to a route that has none, which would change something."""
    if is_asked(request):
        raise invalid_argument("This operation has no dry run. Nothing has happened")


async def show(request: Request, services: Services, command: Command, key: int) -> Response:
    """The answer that shows what a command would do. Raises Problem."""
    request.audited = None  # it is no attempt to change anything
    await require_by_key(request, services, READ_INSTANCE)
    answer = await _tried(request, services, command, key)
    _check_readable(request, answer)
    if answer.rejection is not None and answer.rejection.code is RejectionCode.NOT_FOUND:
        raise rejected(command, answer.rejection)
    undo = await _undo(request, services, answer.undo)
    return json_response(_document(answer, undo), preconditions.entity_tag(answer.version))


async def _tried(request: Request, services: Services, command: Command, key: int) -> Answer:
    tenant, patience_s = tenants.of_key(request, services), services.settings.response_timeout_s
    read, runs = partial(read_of, services, request.tenants), services.commands.dry_runs
    try:
        return await runs.run(command, key, tenant, read, services.files.compute, patience_s)
    except (TooLarge, CannotTry, InvalidSnapshot) as error:
        detail = f"Expected to dry-run a command on process instance with key '{key}', but {error}"
        raise Problem(409, "INVALID_STATE", detail) from error
    except NotComputed as error:
        raise not_computed(error) from error


def _check_readable(request: Request, answer: Answer) -> None:
    """The answer shows parts of the whole tree. Raises Problem 403 if the caller may not read one of its processes."""
    allowed = authorise(request.caller, READ_INSTANCE)
    if allowed is not None and not answer.processes <= allowed.ids:
        raise denied(READ_INSTANCE)


async def _undo(request: Request, services: Services, forecast: UndoForecast | None) -> dict[str, Any] | None:
    """Whether the undo of a modification would be offered if nothing else happens. Workers get jobs beside the log."""
    if forecast is None:
        return None

    async def query(connection: Connection, _tenants: Tenants) -> int | None:
        return await job_with_worker(connection, forecast.never_taken)

    reason = forecast.reason
    if reason is None and (job := await read_of(services, request.tenants, query)) is not None:
        reason = HAD_WORKER.format(job)
    return {"offered": reason is None, "reason": reason}


def _document(answer: Answer, undo: dict[str, Any] | None) -> bytes:
    if answer.rejection is None and undo is None:
        return answer.report
    if answer.rejection is None:
        return encode(msgspec.json.decode(answer.report) | {"undo": undo})
    status, title = REJECTIONS[answer.rejection.code]
    return encode(msgspec.json.decode(answer.report) | {"refusal": {"status": status, "title": title}})
