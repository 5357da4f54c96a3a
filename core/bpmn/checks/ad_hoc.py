"""The rules about ad-hoc sub-processes. BPMN 2.0.2 §10.3.5."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.elements.ad_hoc import activatable
from vivero.core.bpmn.reading.draft import Draft, Member
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import Element, bpmn_children, zeebe_children


def ad_hoc_sub_processes(draft: Draft) -> None:
    """An ad-hoc sub-process contains something that can be activated, and neither start nor end events."""
    for ad_hoc in draft.of_type("AD_HOC_SUB_PROCESS"):
        _contents(ad_hoc, draft)
        if flag(ad_hoc.element, "triggeredByEvent", draft.report):
            draft.report.add_problem(ad_hoc.element, "an event sub-process cannot be an ad-hoc sub-process")
        if _extension(ad_hoc.element, "taskDefinition") is not None:
            for what, at in _decided_by_the_worker(ad_hoc.element, draft):
                text = f"Must not define {what} in combination with zeebe:taskDefinition."
                draft.report.add_problem(ad_hoc.element, text, at=at)


def _contents(ad_hoc: Member, draft: Draft) -> None:
    children = draft.children.get(ad_hoc.id, ())
    if not children:
        draft.report.add_problem(ad_hoc.element, "Must have at least one activity.")
    elif not any(activatable(ad_hoc.id, draft)):
        draft.report.add_problem(ad_hoc.element, "has no element that can be activated: one without incoming flows")
    for child in children:
        if child.tag in ("startEvent", "endEvent"):
            what = "a start event" if child.tag == "startEvent" else "an end event"
            draft.report.add_problem(ad_hoc.element, f"Must not contain {what}.", at=child.element)
        if child.id == draft.inner_scope(ad_hoc.id):
            draft.report.add_problem(child.element, "has the id of the inner instances of its ad-hoc sub-process")


def _decided_by_the_worker(element: Element, draft: Draft) -> Iterator[tuple[str, Element | None]]:
    """The settings that only an ad-hoc sub-process without a worker may have."""
    if not flag(element, "cancelRemainingInstances", draft.report, default=True):
        yield "cancelRemainingInstances", None
    for condition in bpmn_children(element, "completionCondition"):
        yield "completionCondition", condition
    given = _extension(element, "adHoc")
    if given is not None and given.get("activeElementsCollection", "").strip():
        yield "activeElementsCollection", given


def _extension(element: Element, name: str) -> Element | None:
    holders = bpmn_children(element, "extensionElements")
    return next((child for holder in holders for child in zeebe_children(holder, name)), None)
