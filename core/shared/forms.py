"""The form of a user task, which is found when the task is created: a later version does not change an open task."""

from __future__ import annotations

from vivero.core.bpmn.model import FormReference
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.shared.bindings import bound, not_bound
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def form_key(reference: FormReference | None, task: Element, view: View) -> int | None:
    """The key of the form that a task refers to; None without a reference.

    Raises:
        Fail: no such form is deployed.
    """
    if reference is None:
        return None
    form_id = view.expressions.text(reference.form_id, task)
    versions = view.form_versions(form_id, task.instance.tenant).values()
    caller = view.definition(task.instance.definition_key)
    form = bound(versions, reference.binding, reference.version_tag, caller)
    if form is None:
        raise Fail(
            IncidentType.FORM_NOT_FOUND, not_bound("find", "form", form_id, reference.binding, reference.version_tag)
        )
    return form.key
