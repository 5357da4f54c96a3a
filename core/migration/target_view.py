"""The view of an instance as it will be after its migration."""

from __future__ import annotations

from collections.abc import Mapping

from vivero.core.bpmn.model import JobDefinition, Node, Process
from vivero.core.expressions.evaluation import Expressions
from vivero.core.migration.plan import Plan
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


class TargetView(View):
    """A view in which the elements of the instance already have their nodes in the target model."""

    __slots__ = ("plan",)

    def __init__(self, view: View, plan: Plan, *, is_trial: bool = False) -> None:
        """`is_trial`: what is evaluated does not happen, and takes no keys."""
        for name in View.__slots__:
            setattr(self, name, getattr(view, name))
        self.plan = plan
        if is_trial:
            self.key = _no_key
        self.expressions = Expressions(view.state, view.budget, self.node, self.camunda)

    def model(self, definition_key: int) -> Process:
        known = definition_key == self.plan.instance.definition_key
        return self.plan.target if known else super().model(definition_key)

    def node(self, element: Element) -> Node:
        if element.instance is self.plan.instance:
            return self.plan.target.nodes[self.plan.id_of(element)]
        return super().node(element)

    def listeners_of_end(self, element: Element) -> Mapping[str, tuple[JobDefinition, ...]]:
        return self.node(element).listeners


def _no_key() -> int:
    return 0
