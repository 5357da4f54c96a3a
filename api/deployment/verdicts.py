"""The verdict on files that nobody deploys yet: what a deployment would refuse, and what it would warn of."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.api.deployment.checks import examined_by, problems_of_webhooks
from vivero.api.deployment.cluster_variables import warnings_of_variables
from vivero.api.deployment.problems import Files
from vivero.api.deployment.warnings import warnings_of, warnings_of_files
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.core.bpmn.parser import Parsed
from vivero.engine.compute.models import unpacked
from vivero.engine.compute.turns import WorkKind


class Verdict(msgspec.Struct, frozen=True):
    """As `vivero validate --json` tells it. Without problems, a deployment of the files succeeds."""

    valid: bool
    problems: Sequence[str]
    warnings: Sequence[str]


async def judged(services: Services, request: Request, files: Files, tenant: str | None) -> Verdict:
    """Judge files for the client of a request, as a deployment for this tenant would. Nothing is stored. None: whatever
    is deployed already.

    Raises Problem: 429 while another validation of the client goes on; 503 if no compute process can do it now; 400 for
    files that cost too much.
    """
    with services.files.validating.turn(request):
        return await _judged(services, files, tenant)


async def _judged(services: Services, files: Files, tenant: str | None) -> Verdict:
    found = await examined_by(services, files, WorkKind.VALIDATIONS)
    if found.problems:
        return Verdict(False, found.problems, ())
    parsed = found.parsed or [await unpacked(each) for each in found.packed]
    if tenant is None:
        return Verdict(True, (), _warnings_by_themselves(services, parsed))
    problems = await problems_of_webhooks(services, tenant, parsed)
    return Verdict(not problems, problems, () if problems else await all_warnings(services, parsed, files, tenant))


async def all_warnings(services: Services, parsed: Sequence[Parsed], files: Files, tenant: str) -> list[str]:
    """The warnings of files by themselves, and of what the tenant lacks. Never fails."""
    found = _warnings_by_themselves(services, parsed)
    found += await warnings_of_files(parsed, services, tenant)
    return found + await warnings_of_variables(files, services, tenant)


def _warnings_by_themselves(services: Services, parsed: Sequence[Parsed]) -> list[str]:
    webhooks = services.files.webhooks
    return warnings_of(parsed, webhooks is not None, None if webhooks is None else webhooks.has_secret)
