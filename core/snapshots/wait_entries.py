"""The rows that elements wait for, in a snapshot: from the state and back, derived from the classes of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, get_origin

from vivero.core.snapshots import format as entries
from vivero.core.snapshots.format import key_of, key_text
from vivero.core.state.columns import Field, fields_of, values_of_instance
from vivero.core.state.instance_tree import Element, Incident, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row


class WaitEntry:
    """The entry of snapshots that a row becomes, and the row of an entry."""

    def __init__(self, kind: type[Row], entry: Callable[..., Any]) -> None:
        fields = fields_of(kind)
        shown = [field for field in fields if field.is_shown]
        self._kind, self._entry, self._of_instance = kind, entry, values_of_instance(fields)
        self._names = ("key", "element_key", *(field.entry for field in shown))
        self._values = attrgetter("key", "element.key", *(field.shown for field in shown))
        self._forms: list[Callable[[Any], Any]] = [str, str, *map(_form, shown)]
        self._own = [(field.entry, key_of if field.column.key else _same) for field in shown]

    def entry(self, row: Row) -> Any:
        values = zip(self._names, self._forms, self._values(row), strict=True)
        return self._entry(**{name: form(value) for name, form, value in values})

    def row(self, entry: Any, element: Element) -> Any:
        own = [read(getattr(entry, name)) for name, read in self._own]
        return self._kind(int(entry.key), element, *self._of_instance(element), *own)  # type: ignore[call-arg]


def _form(field: Field) -> Callable[[Any], Any]:
    """From the value in the state to the value in an entry."""
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
    "jobs": WaitEntry(Job, entries.JobEntry),
    "user_tasks": WaitEntry(UserTask, entries.UserTaskEntry),
    "timers": WaitEntry(Timer, entries.TimerEntry),
    "subscriptions": WaitEntry(Subscription, entries.SubscriptionEntry),
    "incidents": WaitEntry(Incident, entries.IncidentEntry),
}
"""By their names in snapshots."""
