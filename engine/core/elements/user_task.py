"""User task. BPMN 2.0.2 §13.3.3: upon activation the task is offered to people, upon its completion it completes.

With `zeebe:userTask` the engine keeps the task: who may do it, until when, with which form. Without, it is a job of a
well-known type, whose headers say the same. Not here: forms that are deployed (`formId`), listeners.
"""

from __future__ import annotations

from engine.bpmn.model import UserTask
from engine.core.records.effects import Effects, Fail, IncidentType
from engine.core.records.user_tasks import UserTaskCreated
from engine.core.shared.jobs import create_job, whole
from engine.core.shared.schedules import LATEST_MS
from engine.core.tree import Element
from engine.core.view import View, json_of
from engine.feel import Expression
from engine.feel.temporal.calendar import TemporalError
from engine.feel.temporal.timers import parse_date_ms

DEFAULT_PRIORITY, HIGHEST_PRIORITY = 50, 100
MAX_NAME_BYTES = 1024
"""Of a person, a group or a form: they stand in indexes, whose rows PostgreSQL limits to a third of a page."""
MAX_CANDIDATES = 1000
FAILURE = IncidentType.EXTRACT_VALUE_ERROR


def activate(task: Element, at: View) -> Effects:
    node = at.node(task)
    if node.user_task is not None:
        yield from _native(task, node.user_task, at)
        return
    assert node.job is not None, f"the parser makes a job of a user task that is not native: {task.element}"
    _find_form(node.job.form_id, task, at)
    yield from create_job(task, node.job, at)


def _native(task: Element, model: UserTask, at: View) -> Effects:
    _find_form(model.form_id, task, at)
    form = model.external_form or model.form_key
    yield UserTaskCreated(
        at.key(),
        task.key,
        _text(model.assignee, task, at),
        _names(model.candidate_groups, task, at),
        _names(model.candidate_users, task, at),
        _date(model.due_date, task, at),
        _date(model.follow_up_date, task, at),
        _priority(model.priority, task, at),
        dict(model.headers),
        _text(form, task, at),
    )


def _find_form(form_id: Expression | None, task: Element, at: View) -> None:
    """Forms cannot be deployed: whoever names one looks in vain."""
    if form_id is not None:
        wanted = at.typed(form_id, task, str, FAILURE)
        raise Fail(IncidentType.FORM_NOT_FOUND, f"Expected to find a form with id '{wanted}', but none is found.")


def _text(expression: Expression | None, task: Element, at: View) -> str | None:
    """A text; an empty one is none."""
    if expression is None:
        return None
    value: str = at.typed(expression, task, str, FAILURE)
    return _checked(value, expression) or None


def _names(expression: Expression | None, task: Element, at: View) -> tuple[str, ...]:
    if expression is None:
        return ()
    names = at.typed(expression, task, list, FAILURE)
    if any(type(name) is not str for name in names):
        raise Fail(
            FAILURE,
            f"Expected result of the expression '{_told(expression)}' to be 'ARRAY' containing 'STRING' items, but was "
            "'ARRAY' containing at least one non-'STRING' item.",
        )
    if len(names) > MAX_CANDIDATES:
        raise Fail(
            FAILURE, f"The expression '{_told(expression)}' gives {len(names)} names, more than {MAX_CANDIDATES}."
        )
    return tuple(_checked(name, expression) for name in names)


def _date(expression: Expression | None, task: Element, at: View) -> int | None:
    """Epoch milliseconds; null and an empty text are no date."""
    value = None if expression is None else at.evaluate(expression, task)
    if expression is None or value is None or value == "":
        return None
    text = value if isinstance(value, str) else json_of(value).strip('"')
    try:
        epoch_ms = parse_date_ms(text)
    except TemporalError as error:
        raise Fail(FAILURE, f"Invalid date-time format '{text}' for expression '{_told(expression)}'.") from error
    if not 0 <= epoch_ms <= LATEST_MS:
        raise Fail(
            FAILURE, f"The date '{text}' of the expression '{_told(expression)}' is not in the years 1970 to 9999."
        )
    return epoch_ms


def _priority(expression: Expression | None, task: Element, at: View) -> int:
    if expression is None:
        return DEFAULT_PRIORITY
    priority = whole(expression, task, at)
    if not 0 <= priority <= HIGHEST_PRIORITY:
        raise Fail(FAILURE, f"Expected priority to be in the range [0,{HIGHEST_PRIORITY}] but was '{priority}'.")
    return priority


def _checked(name: str, expression: Expression) -> str:
    if len(name.encode()) > MAX_NAME_BYTES or "\0" in name:
        raise Fail(
            FAILURE,
            f"Expected result of the expression '{_told(expression)}' to have names of at most {MAX_NAME_BYTES} bytes "
            f"without NUL, but was '{name[:100]}'.",
        )
    return name


def _told(expression: Expression) -> str:
    return expression.text.removeprefix("=").strip()
