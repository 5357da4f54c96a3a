"""Parallel joins that can never join any more (BPMN 2.0.2 §13.4.1): a token may come to them, and others cannot.

A token that comes to such a join waits there for ever. The search follows the sequence flows backwards from each
incoming flow. It takes every choice of a gateway for possible, so it never warns of a join that can still join.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from vivero.core.bpmn.model import FlowId, Node, NodeId, Process, link_targets
from vivero.core.state.instance_tree import TERMINATING, Element, Instance
from vivero.core.state.subtrees import descendants
from vivero.core.view import View


class StarvingJoin(NamedTuple):
    """A join in a live scope, and the incoming flows to which no token can come any more."""

    scope_key: int
    scope: NodeId
    join: NodeId
    missing: tuple[FlowId, ...]


def starving_joins(root: Instance | None, view: View) -> set[StarvingJoin]:
    """The joins that starve in the scopes of a tree."""
    if root is None:
        return set()
    graphs = dict[int, _Graph]()
    found = set[StarvingJoin]()
    for scope in descendants(root):
        if scope.tokens and scope.state is not TERMINATING and scope.then is None:
            key = scope.instance.definition_key
            if key not in graphs:
                graphs[key] = _Graph(view.model(key))
            found.update(graphs[key].starving_in(scope))
    return found


class _Graph:
    """The joins of a process, and for each of their flows the places from which a token can come."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._joins = defaultdict[NodeId | None, list[Node]](list)
        self._throws = defaultdict[NodeId, list[NodeId]](list)  # by the catching link event
        for node in process.nodes.values():
            if node.type == "PARALLEL_GATEWAY" and len(node.incoming) > 1:
                self._joins[node.scope].append(node)
            for target in link_targets(node.event):
                self._throws[target].append(node.id)
        self._sources: dict[FlowId, frozenset[str]] = {}

    def starving_in(self, scope: Element) -> Iterator[StarvingJoin]:
        for join in self._joins.get(scope.element, ()):
            missing = tuple(flow for flow in join.incoming if not self._can_come(flow, join, scope.tokens))
            if 0 < len(missing) < len(join.incoming):
                yield StarvingJoin(scope.key, scope.element, join.id, missing)

    def _can_come(self, flow: FlowId, join: Node, tokens: Mapping[str, int]) -> bool:
        if flow not in self._sources:
            self._sources[flow] = self._behind(flow, join.id)
        return not self._sources[flow].isdisjoint(tokens)

    def _behind(self, flow: FlowId, join: NodeId) -> frozenset[str]:
        """The flow, and the flows and nodes from which a token comes to it without passing the join."""
        flows, found = self._process.flows, {flow}
        pending = [flows[flow].source]
        while pending:
            node = pending.pop()
            if node in found or node == join:
                continue
            found.add(node)
            incoming = self._process.nodes[node].incoming
            found.update(incoming)
            pending += (flows[one].source for one in incoming)
            pending += self._before(self._process.nodes[node])
        return frozenset(found)

    def _before(self, node: Node) -> Iterable[NodeId]:
        """Nodes from which a token comes without a flow: the host of a boundary event, the throws of a link."""
        return self._throws.get(node.id, ()) if node.host is None else (node.host,)
