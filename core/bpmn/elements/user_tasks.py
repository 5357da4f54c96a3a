"""User tasks: work for people. BPMN 2.0.2 §10.3.4.1.

With `zeebe:userTask` the engine keeps the task. Without it the task is a job of a well-known type, whose headers name
the assignee and the candidates. That is the older way, which workers of task lists still use.
"""

from __future__ import annotations

from dataclasses import replace

from vivero.core.bpmn.elements.activities import binding_of
from vivero.core.bpmn.elements.due_times import PROPERTY, due_time
from vivero.core.bpmn.elements.form_references import EMBEDDED
from vivero.core.bpmn.model import FormReference, JobDefinition, UserTaskDefinition
from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.extensions import JOB, PEOPLE, TASK_LISTENERS, Extensions, job_priority, task_headers
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import is_expression, text_or_expression, whole_number
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import Expression, compile_attribute, constant
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_date_ms

JOB_TYPE = "io.camunda.zeebe:userTask"
HEADER = "io.camunda.zeebe:"
EXTENSIONS = PEOPLE | JOB | TASK_LISTENERS | {"formDefinition"}

_JOB_TYPE, _RETRIES = compile_attribute(JOB_TYPE), compile_attribute("1")


def user_task(element: Element, extensions: Extensions, report: Report) -> UserTaskDefinition:
    """The assignment, schedule, priority and form of a user task, also of one that is a job."""
    assignment, schedule = extensions.get("assignmentDefinition"), extensions.get("taskSchedule")
    task = UserTaskDefinition(
        assignee=_text(element, assignment, "assignee", report),
        candidate_groups=_list(element, assignment, "candidateGroups", report),
        candidate_users=_list(element, assignment, "candidateUsers", report),
        due_date=_date(element, schedule, "dueDate", report),
        follow_up_date=_date(element, schedule, "followUpDate", report),
        priority=_priority(element, extensions.get("priorityDefinition"), report),
        headers=task_headers(element, extensions.get("taskHeaders"), report),
        due=due_time(element, report) if "userTask" in extensions else None,
    )
    if task.due is not None and task.due_date is not None:
        report.add_problem(element, f"the property {PROPERTY} and the dueDate of zeebe:taskSchedule exclude each other")
    form = extensions.get("formDefinition")
    return task if form is None else _with_form(task, element, form, report)


def user_task_job(task: UserTaskDefinition, element: Element, extensions: Extensions, draft: Draft) -> JobDefinition:
    """The job of a user task without `zeebe:userTask`."""
    if "taskDefinition" in extensions:
        text = f"zeebe:taskDefinition has no effect on a user task, whose job is always of the type {JOB_TYPE}"
        draft.report.warn(element, text, at=extensions["taskDefinition"])
    if len(extensions.get("taskListeners", ())):
        text = "zeebe:taskListeners has no effect without zeebe:userTask: a job has no task listeners"
        draft.report.add_problem(element, text, at=extensions["taskListeners"])
    if "priorityDefinition" in extensions:
        text = "zeebe:priorityDefinition has no effect without zeebe:userTask"
        draft.report.add_problem(element, text, at=extensions["priorityDefinition"])
    if task.external_form is not None:
        text = "an externalReference of zeebe:formDefinition has no effect without zeebe:userTask"
        draft.report.add_problem(element, text, at=extensions["formDefinition"])
    found = {
        "assignee": task.assignee,
        "candidateGroups": task.candidate_groups,
        "candidateUsers": task.candidate_users,
        "dueDate": task.due_date,
        "followUpDate": task.follow_up_date,
        "formKey": task.form_key,
    }
    computed = {HEADER + name: value for name, value in found.items() if value is not None}
    priority = job_priority(element, extensions, draft.report) or draft.job_priority
    return JobDefinition(_JOB_TYPE, _RETRIES, priority, task.headers, computed, task.form)


def _text(element: Element, holder: Element | None, name: str, report: Report) -> Expression | None:
    text = "" if holder is None else holder.get(name, "").strip()
    if holder is None or not text:
        return None
    return text_or_expression(text, name, element, report, at=holder)


def _list(element: Element, holder: Element | None, name: str, report: Report) -> Expression | None:
    """A static list, written with commas, as the list that an expression would give."""
    text = "" if holder is None else holder.get(name, "").strip()
    if holder is None or is_expression(text) or not text:
        return _text(element, holder, name, report)
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        report.add_problem(element, f"{name}: {quote(text)} is not a list of names with commas between them", at=holder)
        return None
    return constant(text, items) if report.takes_expression(len(text)) else None


def _date(element: Element, holder: Element | None, name: str, report: Report) -> Expression | None:
    expression = _text(element, holder, name, report)
    if holder is not None and expression is not None and not is_expression(holder.get(name, "").strip()):
        try:
            parse_date_ms(holder.get(name, "").strip())
        except (TemporalError, OverflowError):
            text = f"{name}: {quote(holder.get(name, ''))} is not a date like 2030-01-31T12:00:00Z"
            report.add_problem(element, text, at=holder)
    return expression


def _priority(element: Element, holder: Element | None, report: Report) -> Expression | None:
    if holder is None:
        return None
    text = holder.get("priority", "")
    return whole_number(text, "task priority", element, report, at=holder, least=0, most=100)


def _with_form(task: UserTaskDefinition, element: Element, form: Element, report: Report) -> UserTaskDefinition:
    given = [name for name in ("formKey", "formId", "externalReference") if form.get(name, "").strip()]
    if len(given) != 1:
        text = f"zeebe:formDefinition needs one of formKey, formId and externalReference, and has {len(given)}"
        report.add_problem(element, text, at=form)
    binding, version_tag = binding_of(element, form, report)
    form_id = _text(element, form, "formId", report)
    return replace(
        task,
        form_key=_text(element, form, "formKey", report),
        form=None if form_id is None else FormReference(form_id, binding, version_tag),
        external_form=_text(element, form, "externalReference", report),
    )


def warn_of_embedded_form(element: Element, extensions: Extensions, report: Report) -> None:
    """Warn of a form in the BPMN file itself, which the engine gives to no client of a task that it manages."""
    form = extensions.get("formDefinition")
    if form is not None and form.get("formKey", "").strip().startswith(EMBEDDED):
        text = "an embedded form (zeebe:userTaskForm) is not served: deploy it as a .form file, and name it by formId"
        report.warn(element, text, at=form)
