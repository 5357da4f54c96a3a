"""Warnings about the files of a deployment: what is in a model and has no effect, or none yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import structlog

from vivero.api.deployment_problems import form_of
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.engine.bpmn.model import Node
from vivero.engine.bpmn.parser import Parsed
from vivero.engine.connectors import models as connectors
from vivero.engine.connectors import webhooks
from vivero.storage import deployed_forms
from vivero.storage.deployed_forms import FormName
from vivero.storage.postgres.errors import StorageError, told

log = structlog.get_logger(__name__)

NUL = "\0"


def warnings_of(
    parsed: Sequence[Parsed], connectors_enabled: bool, has_secret: Callable[[str], bool] | None = None
) -> list[str]:
    """The warnings that the files cause by themselves, whatever is deployed already.

    `has_secret(name)`: whether the server has this secret of connectors; None: that is not known here.
    """
    found = [str(warning) for resource in parsed for warning in resource.warnings]
    for resource in parsed:
        found += connectors.warnings(resource.resource, resource.processes, connectors_enabled)
        for process in resource.processes if connectors_enabled else ():
            found += webhooks.warnings(resource.resource, process, has_secret)
    return [*found, *_lacking_processes(parsed)]


def _lacking_processes(parsed: Sequence[Parsed]) -> Iterator[str]:
    """A warning for each call of a process of the same deployment, which has no such process."""
    here = {process.id for resource in parsed for process in resource.processes}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                called = node.called
                if called is None or called.binding != "deployment" or not called.process_id.is_static:
                    continue
                if (id := str(called.process_id.static_value)) not in here:
                    line = f" line {node.line}" if node.line else ""
                    yield (
                        f"'{resource.resource}'{line} element '{node.id}': the process '{id}' is not in this"
                        " deployment, as bindingType='deployment' demands: until both are deployed together, the call"
                        " becomes an incident"
                    )


async def warnings_of_forms(parsed: Sequence[Parsed], services: Services, tenant: str) -> list[str]:
    """A warning for each form that a process names, and that the deployed forms do not have.

    Never fails: the deployment is done. If the database cannot be asked, one warning says so.
    """
    named = list(forms_elsewhere(parsed))
    names = {form for _, _, form in named if NUL not in form.id and NUL not in (form.version_tag or "")}
    missing = {form for _, _, form in named} - names  # PostgreSQL stores no such text
    if names:
        try:
            missing |= await read(services, lambda connection: deployed_forms.missing(connection, tenant, names))
        except StorageError as error:
            log.warning("forms of a deployment were not looked up", error=told(error))
            return ["the forms that the files name could not be looked up: check that they are deployed"]
    return [lacking(resource, node, form) for resource, node, form in named if form in missing]


def forms_elsewhere(parsed: Sequence[Parsed]) -> Iterator[tuple[Parsed, Node, FormName]]:
    """The forms that processes name and that are not among the files, with the elements that name them."""
    here = {(each.form.id, tag) for each in parsed if each.form is not None for tag in (None, each.form.version_tag)}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                form = form_of(node)
                if form is None or form.binding == "deployment" or not form.form_id.is_static:
                    continue  # the deployment itself is checked, and an expression tells nothing yet
                name = FormName(str(form.form_id.static_value), form.version_tag)
                if name not in here:
                    yield resource, node, name


def lacking(resource: Parsed, node: Node, form: FormName, there: str = "is deployed") -> str:
    """The warning about a form that is not there."""
    line = f" line {node.line}" if node.line else ""
    tag = "" if form.version_tag is None else f" with the version tag '{form.version_tag}'"
    then = "the process has no start form" if node.type == "START_EVENT" else "the task becomes an incident"
    what = f"no form '{form.id}'{tag} {there}: until it is deployed, {then}"
    return f"'{resource.resource}'{line} element '{node.id}': {what}"
