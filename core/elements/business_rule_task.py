"""Business rule task. BPMN 2.0.2 §10.3.3: it gives variables to a decision and gets its result. The engine evaluates
the decision (`zeebe:calledDecision`), or a worker does (job).

The binding selects the version: the latest, the one from the process's deployment, or the latest with a version tag.
"""

from __future__ import annotations

from vivero.core.dmn.evaluation import expected
from vivero.core.elements import service_task
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.bindings import bound
from vivero.core.shared.decisions import evaluate, evaluated_event
from vivero.core.shared.listeners import START
from vivero.core.shared.variables import set_result
from vivero.core.state.catalogue import DecisionVersion
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(task: Element, view: View) -> Effects:
    called = view.node(task).decision
    if called is None:
        yield from service_task.activate(task, view)
        return
    again = _again(task, view)
    decision = _version(task, view.expressions.text(called.decision_id, task), again, view)
    evaluated = evaluate(decision, view.expressions.variables(task, {}), view)
    event = evaluated_event(evaluated, view, task.key)
    if evaluated.failure is not None:
        raise Fail(IncidentType.DECISION_EVALUATION_ERROR, evaluated.failure, again, (event,))
    yield event
    yield from set_result(task, {called.result: evaluated.output}, view)
    yield ElementCompleting(task.key)


def _again(task: Element, view: View) -> str | None:
    """The stage that resolving an incident runs again: the input mappings, unless listeners have seen their values."""
    node = view.node(task)
    return "inputs" if (node.inputs or task.is_inner) and START not in node.listeners else None


def _version(task: Element, decision_id: str, again: str | None, view: View) -> DecisionVersion:
    called = view.node(task).decision
    assert called is not None, f"the task calls a decision: {task.element}"
    versions = view.decision_versions(decision_id, task.instance.tenant).values()
    decision = bound(versions, called.binding, called.version_tag, view.definition(task.instance.definition_key))
    if decision is None:
        found = f"no decision found for id '{decision_id}'"
        if called.binding == "deployment":
            found += " in the deployment of the process"
        elif called.binding == "versionTag":
            found += f" and version tag '{called.version_tag}'"
        raise Fail(IncidentType.CALLED_DECISION_ERROR, f"{expected(decision_id)}{found}", again)
    return decision
