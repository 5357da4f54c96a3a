"""The deployed files that a service task gives to its worker, which are found when the task begins.

A later version does not change an open job.
"""

from __future__ import annotations

from collections.abc import Iterable

from vivero.core.bpmn.model import LinkedResource
from vivero.core.expressions.results import json_of
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.shared.bindings import bound
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

HEADER = "linkedResources"
"""The header of the job. Its value is a JSON array with an object for each link, in the order of the model."""


def headers(links: Iterable[LinkedResource], task: Element, view: View) -> dict[str, str]:
    """The header of the job with the keys of all links; nothing without links.

    Raises:
        Fail: a file is not deployed, or not in the version that its binding asks for.
    """
    found = [_document(link, task, view) for link in links]
    return {HEADER: json_of(found)} if found else {}


def _document(link: LinkedResource, task: Element, view: View) -> dict[str, str | None]:
    return {"resourceKey": str(_key(link, task, view)), "resourceType": link.type, "linkName": link.link_name}


def _key(link: LinkedResource, task: Element, view: View) -> int:
    id, tenant = view.expressions.text(link.resource_id, task), task.instance.tenant
    caller = view.definition(task.instance.definition_key)
    if link.is_form:
        forms = view.form_versions(id, tenant).values()
        form = bound(forms, link.binding, link.version_tag, caller)
        if form is None:
            raise Fail(IncidentType.FORM_NOT_FOUND, _not_found("form", id, link))
        return form.key
    resources = view.generic_resource_versions(id, tenant).values()
    resource = bound(resources, link.binding, link.version_tag, caller)
    if resource is None:
        raise Fail(IncidentType.RESOURCE_NOT_FOUND, _not_found("resource", id, link))
    return resource.key


def _not_found(what: str, id: str, link: LinkedResource) -> str:
    expected = f"Expected to link a {what} with id '{id}'"
    if link.binding == "deployment":
        return f"{expected} in the deployment of the process, but it has none. Deploy the process with the {what}."
    if link.binding == "versionTag":
        expected += f" and version tag '{link.version_tag}'"
    return f"{expected}, but none is found. Deploy it, and resolve the incident."
