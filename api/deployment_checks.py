"""Checks of the files of a deployment against each other. Each file has been read by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vivero.api.problems import Problem
from vivero.api.services import Services
from vivero.engine.bpmn.model import FormReference, Node, Process
from vivero.engine.bpmn.parser import Parsed
from vivero.engine.connectors import webhooks
from vivero.engine.core.shared.starts import InvalidStart, metadata_of


def check(parsed: Sequence[Parsed]) -> None:
    """Raise Problem 400 with all problems of the files."""
    _reject(problems_of(parsed))


def problems_of(parsed: Sequence[Parsed]) -> list[str]:
    """All problems that the files have by themselves, whatever is deployed already."""
    problems = [str(problem) for resource in parsed for problem in resource.deployment_problems]
    problems += _repeated_ids(parsed)
    problems += _start_problems(parsed)
    problems += _lacking_forms(parsed)
    return problems


def webhook_problems(parsed: Sequence[Parsed]) -> list[str]:
    """Problems of the webhooks of these files, without a look at deployed ones."""
    problems: list[str] = []
    owners: dict[str, str] = {}
    for resource in parsed:
        for process in resource.processes:
            problems += webhooks.problems(resource.resource, process)
            paths = {webhook.path for webhook in webhooks.webhooks_of(process)}
            problems += _taken(resource, process, paths & owners.keys())
            owners |= dict.fromkeys(paths, process.id)
    return problems


def _taken(resource: Parsed, process: Process, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths):
        yield f"'{resource.resource}': process '{process.id}' has the webhook path '{path}' of another process"


async def check_webhooks(services: Services, tenant: str, parsed: Sequence[Parsed]) -> None:
    """Raise Problem 400 for webhooks that are wrong, or whose path belongs to another process."""
    if services.webhooks is None:
        return
    problems = webhook_problems(parsed)
    for resource in parsed:
        for process in resource.processes:
            paths = {webhook.path for webhook in webhooks.webhooks_of(process)}
            problems += _taken(resource, process, await services.webhooks.registry.taken(tenant, process.id, paths))
    _reject(list(dict.fromkeys(problems)))


def _reject(problems: list[str]) -> None:
    """Raise Problem 400 with the problems, if there are any."""
    if problems:
        listed = "\n".join(problems)
        raise Problem(
            400,
            "INVALID_ARGUMENT",
            "Command 'CREATE' rejected with code 'INVALID_ARGUMENT':"
            f" Expected to deploy new resources, but encountered the following errors:\n{listed}",
        )


def _repeated_ids(parsed: Sequence[Parsed]) -> Iterator[str]:
    places: dict[tuple[str, str], str] = {}
    for resource in parsed:
        for what, id in _ids(resource):
            if (what, id) in places:
                yield (
                    f"'{resource.resource}': {what} '{id}' is also in '{places[what, id]}';"
                    f" a deployment can contain a {what} id only once"
                )
            places[what, id] = resource.resource


def _ids(resource: Parsed) -> Iterator[tuple[str, str]]:
    for process in resource.processes:
        yield "process", process.id
    if resource.form is not None:
        yield "form", resource.form.id


def _start_problems(parsed: Sequence[Parsed]) -> Iterator[str]:
    for resource in parsed:
        for process in resource.processes:
            try:
                metadata_of(process)
            except InvalidStart as error:
                yield f"'{resource.resource}': {error}"


def _lacking_forms(parsed: Sequence[Parsed]) -> Iterator[str]:
    """References to a form of the same deployment, which has no such form. They could never be resolved."""
    forms = {resource.form.id for resource in parsed if resource.form is not None}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                form = form_of(node)
                if form is None or form.binding != "deployment" or not form.form_id.is_static:
                    continue
                if (id := str(form.form_id.static_value)) not in forms:
                    line = f" line {node.line}" if node.line else ""
                    yield (
                        f"'{resource.resource}'{line} element '{node.id}': the form '{id}' is not in this deployment,"
                        " as bindingType='deployment' demands"
                    )


def form_of(node: Node) -> FormReference | None:
    """The form that an element names, of its user task or of the start of the process."""
    if node.user_task is not None:
        return node.user_task.form
    return node.start_form if node.job is None else node.job.form
