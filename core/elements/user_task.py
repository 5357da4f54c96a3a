"""User task. BPMN 2.0.2 §13.3.3: activation offers the task to people. When they complete it, the element completes.

With `zeebe:userTask` the engine manages the task: assignee, candidates, dates, form. Without, the element creates a job
of a well-known type with the same data in its headers. Listeners of the creation, and of the assignment to the model's
assignee, come before anybody can work on the task (`core.shared.task_transitions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vivero.core.bpmn.model import UserTaskDefinition
from vivero.core.bpmn.reading.text_limits import (
    CANDIDATE_CHARACTERS,
    CANDIDATES,
    HIGHEST_TASK_PRIORITY,
    NAME_BYTES,
    size,
)
from vivero.core.elements import defaults
from vivero.core.events.due_times import due_at
from vivero.core.events.schedules import LATEST_MS
from vivero.core.expressions.results import column_text, json_of
from vivero.core.feel import Expression
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_date_ms
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.user_tasks import UserTaskChanging, UserTaskCreated
from vivero.core.shared import approvals, task_transitions
from vivero.core.shared.forms import form_key
from vivero.core.shared.jobs import create_job, int32_of
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

DEFAULT_PRIORITY = 50
FORM_HEADER = "io.camunda.zeebe:formKey"
"""The header with the key of a deployed form, for the workers of tasks that are jobs."""
FAILURE = IncidentType.EXTRACT_VALUE_ERROR


def activate(task: Element, view: View) -> Effects:
    node = view.node(task)
    if node.user_task is not None:
        yield from _native(task, node.user_task, view)
        return
    assert node.job is not None, f"the parser gives job-based user tasks a job: {task.element}"
    form = form_key(node.job.form, task, view)
    headers = dict(_headers(node.job.computed, task, view))
    if form is not None:
        headers[FORM_HEADER] = str(form)
    yield from create_job(task, node.job, view, headers)


def leave(task: Element, view: View) -> Effects:
    node = view.node(task)
    tool = approvals.tool_of(node, view.model(task.instance.definition_key).nodes)
    return defaults.leave(task, view) if tool is None else approvals.leave(task, tool)


def _headers(computed: Mapping[str, Expression], task: Element, view: View) -> Iterator[tuple[str, str]]:
    """Assignee, candidates, dates and form as headers for a worker. Empty values are left out."""
    for name, expression in computed.items():
        text = _KINDS[name.rpartition(":")[2]](expression, task, view)
        if text:
            yield name, text


def _names_as_text(expression: Expression, task: Element, view: View) -> str:
    return json_of(list(_names(expression, task, view)))


def _date_as_text(expression: Expression, task: Element, view: View) -> str | None:
    """The date as the model or the variables give it, after checking it."""
    if _date(expression, task, view) is None:
        return None
    return _date_text(view.expressions.evaluate(expression, task), view)


def _native(task: Element, model: UserTaskDefinition, view: View) -> Effects:
    found = form_key(model.form, task, view)
    form = model.external_form or model.form_key
    assignee, key = _text(model.assignee, task, view), view.key()
    first = task_transitions.first(task, assignee, view)
    yield UserTaskCreated(
        key,
        task.key,
        assignee if first is None else None,
        _names(model.candidate_groups, task, view),
        _names(model.candidate_users, task, view),
        _date(model.due_date, task, view) if model.due is None else due_at(model.due, task, view),
        _date(model.follow_up_date, task, view),
        _priority(model.priority, task, view),
        dict(model.headers),
        _text(form, task, view),
        found,
    )
    if first is not None:
        yield UserTaskChanging(key, first)


def _text(expression: Expression | None, task: Element, view: View) -> str | None:
    """The text, or None if it is empty."""
    if expression is None:
        return None
    return _checked(view.expressions.text(expression, task), expression) or None


def _names(expression: Expression | None, task: Element, view: View) -> tuple[str, ...]:
    if expression is None:
        return ()
    names = view.expressions.typed(expression, task, list, FAILURE)
    if any(type(name) is not str for name in names):
        raise Fail(
            FAILURE,
            f"Expected result of the expression '{_source(expression)}' to be 'ARRAY' containing 'STRING' items, but "
            "was 'ARRAY' containing at least one non-'STRING' item.",
        )
    if len(names) > CANDIDATES:
        raise Fail(
            FAILURE,
            f"The expression '{_source(expression)}' gives {len(names)} names, more than {CANDIDATES}.",
        )
    if sum(map(len, names)) > CANDIDATE_CHARACTERS:
        raise Fail(
            FAILURE,
            f"The names that the expression '{_source(expression)}' gives have more than {CANDIDATE_CHARACTERS} "
            "characters together.",
        )
    return tuple(_checked(name, expression) for name in names)


def _date(expression: Expression | None, task: Element, view: View) -> int | None:
    """Epoch milliseconds; None for null and for an empty text."""
    value = None if expression is None else view.expressions.evaluate(expression, task)
    if expression is None or value is None or value == "":
        return None
    text = _date_text(value, view)
    try:
        epoch_ms = parse_date_ms(text)
    except TemporalError as error:
        raise Fail(
            FAILURE, f"Invalid date-time format '{text[:100]}' for expression '{_source(expression)}'."
        ) from error
    if not 0 <= epoch_ms <= LATEST_MS:
        raise Fail(
            FAILURE,
            f"The date '{text}' of the expression '{_source(expression)}' is not in the years 1970 to 9999.",
        )
    return epoch_ms


def _date_text(value: Any, view: View) -> str:
    return value if isinstance(value, str) else view.expressions.json_of(value).strip('"')


def _priority(expression: Expression | None, task: Element, view: View) -> int:
    if expression is None:
        return DEFAULT_PRIORITY
    priority = int32_of(expression, task, view)
    if not 0 <= priority <= HIGHEST_TASK_PRIORITY:
        raise Fail(FAILURE, f"Expected priority to be in the range [0,{HIGHEST_TASK_PRIORITY}] but was '{priority}'.")
    return priority


def _checked(name: str, expression: Expression) -> str:
    if size(name) > NAME_BYTES:
        raise Fail(
            FAILURE,
            f"Expected result of the expression '{_source(expression)}' to have names of at most {NAME_BYTES} "
            f"bytes, but was '{name[:100]}'.",
        )
    return column_text(expression, name)


def _source(expression: Expression) -> str:
    return expression.text.removeprefix("=").strip()


_KINDS: Mapping[str, Callable[[Expression, Element, View], str | None]] = {
    "assignee": _text,
    "candidateGroups": _names_as_text,
    "candidateUsers": _names_as_text,
    "dueDate": _date_as_text,
    "followUpDate": _date_as_text,
    "formKey": _text,
}
"""Header of a job-based user task → the function that evaluates it."""
