"""Warnings about the files of a deployment: what is in a model and has no effect, or none yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import structlog

from vivero.api.reading import read
from vivero.api.services import Services
from vivero.core.bpmn.model import FormReference, Node
from vivero.core.bpmn.parser import Parsed
from vivero.core.events.starts import TOOL, TOOL_NAME
from vivero.core.feel import Expression
from vivero.engine.connectors import models as connectors
from vivero.engine.connectors import webhooks
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.reads import deployed_forms
from vivero.storage.reads.deployed_forms import FormName

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
    return [*found, *_tools_without_names(parsed), *_not_in_this_deployment(parsed)]


def _tools_without_names(parsed: Sequence[Parsed]) -> Iterator[str]:
    """A warning for each start event that should be a tool of agents, and cannot, because of its name."""
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                name = node.properties.get(f"{TOOL}name")
                if name is not None and TOOL_NAME.fullmatch(name) is None:
                    yield (
                        f"'{resource.resource}': process '{process.id}', element '{node.id}': agents do not see this"
                        f" tool, because its name '{name[:100]}' has other characters than letters, digits, '_', '-'"
                        " and '.', or more than 100"
                    )


def _not_in_this_deployment(parsed: Sequence[Parsed]) -> Iterator[str]:
    """A warning for each process and form of the same deployment that is not in it. At run time it is an incident."""
    processes = {process.id for resource in parsed for process in resource.processes}
    forms = {resource.form.id for resource in parsed if resource.form is not None}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                called, form = node.called, form_of(node)
                if called is not None and _lacks(called.process_id, called.binding, processes):
                    what = f"process '{called.process_id.static_value}'"
                    yield _not_here(resource, node, what, "the call becomes an incident")
                if form is not None and _lacks(form.form_id, form.binding, forms):
                    yield _not_here(resource, node, f"form '{form.form_id.static_value}'", _without_form(node))


def _lacks(id: Expression, binding: str, here: Collection[str]) -> bool:
    return binding == "deployment" and id.is_static and str(id.static_value) not in here


def _not_here(resource: Parsed, node: Node, what: str, then: str) -> str:
    return (
        f"{_place(resource, node)}: the {what} is not in this deployment, as bindingType='deployment' demands:"
        f" until both are deployed together, {then}"
    )


def _place(resource: Parsed, node: Node) -> str:
    line = f" line {node.line}" if node.line else ""
    return f"'{resource.resource}'{line} element '{node.id}'"


def _without_form(node: Node) -> str:
    return "the process has no start form" if node.type == "START_EVENT" else "the task becomes an incident"


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
            log.warning("forms of a deployment were not looked up", error=describe(error))
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
                    continue  # its own warning, and an expression tells nothing yet
                name = FormName(str(form.form_id.static_value), form.version_tag)
                if name not in here:
                    yield resource, node, name


def form_of(node: Node) -> FormReference | None:
    """The form that an element names, of its user task or of the start of the process."""
    if node.user_task is not None:
        return node.user_task.form
    return node.start_form if node.job is None else node.job.form


def lacking(resource: Parsed, node: Node, form: FormName, there: str = "is deployed") -> str:
    """The warning about a form that is not there."""
    tag = "" if form.version_tag is None else f" with the version tag '{form.version_tag}'"
    return f"{_place(resource, node)}: no form '{form.id}'{tag} {there}: until it is deployed, {_without_form(node)}"
