"""The deployed form of a user task or of the start of a process: `zeebe:formDefinition`."""

from __future__ import annotations

from vivero.core.bpmn.elements.activities import BINDINGS
from vivero.core.bpmn.model import FormReference
from vivero.core.bpmn.reading.draft import Draft, Member, Place, is_none_event
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import is_expression
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import constant

EMBEDDED = "camunda-forms:"
"""The beginning of a `formKey` that names a form in the same BPMN file (`zeebe:userTaskForm`)."""
START_FORM = frozenset({"formDefinition"})


def takes_start_form(member: Member, draft: Draft) -> bool:
    """Whether an element is the none start event of its process. Clients may show a form there."""
    return draft.place_of(member) is Place.PROCESS_START and is_none_event(member.element)


def start_form(member: Member, extensions: Extensions, draft: Draft) -> FormReference | None:
    """The start form of a process: `zeebe:formDefinition` of its none start event.

    What is wrong with it is a warning, because the process can be started all the same.
    """
    form = extensions.get("formDefinition")
    return None if form is None else _start_form(member.element, form, draft.report)


def _start_form(element: Element, form: Element, report: Report) -> FormReference | None:
    form_id, binding = form.get("formId", "").strip(), form.get("bindingType", "latest")
    tag = form.get("versionTag", "").strip() or None
    text = _wrong_start_form(form_id, binding, tag)
    if text is not None:
        report.warn(element, f"zeebe:formDefinition has no effect here: {text}", at=form)
        return None
    return FormReference(constant(form_id, form_id), binding, tag if binding == "versionTag" else None)


def _wrong_start_form(form_id: str, binding: str, tag: str | None) -> str | None:
    if not form_id:
        return "a start form is named by formId, and deployed as a file of its own"
    if is_expression(form_id):
        return "the formId of a start form cannot be an expression, because there are no variables yet"
    if binding not in BINDINGS:
        return f"bindingType {quote(binding)} is none of {', '.join(BINDINGS)}"
    return "bindingType='versionTag' needs a versionTag" if binding == "versionTag" and not tag else None
