"""Suggested mappings between two models, each with its reason. People and programs check them before they migrate.

A mapping is suggested only if a migration would accept it: same type, loop, implementation and event, and scopes and
hosts that are mapped to each other. A feature that several elements share suggests nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from vivero.core.bpmn.elements.approvals import is_made
from vivero.core.bpmn.model import Node, Process, parts_of
from vivero.core.feel import Expression
from vivero.core.migration.checks import JOINS, implementation_fits, loop_of, signature

ROUNDS = 40
"""Each round may map what is inside or beside of what the round before has mapped."""


class Reason(StrEnum):
    """The reason of a suggestion, the surest first."""

    SAME_ID = "SAME_ID"
    SAME_NAME = "SAME_NAME"
    SAME_CONTENT = "SAME_CONTENT"
    """The same job type, message, signal, form, called process or decision."""
    SAME_NEIGHBOURS = "SAME_NEIGHBOURS"
    """All elements before it are mapped to those before the other, and all behind it to those behind the other."""


class Suggestion(NamedTuple):
    source: str
    target: str
    reason: Reason


class Suggested(NamedTuple):
    """`unmapped` are the elements of the source for which nothing fits."""

    mappings: list[Suggestion]
    unmapped: list[str]


def suggest(source: Process, target: Process) -> Suggested:
    """Suggestions in the order of the source: not of the process itself, and of flows only where a migration asks."""
    ids, reasons = {source.id: target.id}, dict[str, Reason]()
    for _ in range(ROUNDS):
        if not any(_map(source, target, ids, reasons, reason) for reason in Reason):
            break
    nodes = [id for id, node in source.nodes.items() if id != source.id and not _is_made(node, source)]
    mappings = [Suggestion(id, ids[id], reasons[id]) for id in nodes if id in reasons]
    return Suggested([*mappings, *_flows(source, target, ids)], [id for id in nodes if id not in reasons])


def _flows(source: Process, target: Process, ids: Mapping[str, str]) -> Iterator[Suggestion]:
    """The flows into joins that have other ids in the target, by the elements that they come from."""
    for node in source.nodes.values():
        if node.type in JOINS and len(node.incoming) > 1 and node.id in ids:
            goals = target.nodes[ids[node.id]].incoming
            begins = Counter(target.flows[goal].source for goal in goals)
            by_source = {target.flows[goal].source: goal for goal in goals}
            for flow in node.incoming:
                begin = ids.get(source.flows[flow].source, "")
                if flow not in goals and begins[begin] == 1 and by_source[begin] not in node.incoming:
                    yield Suggestion(flow, by_source[begin], Reason.SAME_NEIGHBOURS)


def _map(source: Process, target: Process, ids: dict[str, str], reasons: dict[str, Reason], reason: Reason) -> bool:
    """Map what has the same feature. Whether there is any: then surer reasons may have more."""
    pairs = list(_pairs(source, target, ids, _FEATURES[reason]))
    for one, other in pairs:
        ids[one.id], reasons[one.id] = other.id, reason
        if one.ad_hoc is not None and other.ad_hoc is not None:
            ids[one.ad_hoc.inner] = other.ad_hoc.inner
    return bool(pairs)


Feature = Callable[[Node, Process, Mapping[str, str]], Hashable]
"""(node, its model, source id → target id, which is empty for nodes of the target) → a feature; None: it has none."""


def _pairs(source: Process, target: Process, ids: Mapping[str, str], feature: Feature) -> Iterator[tuple[Node, Node]]:
    """The unmapped nodes that are alone with their feature on both sides."""
    taken = set(ids.values())
    ones = _by_feature((node for id, node in source.nodes.items() if id not in ids), source, ids, feature)
    others = _by_feature((node for id, node in target.nodes.items() if id not in taken), target, _Same(), feature)
    for key, one in ones.items():
        other = others.get(key)
        if other is not None and implementation_fits(one, other):
            yield one, other


class _Same(dict[str, str]):
    """Maps each id of the target to itself."""

    def __missing__(self, id: str) -> str:
        return id

    def get(self, id: str, _default: object = None) -> str:
        return id


def _by_feature(
    nodes: Iterator[Node], process: Process, ids: Mapping[str, str], feature: Feature
) -> dict[Hashable, Node]:
    found: dict[Hashable, Node] = {}
    counts: Counter[Hashable] = Counter()
    for node in nodes:
        value = None if _is_made(node, process) else feature(node, process, ids)
        place = _place(node, ids)
        if value is not None and place is not None:
            key = place, _kind(node), value
            found[key] = node
            counts[key] += 1
    return {key: node for key, node in found.items() if counts[key] == 1}


def _is_made(node: Node, process: Process) -> bool:
    """Whether no element of the file is this node: the inner node of an ad-hoc sub-process, or of an approval."""
    scope = None if node.scope is None else process.nodes[node.scope]
    return is_made(node.id) or (scope is not None and scope.ad_hoc is not None and scope.ad_hoc.inner == node.id)


def _place(node: Node, ids: Mapping[str, str]) -> tuple[str, str] | None:
    """Its scope and its host in the target; None if one of them is not mapped."""
    scope = ids.get(node.scope or "")
    host = "" if node.host is None else ids.get(node.host)
    return None if scope is None or host is None else (scope, host)


def _kind(node: Node) -> Hashable:
    return node.type, loop_of(node), signature(node)


def _id(node: Node, _process: Process, _ids: Mapping[str, str]) -> Hashable:
    return node.id


def _name(node: Node, _process: Process, _ids: Mapping[str, str]) -> Hashable:
    return node.name or None


def _content(node: Node, _process: Process, _ids: Mapping[str, str]) -> Hashable:
    texts = [node.job.type.text] if node.job is not None else []
    texts += [str(getattr(name, "text", name)) for part in parts_of(node.event) if (name := getattr(part, "name", ""))]
    texts += [one.process_id.text for one in (node.called,) if one is not None]
    texts += [one.decision_id.text for one in (node.decision,) if one is not None]
    texts += [link.resource_id.text for link in (() if node.job is None else node.job.links)]
    texts += [form.text for form in _forms(node) if form is not None]
    return tuple(texts) or None


def _forms(node: Node) -> tuple[Expression | None, ...]:
    task = node.user_task
    if task is None:
        return ()
    return task.form_key, task.external_form, None if task.form is None else task.form.form_id


def _neighbours(node: Node, process: Process, ids: Mapping[str, str]) -> Hashable:
    before = [ids.get(process.flows[flow].source) for flow in node.incoming]
    if node.host is not None:  # nothing is before a boundary event but its activity
        before = [ids.get(node.host)]
    behind = [ids.get(process.flows[flow].target) for flow in node.outgoing]
    if not before or not behind or None in before or None in behind:
        return None
    return tuple(sorted(map(str, before))), tuple(sorted(map(str, behind)))


_FEATURES: Mapping[Reason, Feature] = {
    Reason.SAME_ID: _id,
    Reason.SAME_NAME: _name,
    Reason.SAME_CONTENT: _content,
    Reason.SAME_NEIGHBOURS: _neighbours,
}
