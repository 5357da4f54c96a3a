"""Due times of models: the moment after which a process instance or a user task is late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.core.events.schedules import InvalidSchedule, due_date_of
from vivero.core.feel import Expression
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def due_at(expression: Expression, element: Element, view: View, extra: Mapping[str, Any] = {}) -> int | None:
    """Epoch milliseconds: now and a duration, or a date and time; None for null and an empty text.

    Raises:
        Fail: the value is neither.
    """
    value = view.expressions.evaluate(expression, element, extra=extra)
    if value is None or value == "":
        return None
    text = value.strip() if isinstance(value, str) else view.expressions.json_of(value).strip('"')
    kind = "duration" if text.startswith("P") else "date"
    try:
        return due_date_of(kind, text, view.now, view.rules).at
    except InvalidSchedule as error:
        source = expression.text.removeprefix("=").strip()
        text = f"The due time '{source}' gives neither a duration nor a date and time: {error}"
        raise Fail(IncidentType.EXTRACT_VALUE_ERROR, text) from error
