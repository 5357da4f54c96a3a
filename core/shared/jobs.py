"""Create jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from vivero.core.bpmn.model import JobDefinition
from vivero.core.bpmn.reading import text_limits
from vivero.core.expressions.results import type_name, unexpected
from vivero.core.feel import Expression
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import IncidentResolved
from vivero.core.records.jobs import JobCanceled, JobCreated
from vivero.core.shared import secret_places
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

FAILURE = IncidentType.EXTRACT_VALUE_ERROR

INT32 = 2**31 - 1
_WHOLE = re.compile(r"[+-]?[0-9]{1,10}")


ELEMENT, AD_HOC = "BPMN_ELEMENT", "AD_HOC_SUB_PROCESS"
EXECUTION_LISTENER, TASK_LISTENER = "EXECUTION_LISTENER", "TASK_LISTENER"
"""Kinds of jobs, as the REST API names them."""


def create_job(
    element: Element,
    job: JobDefinition,
    view: View,
    headers: Mapping[str, str] = {},
    kind: str = ELEMENT,
    event: str = "UNSPECIFIED",
    index: int = 0,
) -> Effects:
    """Evaluate type, retries and priority with the element's variables. `headers` are added to those of the model.

    They may have the places of secrets, which are looked up otherwise.
    `kind`, `event` and `index` are for the job of a listener: the one at `index` among the listeners of `event`."""
    type_ = view.expressions.text(job.type, element)
    bytes_ = text_limits.size(type_)
    if not 0 < bytes_ <= text_limits.JOB_TYPE_BYTES:
        raise Fail(FAILURE, f"Expected a job type of 1 to {text_limits.JOB_TYPE_BYTES} bytes, but it has {bytes_}.")
    places = {} if secret_places.HEADER in headers else secret_places.headers(element, type_, view)
    created = JobCreated(
        view.key(),
        element.key,
        type_,
        int32_of(job.retries, element, view),
        0 if job.priority is None else int32_of(job.priority, element, view),
        {**job.headers, **headers, **places},
        kind,
        event,
        index,
    )
    return (created,)


def cancel_jobs(element: Element) -> Effects:
    """Cancel the open jobs of an element, and resolve their incidents."""
    for job in element.waits.jobs:
        yield JobCanceled(job)
        for incident in element.waits.incidents.values():
            if incident.job == job:
                yield IncidentResolved(incident.key)


def int32_of(expression: Expression, element: Element, view: View) -> int:
    """The value as a 32-bit integer. A text that contains one is accepted."""
    given = value = view.expressions.evaluate(expression, element)
    if isinstance(value, str):
        if (len(value) < 9 and value.isascii() and value.isdigit()) or _WHOLE.fullmatch(value.strip()):
            value = int(value)
    elif isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if type(value) is int and -INT32 - 1 <= value <= INT32:
        return value
    was = str(given)[:100] if isinstance(given, (str, Decimal)) or type(given) is int else type_name(type(given))
    warnings = view.expressions.evaluation(expression, element, FAILURE, {}).warnings
    raise Fail(FAILURE, unexpected(expression, "a whole number of 32 bits", was, warnings))
