"""The deployed files that a service task gives to its worker, which are found when the task begins.

A later version does not change an open job.
"""

from __future__ import annotations

from collections.abc import Iterable

from vivero.core.bpmn.model import LinkedResource
from vivero.core.expressions.results import json_of
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.shared.bindings import bound, not_bound
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
        form = bound(view.form_versions(id, tenant).values(), link.binding, link.version_tag, caller)
        if form is None:
            reason = not_bound("link", "form", id, link.binding, link.version_tag)
            raise Fail(IncidentType.FORM_NOT_FOUND, reason)
        return form.key
    resources = view.generic_resource_versions(id, tenant).values()
    resource = bound(resources, link.binding, link.version_tag, caller)
    if resource is None:
        reason = not_bound("link", "resource", id, link.binding, link.version_tag)
        raise Fail(IncidentType.RESOURCE_NOT_FOUND, reason)
    return resource.key
