"""The walk over a process, which finds its flow nodes and sequence flows by scope.

It works through a list instead of recursion, because the file decides how deeply sub-processes are nested.
"""

from __future__ import annotations

from collections import deque

from vivero.core.bpmn.elements.contents import (
    ACCEPTED_EVERYWHERE,
    ACCEPTED_IN_NODES,
    ACCEPTED_IN_SCOPES,
    DATA,
    ELEMENTS,
    EVENT_SUB_PROCESS,
    NOT_YET,
    PARTS,
    PARTS_NOT_YET,
    PEOPLE_ROLES,
    REPLACED,
)
from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import Draft, ElementKind, Member
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import BPMN, Element, line_of, split

_COUNTED = frozenset((BPMN, tag) for tag in (*ELEMENTS, *NOT_YET, "sequenceFlow"))

PLACEHOLDER = "__targetRef_placeholder"
"""The name of the property that modelers add to a data association, whose warning is enough."""

Ids = dict[str, Element]
"""The ids of flow nodes, sequence flows and executable processes of one file: unique over all of them (`xsd:ID`)."""


def outline(draft: Draft, ids: Ids) -> bool:
    """Fill in the members, containers, starts and flow elements, and report elements that are not executable.

    False if the process is too large to examine any further (reported).
    """
    scopes = deque([(draft.process, draft.id)])
    while scopes:
        container, scope = scopes.popleft()
        draft.containers[scope] = container
        allowed = _allowed_in(container)
        for child in container:
            if split(child) in _COUNTED and not draft.report.takes_node():
                return False
            member = _read_child(child, container, scope, allowed, draft, ids)
            if member is not None and _contains_nodes(member):
                scopes.append((member.element, member.id))
    return True


def _allowed_in(container: Element) -> frozenset[str]:
    kind = ELEMENTS.get(split(container)[1])
    return ACCEPTED_IN_SCOPES if kind is None else ACCEPTED_IN_SCOPES | kind.children


def _read_child(
    child: Element, container: Element, scope: NodeId, allowed: frozenset[str], draft: Draft, ids: Ids
) -> Member | None:
    namespace, tag = split(child)
    if namespace == BPMN and tag == "sequenceFlow":
        if child.get("id") is None or take_id(child, ids, draft.report):
            draft.flow_elements.append(child)
    elif namespace == BPMN and (tag in ELEMENTS or tag in NOT_YET):
        return _read_node(child, tag, scope, draft, ids)
    else:
        is_part = tag in PARTS or tag in PARTS_NOT_YET or child.get("id") is None
        check_child(child, container if is_part else child, allowed, draft.report)
    return None


def _read_node(element: Element, tag: str, scope: NodeId, draft: Draft, ids: Ids) -> Member | None:
    member = Member(element.get("id", ""), element, scope, tag, _kind(element, tag, draft.report))
    if member.kind is None:
        draft.report.add_problem(element, NOT_YET[tag])
    if tag == "startEvent":
        draft.starts.setdefault(scope, []).append(member)
    if not take_id(element, ids, draft.report):
        return None
    draft.members[member.id] = member
    draft.children.setdefault(member.scope, []).append(member)
    return member


def _kind(element: Element, tag: str, report: Report) -> ElementKind | None:
    if tag == "subProcess" and flag(element, "triggeredByEvent", report):
        return EVENT_SUB_PROCESS
    return ELEMENTS.get(tag)


def _contains_nodes(member: Member) -> bool:
    return member.kind is not None and member.kind.scope


def take_id(element: Element, ids: Ids, report: Report) -> bool:
    """Whether the element has an id that is not too long and not taken (otherwise reported)."""
    element_id = element.get("id", "")
    tag = split(element)[1]
    if not element_id.strip():
        report.add_problem(element, f"the {tag} needs an id")
        return False
    if len(element_id) > report.limits.id_length:
        report.add_problem(element, f"the id has more than {report.limits.id_length} characters")
        return False
    if element_id in ids:
        report.add_problem(element, f"the id {quote(element_id)} is already taken in line {line_of(ids[element_id])}")
        return False
    ids[element_id] = element
    return True


# Children -------------------------------------------------------------------------------------------------------------


def check_children(member: Member, report: Report) -> None:
    """Report the children of a flow node that are not executable. The walk itself checks scopes."""
    if member.kind is None or member.kind.scope:
        return
    allowed = ACCEPTED_IN_NODES | member.kind.children
    for child in member.element:
        check_child(child, member.element, allowed, report)


def check_child(child: Element, owner: Element, allowed: frozenset[str], report: Report) -> None:
    """Report a child that is not allowed here, under the id of `owner`."""
    namespace, tag = split(child)
    if namespace != BPMN:
        origin = f"namespace {quote(namespace)}" if namespace else "no namespace"
        report.add_problem(owner, f"the element {quote(tag)} of {origin} belongs into extensionElements", at=child)
    elif tag not in allowed:
        known = PARTS_NOT_YET.get(tag) or NOT_YET.get(tag)
        report.add_problem(owner, known or f"the element {quote(tag)} has no place here", at=child)
    elif tag in PEOPLE_ROLES:
        report.warn(owner, f"{tag} has no effect: zeebe:assignmentDefinition names the people of a user task", at=child)
    elif tag in DATA and child.get("name") != PLACEHOLDER:
        report.warn(owner, f"{tag} has no effect: variables and zeebe:ioMapping take the place of data flows", at=child)
    elif tag in REPLACED:
        report.warn(owner, f"{tag} has no effect: {REPLACED[tag]}", at=child)
    elif tag in PARTS:
        for part in child:
            check_child(part, owner, ACCEPTED_EVERYWHERE | DATA | PARTS[tag], report)
