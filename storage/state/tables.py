"""The tables of the state's rows, derived from the classes of the rows at import.

The documents that save a new and a changed row, and the state's row from a stored one. `save.sql` and `load.sql` list
the same columns: `make statements` writes the lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import EnumType
from operator import attrgetter
from typing import Any

import msgspec

from vivero.core.state.catalogue import (
    DecisionVersion,
    Definition,
    Deployment,
    FormVersion,
    GenericResourceVersion,
    RequirementsVersion,
)
from vivero.core.state.columns import Field, fields_of, values_of_instance
from vivero.core.state.decision_instances import DecisionInstance
from vivero.core.state.instance_tree import (
    Element,
    Incident,
    Instance,
    InstanceTree,
    Job,
    Subscription,
    Timer,
    UserTask,
)
from vivero.core.state.message_channels import ChannelSubscription, Correlation, Message, StartLock, StartSubscription
from vivero.core.state.registrations import Registration
from vivero.core.state.rows import Row
from vivero.storage.state import owners
from vivero.storage.state.owners import OwnerColumns

Values = Callable[[Any], tuple[Any, ...]]
StoredRow = Sequence[Any]
"""Key, columns of the place, and the loaded fields in their order. JSON columns are text; times are epoch ms."""

_PLACE = ("tree", "instance", "scope", "path")

_OF_LEASE = ("lease", "available_at")


class Table:
    """Saves the rows of a table. `name` is that of its statements. `stored`: that of the table, if it differs.

    `short`: its documents omit usual values, which statements fill in. Reading JSON is a large part of what a save
    costs PostgreSQL. `without`: fields that the table does not have. `more`: fields of another row that it has.
    """

    def __init__(
        self,
        name: str,
        kind: type[Row],
        owner: OwnerColumns,
        *,
        stored: str = "",
        short: bool = False,
        without: Sequence[str] = (),
        more: Sequence[Field] = (),
    ) -> None:
        self.name, self.kind, self.owner, self.stored, self.short = name, kind, owner, stored or name, short
        self.fields = [*(field for field in fields_of(kind) if field.name not in without), *more]
        self.changing = sorted((field for field in self.fields if field.column.changes), key=_is_no_state)
        self.lasting = [field for field in self.fields if not field.column.changes]
        self.changed_record = self._record("Changed", self.changing)
        self.new_record = self._record("New", [*self.changing, *self.lasting], [one.document for one in owner.columns])
        self.changed = _document_of(self.changed_record, self.changing)
        self.new = _document_of(self.new_record, [*self.changing, *self.lasting], owner.values)

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


class ScopeTable(Table):
    """Saves and loads process instances or elements."""

    def __init__(
        self,
        name: str,
        kind: type[Row],
        owner: OwnerColumns,
        stored: str,
        placed: int,
        without: Sequence[str] = (),
        more: Sequence[Field] = (),
    ) -> None:
        super().__init__(name, kind, owner, stored=stored, short=True, without=without, more=more)
        self.loaded = [field for field in self.fields if field.column.loaded]
        self.row = _row_function(kind, self.loaded, placed, ("element", "type") if without else (), _PLACE)
        """The row of a stored one, which begins with as many columns of its place, with these given fields."""


_NOT_OF_INSTANCES = (
    *("element", "type", "index", "label", "occurred", "loop", "ad_hoc", "incident"),
    *("compensation", "flows"),
)
"""The fields of elements that process instances do not have."""


class InstanceTable(ScopeTable):
    """Saves and loads process instances. The row of a root has the columns of its tree."""

    def __init__(self) -> None:
        super().__init__(
            "instances",
            Instance,
            owners.OF_INSTANCES,
            "process_instances",
            placed=3,
            without=_NOT_OF_INSTANCES,
            more=fields_of(InstanceTree, within="own_tree"),
        )
        self.tree = _row_function(InstanceTree, self.loaded, 3, ("root",))


class WaitTable(Table):
    """Saves and loads the rows of a table that elements wait for."""

    def __init__(self, name: str, kind: type[Row], owner: OwnerColumns, *, short: bool = False) -> None:
        super().__init__(name, kind, owner, short=short)
        self.ending = attrgetter(*(field.name for field in self.changing if field.name not in _OF_LEASE))
        """The values that change, without those of the lease, the state first."""
        self.loaded = [field for field in self.fields if field.column.loaded]
        self.row = self._reader([field for field in self.loaded if field.is_own], values_of_instance(self.fields))
        self.row_of_no_element = self._reader(self.loaded, values_of_instance([]))

    def _reader(self, fields: list[Field], of_instance: Values) -> Callable[[StoredRow, Any], Any]:
        names: dict[str, Any] = {"kind": self.kind, "of_instance": of_instance}
        values = [_expression(field, place, names) for place, field in enumerate(fields, 2)]
        return _compiled(
            f"lambda stored, element: kind(stored[0], element, *of_instance(element), {', '.join(values)})", names
        )


def _is_no_state(field: Field) -> bool:
    return field.name != "state"


def _document_of(record: type, fields: list[Field], owner: Values | None = None) -> Callable[[Any], msgspec.Struct]:
    """The function that makes the document of a row."""
    values = ", ".join(f"row.{name}" for name in ("key", *(field.saved for field in fields)))
    for within in {field.within for field in fields if field.within}:
        before, other, after = values.partition(f"row.{within}")
        values = f"{before}({within} := {other}){after.replace(other, within)}"  # it is looked up once
    return _compiled(
        f"lambda row: record({values}{', *owner(row)' if owner else ''})", {"record": record, "owner": owner}
    )


def _compiled(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """A function whose source consists of names of fields: it is a third faster than one that loops over them."""
    made: Callable[..., Any] = eval(source, names)
    return made


def _row_function(kind: type[Row], fields: list[Field], first: int, *given: Sequence[str]) -> Callable[..., Any]:
    """The function of a stored row, whose fields begin at `first`, and of the given fields that makes a row."""
    names: dict[str, Any] = {"kind": kind}
    others = [name for some in given for name in some]
    values = {name: name for name in others}
    values |= {field.name: _expression(field, place, names) for place, field in enumerate(fields, first)}
    known = ", ".join(f"{name}={values[name]}" for name in kind.__struct_fields__ if name in values)
    return _compiled(f"lambda stored, {', '.join(others)}: kind(stored[0], {known})", names)


def _expression(field: Field, place: int, names: dict[str, Any]) -> str:
    """The value in the state of the column at a place, as source that uses these names."""
    stored, decode = f"stored[{place}]", f"decode_{place}"
    if field.is_list:
        return f"tuple({stored} or ())" if field.column.null else f"tuple({stored})"
    if isinstance(field.type, EnumType):
        members: list[Any] = list(field.type)
        names[decode] = {member.value: member for member in members}
        return f"{decode}[{stored}]"
    if not field.is_json:
        return stored
    names[decode] = msgspec.json.Decoder(field.type).decode
    usual = field.column.usual
    empty = f"{stored} == '{{}}'" if usual == {} and not field.column.null else f"{stored} is None"
    return f"({usual!r} if {empty} else {decode}({stored}))"


INSTANCES = InstanceTable()
ELEMENTS = ScopeTable("elements", Element, owners.OF_ELEMENTS, "element_instances", placed=4)
JOBS = WaitTable("jobs", Job, owners.OF_JOBS, short=True)
TIMERS = WaitTable("timers", Timer, owners.OF_TIMERS)
USER_TASKS = WaitTable(
    "user_tasks",
    UserTask,
    owners.of_element(owners.NUMBER, owners.PROCESS_NAME, owners.ELEMENT_ID, owners.LABEL, owners.TAGS),
)
SUBSCRIPTIONS = WaitTable("subscriptions", Subscription, owners.of_element(owners.PROCESS_NAME, owners.NUMBER))
INCIDENTS = WaitTable("incidents", Incident, owners.of_element(owners.ELEMENT_ID))

WAITS = (JOBS, TIMERS, USER_TASKS, SUBSCRIPTIONS, INCIDENTS)
MESSAGES = Table("messages", Message, owners.OF_CHANNELS)
CHANNEL_SUBSCRIPTIONS = Table("channel_subscriptions", ChannelSubscription, owners.OF_CHANNELS)
START_LOCKS = Table("start_locks", StartLock, owners.OF_CHANNELS)
START_SUBSCRIPTIONS = Table("start_subscriptions", StartSubscription, owners.NONE)
COMPENSATIONS = Table("compensations", Registration, owners.OF_REGISTRATIONS)
CORRELATIONS = Table("message_correlations", Correlation, owners.NONE)
DEPLOYMENTS = Table("deployments", Deployment, owners.NONE)
DECISION_INSTANCES = Table("decision_instances", DecisionInstance, owners.OF_DECISIONS)
DEFINITIONS = Table("definitions", Definition, owners.NONE, stored="process_definitions")
FORMS = Table("forms", FormVersion, owners.NONE)
GENERIC_RESOURCES = Table("generic_resources", GenericResourceVersion, owners.NONE)
REQUIREMENTS = Table("decision_requirements", RequirementsVersion, owners.NONE)
DECISIONS = Table("decision_definitions", DecisionVersion, owners.NONE)

SCOPES = (INSTANCES, ELEMENTS)
OTHERS = (
    *(COMPENSATIONS, MESSAGES, CHANNEL_SUBSCRIPTIONS, START_LOCKS, START_SUBSCRIPTIONS),
    *(DEFINITIONS, FORMS, GENERIC_RESOURCES, REQUIREMENTS, DECISIONS),
)
TABLES = (*SCOPES, *WAITS, *OTHERS)
"""All with a statement for new rows and another one for changed rows."""
