"""The rows that elements wait for, in a snapshot: from the state and back, derived from the classes of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, get_origin

from vivero.core.snapshots import document as parts
from vivero.core.snapshots.document import key_of, key_text
from vivero.core.state.columns import Field, fields_of, values_of_instance
from vivero.core.state.instance_tree import Element, Incident, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row


class WaitPart:
    """The part of snapshots that a row becomes, and the row of a part."""

    def __init__(self, kind: type[Row], part: Callable[..., Any]) -> None:
        fields = fields_of(kind)
        shown = [field for field in fields if field.is_shown]
        self._kind, self._part, self._of_instance = kind, part, values_of_instance(fields)
        self._names = ("key", "element_key", *(field.part for field in shown))
        self._values = attrgetter("key", "element.key", *(field.shown for field in shown))
        self._forms: list[Callable[[Any], Any]] = [str, str, *map(_form, shown)]
        self._own = [(field.part, key_of if field.column.key else _same) for field in shown]

    def part(self, row: Row) -> Any:
        values = zip(self._names, self._forms, self._values(row), strict=True)
        return self._part(**{name: form(value) for name, form, value in values})

    def row(self, part: Any, element: Element) -> Any:
        own = [read(getattr(part, name)) for name, read in self._own]
        return self._kind(int(part.key), element, *self._of_instance(element), *own)  # type: ignore[call-arg]


def _form(field: Field) -> Callable[[Any], Any]:
    """From the value in the state to the value in a part."""
    if field.column.key:
        return key_text
    if get_origin(field.type) is dict:
        return _sorted
    return str if field.type is str and not field.optional else _same


def _sorted(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(values.items()))


def _same(value: Any) -> Any:
    return value


TABLES = {
    "jobs": WaitPart(Job, parts.JobPart),
    "user_tasks": WaitPart(UserTask, parts.UserTaskPart),
    "timers": WaitPart(Timer, parts.TimerPart),
    "subscriptions": WaitPart(Subscription, parts.SubscriptionPart),
    "incidents": WaitPart(Incident, parts.IncidentPart),
}
"""By their names in snapshots."""
