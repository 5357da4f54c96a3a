"""Facts about the fields of rows. A row's class declares each field once: storage and snapshots are derived from it.

A field is `name: type` or, with facts, `name: Annotated[type, Column(…)]`. The order of the fields is that of
snapshots. A new field has a default, so that older snapshots can be read, and stands before those that are not loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a field outside of memory. Its names there are the field's unless the facts give another one."""

    stored: str = ""
    """The name of the column."""
    document: str = ""
    """The name in documents that save the row."""
    entry: str = ""
    """The name in snapshots."""
    time: bool = False
    """Epoch milliseconds. The column is a timestamp, unless its name ends with `_ms`."""
    key: bool = False
    """A key of another row."""
    large: bool = False
    """A number that may need 64 bits."""
    changes: bool = False
    """Whether changes are saved."""
    usual: Any = None
    """The value that short documents omit, and snapshots, too, unless it is a text."""
    null: bool = False
    """Whether the column has no value where the field has its usual one."""
    is_column: bool = True
    """Whether a column has the value. Otherwise only documents say it, and their statements know what it means."""
    kept: bool = True
    """Whether this is a column of its own. Other fields are only in memory, or an owner's."""
    loaded: bool = True
    """Whether the field is read back. What is not loaded stands last in a row, and is in no snapshot."""
    in_snapshots: bool = True
    of_instance: str = ""
    """The process instance of an element has the same value under this name: it is neither loaded nor in snapshots."""
    saved_as: str = ""
    """The attribute that is saved instead."""
    shown_as: str = ""
    """The attribute that snapshots show instead."""


CHANGES = Column(changes=True)
MEMORY = Column(kept=False)
DELETES = Column(changes=True, is_column=False)
"""A state that deletes the row."""
DEFINITION = Column(stored="process_definition_key", key=True)
TENANT = Column(stored="tenant_id")
Time = Annotated[int, Column(time=True)]
"""Epoch milliseconds."""
Count = Annotated[int, Meta(ge=0), Column(usual=0)]


class Field(NamedTuple):
    name: str
    type: Any
    """Without `| None`."""
    optional: bool
    metas: tuple[Meta, ...]
    """Limits of the values in snapshots."""
    column: Column
    within: str = ""
    """The attribute of a row that is the row with this field; empty: the row has it itself."""

    @property
    def document(self) -> str:
        return self.column.document or self.name

    @property
    def stored(self) -> str:
        return self.column.stored or self.name

    @property
    def entry(self) -> str:
        return self.column.entry or self.name

    @property
    def saved(self) -> str:
        return ".".join(filter(None, (self.within, self.column.saved_as or self.name)))

    @property
    def shown(self) -> str:
        return self.column.shown_as or self.name

    @property
    def is_list(self) -> bool:
        """Whether this is a list of texts, for which the database has a type."""
        return bool(self.type == tuple[str, ...])

    @property
    def is_json(self) -> bool:
        """Whether the column is JSON, for want of a simpler type."""
        return not (self.is_list or (isinstance(self.type, type) and issubclass(self.type, int | str)))

    @property
    def is_own(self) -> bool:
        """Whether the row alone has the value."""
        return not self.column.of_instance

    @property
    def is_shown(self) -> bool:
        """Whether snapshots have it."""
        return self.is_own and self.column.loaded and self.column.in_snapshots


def values_of_instance(fields: list[Field]) -> Callable[[Any], tuple[Any, ...]]:
    """The values of an element that the fields do not have alone, which come first in a row."""
    names = [f"instance.{field.column.of_instance}" for field in fields if not field.is_own]
    return attrgetter(*names) if names else _nothing


def _nothing(_element: Any) -> tuple[Any, ...]:
    return ()


def fields_of(kind: type[msgspec.Struct], within: str = "") -> list[Field]:
    """The fields of a class of rows that are kept, in their order, without the key."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [_field(name, hints[name]) for name in kind.__struct_fields__ if name != "key"]
    return [field._replace(within=within) for field in fields if field.column.kept]


def _field(name: str, hint: Any) -> Field:
    type_, *facts = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    column = next((fact for fact in facts if isinstance(fact, Column)), Column())
    metas = tuple(fact for fact in facts if isinstance(fact, Meta))
    optional = isinstance(type_, UnionType)
    return Field(name, get_args(type_)[0] if optional else type_, optional, metas, column)
