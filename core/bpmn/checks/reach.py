"""The flow nodes that tokens can reach. An unreachable one is never entered, which gives a warning, not a problem.

BPMN 2.0.2 §13.3.2 starts an activity without incoming flows together with its process. Here, as in Camunda, a scope
with a start event begins only there.
"""

from __future__ import annotations

from vivero.core.bpmn.elements.ad_hoc import activatable
from vivero.core.bpmn.elements.approvals import is_made
from vivero.core.bpmn.elements.implicit_starts import implicit_starts, instantiating
from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import Draft


def tell_unreached(draft: Draft) -> None:
    """Warn of each unreachable flow node, but not of those inside an unreachable sub-process."""
    reached = _reached(draft)
    scopes = reached | {draft.id}
    for member in draft.members.values():
        if member.kind is not None and member.id not in reached and member.scope in scopes:
            draft.report.warn(member.element, "nothing leads to it: it is never entered")


def _reached(draft: Draft) -> set[NodeId]:
    """All nodes that tokens reach from those with which scopes begin, and from event sub-processes."""
    jumps = {throw: catch for catch, throws in draft.link_throws.items() for throw in throws}
    left = [start.id for starts in draft.starts.values() for start in starts]
    left += [id for ids in draft.event_sub_processes.values() for id in ids]
    left += [one.id for ad_hoc in draft.of_type("AD_HOC_SUB_PROCESS") for one in activatable(ad_hoc.id, draft)]
    left += filter(is_made, draft.members)
    left += [id for scope in draft.containers for id in implicit_starts(scope, draft)]
    left += instantiating(draft.id, draft)
    reached = set(left)
    while left:
        node = left.pop()
        following = [draft.flows[flow].target for flow in draft.outgoing.get(node, ())]
        following += draft.attached.get(node, ())
        following += [jumps[node]] if node in jumps else []
        following += [draft.handlers[node]] if node in draft.handlers else []
        for id in following:
            if id not in reached:
                reached.add(id)
                left.append(id)
    return reached
