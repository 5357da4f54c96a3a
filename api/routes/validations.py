"""Validations: the verdict of a deployment on files that somebody still edits. Camunda's API has no such route."""

from __future__ import annotations

from vivero.api.access import tenants
from vivero.api.access.needs import DEPLOY
from vivero.api.deployment.sent_files import contents_of, files_in, renamed, tenant_in
from vivero.api.deployment.verdicts import judged
from vivero.api.http.multipart import read_parts
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services


async def validate(request: Request, services: Services) -> Response:
    """POST /v2/deployments/validation: judge the files of a deployment, and store nothing.

    200 with valid, problems and warnings, as `vivero validate --json` prints them. 429 while another validation of the
    client goes on.
    """
    parts = read_parts(request, services.settings.max_deployment_files + 1)
    tenant = tenants.named(request, services, tenant_in(parts), "Validate Resources", DEPLOY)
    files = files_in(parts)
    verdict = await judged(services, request, contents_of(files), tenant)
    return json_response(
        {
            "valid": verdict.valid,
            "problems": list(verdict.problems),
            "warnings": renamed(parts, files) + list(verdict.warnings),
        }
    )
