"""Decision instances: the record of each decision that was evaluated. The engine writes them and never reads them."""

from __future__ import annotations

from typing import Annotated

from vivero.core.records.decision_evaluations import EvaluatedInput, EvaluatedRule
from vivero.core.state.columns import MEMORY, TENANT, Column, Time
from vivero.core.state.instance_tree import Element
from vivero.core.state.rows import Row

EVALUATED, FAILED = "EVALUATED", "FAILED"


class DecisionInstance(Row):
    """A row of `decision_instances`. `element` is the business rule task; None for the request of a client."""

    element: Annotated[Element | None, MEMORY]
    tenant: Annotated[str, TENANT]
    evaluation: Annotated[int, Column(stored="decision_evaluation_key", key=True)]
    number: int
    """Its place in the evaluation, from 1."""
    decision: Annotated[int, Column(stored="decision_definition_key", key=True)]
    decision_id: str
    name: str
    version: int
    type: str
    asked: Annotated[int, Column(stored="root_decision_definition_key", key=True)]
    """The decision that was asked for. Its evaluation took this one."""
    requirements: Annotated[int, Column(stored="decision_requirements_key", key=True)]
    state: str
    failure: str | None
    result: str
    inputs: tuple[EvaluatedInput, ...]
    rules: tuple[EvaluatedRule, ...]
    evaluated_at: Time
    business_id: str | None

    def place(self) -> Element | None:
        return self.element
