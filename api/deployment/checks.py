"""Checks of the files of a deployment that need the server."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.computing.turns import computed
from vivero.api.deployment.problems import (
    Examined,
    Files,
    evaluates,
    examine_and_pack,
    examined,
    read_all,
    taken,
    webhook_problems,
)
from vivero.api.http.problems import Problem
from vivero.api.services import Services
from vivero.core.bpmn.parser import Parsed
from vivero.engine.compute.turns import WorkKind
from vivero.engine.connectors.inbound import webhooks

SMALL_BYTES = 4 * 1024
"""Files of this size altogether are read at once. Expressions cost most: up to 20 ms."""


async def problems_of_webhooks(services: Services, tenant: str, parsed: Sequence[Parsed]) -> list[str]:
    """The problems of webhooks that are wrong, or whose path belongs to another process."""
    if services.files.webhooks is None:
        return []
    problems = webhook_problems(parsed)
    for resource in parsed:
        for process in resource.processes:
            paths = {webhook.path for webhook in webhooks.webhooks_of(process)}
            problems += taken(
                resource, process, await services.files.webhooks.registry.taken(tenant, process.id, paths)
            )
    return list(dict.fromkeys(problems))


def reject(problems: Sequence[str]) -> None:
    """Raise Problem 400 with the problems, if there are any."""
    if problems:
        listed = "\n".join(problems)
        raise Problem(
            400,
            "INVALID_ARGUMENT",
            "Command 'CREATE' rejected with code 'INVALID_ARGUMENT':"
            f" Expected to deploy new resources, but encountered the following errors:\n{listed}",
        )


async def examined_by(services: Services, files: Files, kind: WorkKind = WorkKind.DEPLOYMENTS) -> Examined:
    """Read and check the files, at once if they are small, and otherwise in a compute process."""
    if sum(len(content) for _, content in files) <= SMALL_BYTES:
        parsed = read_all(files, services.files.limits)
        if not evaluates(parsed):
            return examined(parsed, files)
    return await computed(services, kind, examine_and_pack, files, services.files.limits)
