"""Warnings about the files of a deployment: what is in a model and has no effect, or none yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import structlog

from vivero.api.reading import read
from vivero.api.services import Services
from vivero.core.bpmn.model import CalledElement, FormReference, Node
from vivero.core.bpmn.parser import Parsed
from vivero.core.events.starts import TOOL, TOOL_NAME
from vivero.engine.connectors import models as connectors
from vivero.engine.connectors.inbound import webhooks
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.reads import deployed_files
from vivero.storage.reads.deployed_files import FORM, RESOURCE, FileName

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
    """A warning for each process and file of the same deployment that is not in it. At run time it is an incident."""
    processes = {process.id for resource in parsed for process in resource.processes}
    here = {(name.kind, name.id) for name in _files_of(parsed)}
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                called = node.called
                if called is not None and _lacks(called, processes):
                    what = f"process '{called.process_id.static_value}'"
                    yield _not_here(resource, node, what, "the call becomes an incident")
                for name, binding in _named_files(node):
                    if binding == "deployment" and (name.kind, name.id) not in here:
                        yield _not_here(resource, node, f"{name.kind} '{name.id}'", _without(node))


def _lacks(called: CalledElement, here: Collection[str]) -> bool:
    id = called.process_id
    return called.binding == "deployment" and id.is_static and str(id.static_value) not in here


def _files_of(parsed: Sequence[Parsed]) -> Iterator[FileName]:
    """The forms and generic resources among the files, each also without its version tag."""
    for each in parsed:
        for kind, file in ((FORM, each.form), (RESOURCE, each.generic)):
            if file is not None:
                yield from (FileName(kind, file.id, tag) for tag in (None, file.version_tag))


def _named_files(node: Node) -> Iterator[tuple[FileName, str]]:
    """The forms and generic resources that an element names, with the binding. An expression tells nothing yet."""
    form = form_of(node)
    if form is not None and form.form_id.is_static:
        yield FileName(FORM, str(form.form_id.static_value), form.version_tag), form.binding
    for link in () if node.job is None else node.job.links:
        if link.resource_id.is_static:
            kind = FORM if link.is_form else RESOURCE
            yield FileName(kind, str(link.resource_id.static_value), link.version_tag), link.binding


def _not_here(resource: Parsed, node: Node, what: str, then: str) -> str:
    return (
        f"{_place(resource, node)}: the {what} is not in this deployment, as bindingType='deployment' demands:"
        f" until both are deployed together, {then}"
    )


def _place(resource: Parsed, node: Node) -> str:
    line = f" line {node.line}" if node.line else ""
    return f"'{resource.resource}'{line} element '{node.id}'"


def _without(node: Node) -> str:
    return "the process has no start form" if node.type == "START_EVENT" else "the task becomes an incident"


async def warnings_of_files(parsed: Sequence[Parsed], services: Services, tenant: str) -> list[str]:
    """A warning for each form and generic resource that a process names, and that the tenant does not have.

    Never fails: the deployment is done. If the database cannot be asked, one warning says so.
    """
    named = list(files_elsewhere(parsed))
    names = {file for _, _, file in named if NUL not in file.id and NUL not in (file.version_tag or "")}
    missing = {file for _, _, file in named} - names  # PostgreSQL stores no such text
    if names:
        try:
            missing |= await read(services, lambda connection: deployed_files.missing(connection, tenant, names))
        except StorageError as error:
            log.warning("files that a deployment names were not looked up", error=describe(error))
            return ["the files that the processes name could not be looked up: check that they are deployed"]
    return [lacking(resource, node, file) for resource, node, file in named if file in missing]


def files_elsewhere(parsed: Sequence[Parsed]) -> Iterator[tuple[Parsed, Node, FileName]]:
    """The forms and generic resources that processes name and that are not among the files, and who names them."""
    here = set(_files_of(parsed))
    for resource in parsed:
        for process in resource.processes:
            for node in process.nodes.values():
                for name, binding in _named_files(node):
                    if binding != "deployment" and name not in here:  # it has a warning of its own
                        yield resource, node, name


def form_of(node: Node) -> FormReference | None:
    """The form that an element names, of its user task or of the start of the process."""
    if node.user_task is not None:
        return node.user_task.form
    return node.start_form if node.job is None else node.job.form


def lacking(resource: Parsed, node: Node, file: FileName, there: str = "is deployed") -> str:
    """The warning about a file that is not there."""
    tag = "" if file.version_tag is None else f" with the version tag '{file.version_tag}'"
    return f"{_place(resource, node)}: no {file.kind} '{file.id}'{tag} {there}: until it is deployed, {_without(node)}"
