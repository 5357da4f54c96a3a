"""The columns of rows in `save.sql`, and in `load.sql` those of scopes and of rows that elements wait for.

They follow from the classes of the rows. `make statements` writes the lists that do not say what the classes say. The
order in a list means nothing, except where the state reads columns by their place.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from tests.imports import ROOT
from vivero.core.state.columns import Field
from vivero.storage.state.owners import OwnerColumn
from vivero.storage.state.tables import (
    CHANNEL_SUBSCRIPTIONS,
    COMPENSATIONS,
    CORRELATIONS,
    DECISION_INSTANCES,
    DEPLOYMENTS,
    ELEMENTS,
    GENERIC_RESOURCES,
    INSTANCES,
    JOBS,
    MESSAGES,
    REQUIREMENTS,
    SCOPES,
    START_LOCKS,
    START_SUBSCRIPTIONS,
    TABLES,
    TIMERS,
    USER_TASKS,
    WAITS,
    ScopeTable,
    Table,
    WaitTable,
)

FOLDER = ROOT / "storage" / "state"
Lists = dict[str, str]
"""Column → expression, or name → type."""

WIDTH = 130
_OF_DOCUMENTS = r"\nFROM json_to_recordset\(\$1\) AS x\((?P<taken>.*?)\)(?=[;\n])"
_INSERT = re.compile(r"INSERT INTO \w+ \((?P<columns>.*?)\)\nSELECT (?P<values>.*?)" + _OF_DOCUMENTS, re.DOTALL)
_UPDATE = re.compile(r"SET (?P<sets>.*?)" + _OF_DOCUMENTS, re.DOTALL)
_END = re.compile(r"SET (?P<sets>.*?)(?=\nWHERE)", re.DOTALL)
_SELECT = re.compile(r"SELECT (?P<values>.*?)(?=\nFROM)", re.DOTALL)

# ------------------------------------------------------------------------------------------- what fields do not say

INSERTED: dict[Table, Lists] = {
    JOBS: {
        "ready": "x.lease = 'ready' AND l.key IS NULL",
        "available_at": "coalesce(from_epoch_ms(l.until), from_epoch_ms(x.available_at))",
        "worker": "l.worker",
        "lease_token": "l.token",
    },
    TIMERS: {"partition_id": "$2"},
    MESSAGES: {"partition_id": "$2"},
}
UPDATED: dict[Table, Lists] = {
    JOBS: {
        "ready": "CASE WHEN x.lease IS NULL OR x.lease = 'leased' THEN t.ready ELSE x.lease = 'ready' END",
        "available_at": "CASE WHEN x.lease IS NULL THEN t.available_at"
        " WHEN x.lease = 'backoff' THEN from_epoch_ms(x.available_at) WHEN x.lease <> 'leased' THEN NULL"
        " WHEN t.ready OR t.lease_token IS NULL THEN t.available_at ELSE from_epoch_ms(x.available_at) END",
        "lease_token": "CASE WHEN x.lease IS NULL OR x.lease = 'leased' THEN t.lease_token END",
        "returned": "true",
    }
}
DELETED = (CHANNEL_SUBSCRIPTIONS, START_LOCKS, START_SUBSCRIPTIONS, COMPENSATIONS)
"""Rows that a change may delete, so that its statement is no plain update."""
ENDED: dict[Table, Lists] = {
    JOBS: {"ready": "false", "returned": "true", "available_at": "NULL", "lease_token": "NULL"},
    USER_TASKS: {},
    ELEMENTS: {},
}
LOADED: dict[Table, Lists] = {
    JOBS: {"available_at": "CASE WHEN state = 'FAILED' AND lease_token IS NULL THEN to_epoch_ms(available_at) END"}
}
"""Expressions by column."""

OWNERS = {"part_key": "coalesce(x.part, x.root)"}
_OF_SHORT = {"root_key": "coalesce(x.root, x.instance)", "part_key": "coalesce(x.part, x.root, x.instance)"}
SHORT_OWNERS: dict[Table, Lists] = {
    INSTANCES: {"root_key": "coalesce(x.root, x.key)", "part_key": "coalesce(x.part, x.root, x.key)"},
    ELEMENTS: _OF_SHORT
    | {"scope_key": "coalesce(x.scope, x.instance)", "path": "coalesce(x.path, ARRAY[x.key, x.instance])"},
    JOBS: _OF_SHORT | {"path": "coalesce(x.path, ARRAY[x.element, x.instance])", "tags": "coalesce(x.tags, '{}')"},
}
"""SQL in place of an owner column that a document omits."""

# ------------------------------------------------------------------------------------------- what they say


INSERTS = {CORRELATIONS: "message_correlations"}
KEYS = {
    CHANNEL_SUBSCRIPTIONS: "subscription_key",
    START_SUBSCRIPTIONS: "subscription_key",
    START_LOCKS: "process_instance_key",
    GENERIC_RESOURCES: "resource_key",
    REQUIREMENTS: "decision_requirements_key",
}
"""Keys that are those of another table, or whose table has the name of one row."""


def key_of(table: Table) -> str:
    return KEYS.get(table) or table.stored.removesuffix("s") + "_key"


def type_of(field: Field) -> str:
    if field.column.time or field.column.key or field.column.large:
        return "bigint"
    if field.is_list:
        return "text[]"
    return "json" if field.is_json else {bool: "boolean", int: "int"}.get(field.type, "text")


def is_timestamp(field: Field) -> bool:
    return field.column.time and not field.stored.endswith("_ms")


def written(field: Field, table: Table) -> str:
    value = f"x.{field.document}"
    if table.short and (usual := literal(field)):
        value = f"coalesce({value}, {usual})"
    return f"from_epoch_ms({value})" if is_timestamp(field) else value


def literal(field: Field) -> str:
    """The usual value, empty if that is NULL."""
    usual = field.column.usual
    if usual is None or field.column.null:
        return ""
    return str(usual).lower() if isinstance(usual, int) else repr(usual or "{}")


def owner(column: OwnerColumn, table: Table) -> str:
    return SHORT_OWNERS.get(table, OWNERS).get(column.stored, f"x.{column.document}")


def columns_of(fields: list[Field]) -> list[Field]:
    return [field for field in fields if field.column.is_column]


def inserted(table: Table) -> tuple[Lists, Lists]:
    columns = {key_of(table): "x.key"} | {one.stored: owner(one, table) for one in table.owner.columns}
    columns |= {field.stored: written(field, table) for field in columns_of(table.fields)} | INSERTED.get(table, {})
    taken = {"key": "bigint"} | {one.document: one.type for one in table.owner.columns}
    return columns, taken | {field.document: type_of(field) for field in table.fields}


def updated(table: Table) -> tuple[Lists, Lists]:
    columns = {field.stored: written(field, table) for field in columns_of(table.changing)} | UPDATED.get(table, {})
    return columns, {"key": "bigint"} | {field.document: type_of(field) for field in table.changing}


def ended(table: Table) -> Lists:
    if table is ELEMENTS:
        others = {field.stored: literal(field) or "NULL" for field in table.changing}
        return others | {"state": "$2", "ended_at": "from_epoch_ms($3)"}
    fields = [field for field in columns_of(table.changing) if field.stored not in ENDED[table]]
    numbered = ((field, f"${number}") for number, field in enumerate(fields, 2))
    values = {field.stored: f"from_epoch_ms({n})" if is_timestamp(field) else n for field, n in numbered}
    return values | ENDED[table]


PLACES = {
    INSTANCES: ("root_key", "parent_element_instance_key"),
    ELEMENTS: ("process_instance_key", "scope_key", "path"),
}
"""The columns between the key and the fields of scopes."""


def loaded_scope(table: ScopeTable) -> list[str]:
    return [key_of(table), *PLACES[table], *(read(field, table) for field in table.loaded)]


def loaded(table: WaitTable, of_element: bool = True) -> list[str]:
    fields = [field for field in table.loaded if field.is_own or not of_element]
    return [key_of(table), "element_instance_key", *(read(field, table) for field in fields)]


def read(field: Field, table: Table) -> str:
    if found := LOADED.get(table, {}).get(field.stored):
        return found
    return f"to_epoch_ms({field.stored})" if is_timestamp(field) else f"{field.stored}{'::text' * field.is_json}"


# ------------------------------------------------------------------------------------------- the files


def split(text: str) -> list[str]:
    """The elements of a list with commas: those in parentheses and brackets separate nothing."""
    parts, depth, flat = [""], 0, " ".join(text.split())
    for sign in flat:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def pairs(text: str, between: str) -> Lists:
    return dict(part.split(between, 1) for part in split(text))


def wrapped(first: str, parts: Iterable[str]) -> str:
    """A text and the list behind it, in lines. A parenthesis and a semicolon may follow."""
    text = ", ".join(part.replace(" ", "\0") for part in parts)
    text = first.replace(" ", "\0") + text
    lines = textwrap.wrap(text, WIDTH - 2, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _taken(taken: Lists) -> str:
    columns = (f"{name} {type_}" for name, type_ in taken.items())
    return f"\n{wrapped('FROM json_to_recordset($1) AS x(', columns)})"


def insert(table: Table, found: re.Match[str]) -> str:
    columns, taken = inserted(table)
    now = dict(zip(split(found["columns"]), split(found["values"]), strict=False)), pairs(found["taken"], " ")
    if now == (columns, taken):
        return found[0]
    into, values = wrapped(f"INSERT INTO {table.stored} (", columns), wrapped("SELECT ", columns.values())
    return f"{into})\n{values}{_taken(taken)}"


def update(table: Table, found: re.Match[str]) -> str:
    columns, taken = updated(table)
    if (pairs(found["sets"], " = "), pairs(found["taken"], " ")) == (columns, taken):
        return found[0]
    return f"{_sets(columns)}{_taken(taken)}"


def end(table: Table, found: re.Match[str]) -> str:
    return found[0] if pairs(found["sets"], " = ") == ended(table) else _sets(ended(table))


def _sets(columns: Lists) -> str:
    return wrapped("SET ", (f"{column} = {value}" for column, value in columns.items()))


def select(columns: list[str], found: re.Match[str]) -> str:
    return found[0] if split(found["values"]) == columns else wrapped("SELECT ", columns)


def rewritten(path: Path) -> str:
    """The file as it should be."""
    text = path.read_text(encoding="utf-8")
    if path.name == "load.sql":
        for scope in SCOPES:
            text = _in(text, scope.name, _SELECT, partial(select, loaded_scope(scope)))
        for wait in WAITS:
            text = _in(text, wait.name, _SELECT, partial(select, loaded(wait)))
        return _in(text, "start_timers", _SELECT, partial(select, loaded(TIMERS, of_element=False)))
    for table in (CORRELATIONS, DEPLOYMENTS, DECISION_INSTANCES, *TABLES):
        text = _in(text, INSERTS.get(table, f"new_{table.name}"), _INSERT, partial(insert, table))
    for table in TABLES:
        if table not in DELETED:
            text = _in(text, table.name, _UPDATE, partial(update, table))
    for table in ENDED:
        text = _in(text, f"ended_{table.name}", _END, partial(end, table))
    return text


def _in(text: str, name: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> str:
    """The text with a change in the statement of this name."""
    heading = f"-- name: {name}\n"
    before, _, rest = text.partition(heading)
    statement, next_, after = rest.partition("\n-- name: ")
    changed, count = pattern.subn(change, statement, count=1)
    assert count, f"{name} has lists of another form"
    return f"{before}{heading}{changed}{next_}{after}"


FILES = (FOLDER / "save.sql", FOLDER / "load.sql")

if __name__ == "__main__":
    for file in FILES:
        file.write_text(rewritten(file), encoding="utf-8")
