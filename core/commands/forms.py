"""Forms in deployments and deletions."""

from __future__ import annotations

from vivero.core.records.catalogue import DeployedForm, FormAdded, FormMetadata, ResourceReference
from vivero.core.shared.bindings import bound
from vivero.core.state.catalogue import FormVersion
from vivero.core.view import View


def unchanged(resource: ResourceReference, form: FormMetadata, view: View) -> FormVersion | None:
    """The latest version of the form if it has the same name and content."""
    newest = bound(view.form_versions(form.id).values(), "latest")
    same = newest is not None and (newest.sha256, newest.resource) == (resource.sha256, resource.name)
    return newest if same else None


def added(resource: ResourceReference, form: FormMetadata, deployment: int, view: View) -> FormAdded:
    """The event of a new version."""
    version = max(view.form_versions(form.id), default=0) + 1
    key, tenant = view.key(), view.tenant
    return FormAdded(key, deployment, tenant, form.id, version, form.version_tag, resource.name, resource.sha256)


def answer(form: FormVersion | FormAdded, resource: ResourceReference, view: View) -> DeployedForm:
    return DeployedForm(form.form_id, form.version, resource.name, view.tenant, form.key)
