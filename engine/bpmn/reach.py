"""Which flow nodes a token can come to. One that nothing leads to is no mistake: it is never entered, and said so.

BPMN 2.0.2 §13.3.2 starts an activity without incoming flows together with its process; here, as in Camunda, a process
begins at its start events alone.
"""

from __future__ import annotations

from vivero.engine.bpmn.draft import Draft
from vivero.engine.bpmn.model import NodeId


def tell_unreached(draft: Draft) -> None:
    """A warning for each; what is in a sub-process that nothing leads to goes without saying."""
    reached = _reached(draft)
    scopes = reached | {draft.id}
    for member in draft.members.values():
        if member.kind is not None and member.id not in reached and member.scope in scopes:
            draft.report.warn(member.element, "nothing leads to it: it is never entered")


def _reached(draft: Draft) -> set[NodeId]:
    """From the start events and event sub-processes on, over flows, to boundary events, and over links."""
    jumps = {throw: catch for catch, throws in draft.link_throws.items() for throw in throws}
    left = [start.id for starts in draft.starts.values() for start in starts]
    left += [id for ids in draft.event_sub_processes.values() for id in ids]
    reached = set(left)
    while left:
        node = left.pop()
        following = [draft.flows[flow].target for flow in draft.outgoing.get(node, ())]
        following += draft.attached.get(node, ())
        following += [jumps[node]] if node in jumps else []
        for id in following:
            if id not in reached:
                reached.add(id)
                left.append(id)
    return reached
