"""Deployed files that a service task gives to its worker: `zeebe:linkedResources`."""

from __future__ import annotations

from vivero.core.bpmn.elements.activities import BINDINGS, binding_of
from vivero.core.bpmn.model import LinkedResource
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import text_or_expression
from vivero.core.bpmn.reading.xml import Element, zeebe_children

LINKS = frozenset({"linkedResources"})
MOST_LINKS = 50
"""Links of one task. The version of each is looked up when the task begins."""


def linked_resources(task: Element, extensions: Extensions, report: Report) -> tuple[LinkedResource, ...]:
    """The links of a task in document order, without those that are wrong (reported)."""
    holder = extensions.get("linkedResources")
    children = [] if holder is None else list(zeebe_children(holder, "linkedResource"))
    if len(children) > MOST_LINKS:
        report.add_problem(task, f"{len(children)} linked resources: at most {MOST_LINKS} are possible", at=holder)
        return ()
    read = (_link(task, child, report) for child in children)
    return tuple(link for link in read if link is not None)


def _link(task: Element, given: Element, report: Report) -> LinkedResource | None:
    type_, text = given.get("resourceType", "").strip(), given.get("resourceId", "").strip()
    if not type_:
        report.add_problem(task, "zeebe:linkedResource needs a resourceType", at=given)
    if not text:
        report.add_problem(task, "zeebe:linkedResource needs a resourceId", at=given)
    resource_id = text_or_expression(text, "resourceId", task, report, at=given) if text else None
    binding, tag = _binding(task, given, report)
    if resource_id is None or not type_:
        return None
    return LinkedResource(resource_id, type_, binding, tag, given.get("linkName", "").strip() or None)


def _binding(task: Element, given: Element, report: Report) -> tuple[str, str | None]:
    """As of a called process. A version tag that the binding does not ask for is no problem: modelers leave it."""
    binding, tag = given.get("bindingType", "latest"), given.get("versionTag", "").strip()
    if binding in BINDINGS and binding != "versionTag" and tag:
        report.warn(task, f"a versionTag has no effect with bindingType={quote(binding)}", at=given)
        return binding, None
    return binding_of(task, given, report)
