"""What creating a job evaluates."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from engine.bpmn.model import JobDefinition
from engine.core.records.effects import Effects, Fail, IncidentType
from engine.core.records.jobs import JobCreated
from engine.core.tree import Element
from engine.core.view import View
from engine.feel import Expression

INT32 = 2**31 - 1
MAX_TYPE_BYTES = 1024
"""Job types stand in an index, whose rows PostgreSQL limits to a third of a page."""


ELEMENT, EXECUTION_LISTENER = "BPMN_ELEMENT", "EXECUTION_LISTENER"
"""Kinds of jobs, as the REST API names them."""


def create_job(
    element: Element,
    job: JobDefinition,
    at: View,
    headers: Mapping[str, str] = {},
    kind: str = ELEMENT,
    event: str = "UNSPECIFIED",
    index: int = 0,
) -> Effects:
    """Type, retries and priority are evaluated with the element's variables. `headers`: more of them than the model
    has. `kind`, `event`, `index`: the job is the listener's that stands at `index` of those of `event`."""
    type_ = at.typed(job.type, element, str, IncidentType.EXTRACT_VALUE_ERROR)
    if not 0 < len(type_.encode()) <= MAX_TYPE_BYTES:
        raise Fail(
            IncidentType.EXTRACT_VALUE_ERROR,
            f"Expected a job type of 1 to {MAX_TYPE_BYTES} bytes, but it has {len(type_.encode())}.",
        )
    yield JobCreated(
        at.key(),
        element.key,
        type_,
        whole(job.retries, element, at),
        0 if job.priority is None else whole(job.priority, element, at),
        {**job.headers, **headers},
        kind,
        event,
        index,
    )


def whole(expression: Expression, element: Element, at: View) -> int:
    """A whole number that fits 32 bits; text that holds one is taken, too."""
    value = at.evaluate(expression, element)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        value = int(value)
    if isinstance(value, Decimal) and value == value.to_integral_value():
        value = int(value)
    if type(value) is int and -INT32 - 1 <= value <= INT32:
        return value
    raise Fail(
        IncidentType.EXTRACT_VALUE_ERROR,
        f"Expected result of the expression '{expression.text.removeprefix('=').strip()}' to be a whole number "
        f"of 32 bits, but was '{value}'.",
    )
