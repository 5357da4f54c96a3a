"""The tables of rows that elements wait for, derived from the classes of these rows when the program starts.

The documents that save a new and a changed row, and the state's row from a stored one. `save.sql` and `load.sql` list
the same columns: `make statements` writes the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, get_origin

import msgspec

from vivero.core.state.columns import Field, fields_of, values_of_instance
from vivero.core.state.instance_tree import Incident, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row
from vivero.storage.state import owners
from vivero.storage.state.owners import Owner

Values = Callable[[Any], tuple[Any, ...]]
Decode = Callable[[Any], Any]
StoredRow = Sequence[Any]
"""Key, key of the element, and the loaded fields in their order. JSON columns are text; times are epoch ms."""

_OF_LEASE = ("lease", "available_at")


class Table:
    """A table. `short`: its documents omit usual values, which statements fill in: reading JSON costs PostgreSQL."""

    def __init__(self, name: str, kind: type[Row], owner: Owner, *, short: bool = False) -> None:
        self.name, self.kind, self.owner, self.short = name, kind, owner, short
        self.fields = fields_of(kind)
        self.changing = sorted((field for field in self.fields if field.column.changes), key=_is_no_state)
        self.lasting = [field for field in self.fields if not field.column.changes]
        self.loaded = [field for field in self.fields if field.column.loaded]
        self.ending = attrgetter(*(field.name for field in self.changing if field.name not in _OF_LEASE))
        """The values that change, without those of the lease, the state first."""
        self.changed_record = self._record("Changed", self.changing)
        self.new_record = self._record("New", [*self.changing, *self.lasting], [one.document for one in owner.columns])
        self.changed = _document_of(self.changed_record, _getter(self.changing))
        self.new = _document_of(self.new_record, _getter([*self.changing, *self.lasting]), owner.values)
        self.row = self._reader([field for field in self.loaded if field.is_own], values_of_instance(self.fields))
        self.row_of_no_element = self._reader(self.loaded, values_of_instance([]))

    def _record(self, name: str, fields: list[Field], owner: Sequence[str] = ()) -> type[msgspec.Struct]:
        own = [(field.document, Any, self._omitted(field)) for field in fields]
        others = [(document, Any, self._omitted_of_owner(document)) for document in owner]
        of_all = [("key", Any, msgspec.UNSET), *own, *others]
        return msgspec.defstruct(f"{name}{self.kind.__name__}", of_all, omit_defaults=self.short, gc=False)

    def _omitted(self, field: Field) -> Any:
        usual = field.column.usual
        return msgspec.UNSET if usual is None and not field.optional else usual

    def _omitted_of_owner(self, document: str) -> Any:
        return {"path": (), "tags": ()}.get(document)

    def _reader(self, fields: list[Field], of_instance: Values) -> Callable[[StoredRow, Any], Any]:
        kind, decoders = self.kind, list(_decoders(fields))

        def read(stored: StoredRow, element: Any) -> Any:
            key, _, *values = stored
            for place, decode in decoders:
                values[place] = decode(values[place])
            return kind(key, element, *of_instance(element), *values)  # type: ignore[call-arg]  # a derived row

        return read


def _is_no_state(field: Field) -> bool:
    return field.name != "state"


def _getter(fields: list[Field]) -> Values:
    return attrgetter("key", *(field.saved for field in fields))


def _document_of(
    record: Callable[..., Any], values: Values, more: Values | None = None
) -> Callable[[Any], msgspec.Struct]:
    """The function that makes the document of a row."""
    if more is None:
        return lambda row: record(*values(row))
    return lambda row: record(*values(row), *more(row))


def is_json(field: Field) -> bool:
    return (
        field.type is Any or get_origin(field.type) is dict or (get_origin(field.type) is tuple and not is_list(field))
    )


def is_list(field: Field) -> bool:
    return bool(field.type == tuple[str, ...])


def _decoders(fields: list[Field]) -> Iterator[tuple[int, Decode]]:
    for place, field in enumerate(fields):
        if is_list(field):
            yield place, tuple
        elif is_json(field):
            yield place, _json_decoder(field)


def _json_decoder(field: Field) -> Decode:
    decode, usual = msgspec.json.Decoder(field.type).decode, field.column.usual
    return lambda text: decode(text) if text else usual


JOBS = Table("jobs", Job, owners.OF_JOBS, short=True)
TIMERS = Table("timers", Timer, owners.OF_TIMERS)
USER_TASKS = Table(
    "user_tasks",
    UserTask,
    owners.of_element(
        owners.NUMBER, owners.PROCESS_NAME, owners.ELEMENT_ID, owners.LABEL, owners.BUSINESS_ID, owners.TAGS
    ),
)
SUBSCRIPTIONS = Table(
    "subscriptions", Subscription, owners.of_element(owners.PROCESS_NAME, owners.NUMBER, owners.BUSINESS_ID)
)
INCIDENTS = Table("incidents", Incident, owners.of_element(owners.ELEMENT_ID))

TABLES = (JOBS, TIMERS, USER_TASKS, SUBSCRIPTIONS, INCIDENTS)
