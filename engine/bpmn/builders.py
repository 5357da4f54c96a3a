"""From an element of the file to a node of the executable model, one function per way of being read."""

from __future__ import annotations

from typing import Any

from engine.bpmn.draft import Draft, Member
from engine.bpmn.extensions import Extensions, job_definition, mappings, properties
from engine.bpmn.model import Node
from engine.bpmn.xml import line_of


def plain(member: Member, extensions: Extensions, draft: Draft, **more: Any) -> Node:
    """A node with nothing but what every node has: its place, its flows, its mappings."""
    assert member.kind is not None
    element = member.element
    inputs, outputs = mappings(element, extensions, draft.report)
    return Node(
        id=member.id,
        type=member.kind.type,
        name=element.get("name"),
        scope=member.scope,
        incoming=tuple(draft.incoming.get(member.id, ())),
        outgoing=tuple(draft.outgoing.get(member.id, ())),
        default=element.get("default"),
        inputs=inputs,
        outputs=outputs,
        properties=properties(element),
        line=line_of(element),
        **more,
    )


def job_task(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """A task that a job worker does. BPMN 2.0.2 §10.3.3."""
    job = job_definition(member.element, extensions, draft.job_priority, draft.report)
    return plain(member, extensions, draft, job=job)


def sub_process(member: Member, extensions: Extensions, draft: Draft) -> Node:
    """An embedded sub-process. BPMN 2.0.2 §10.3.5."""
    return plain(member, extensions, draft, start=draft.start_of(member.id))
