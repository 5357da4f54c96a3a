"""The catalogue of a schema as text: `schema.sql` has it as the migrations make it, for people and for comparisons.

PostgreSQL itself writes the SQL of each object. Its versions differ in one thing: since 16, columns of a view need no
name of a table if it has only one. A comparison leaves these names out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

SCHEMA_FILE = Path(__file__).with_name("schema.sql")
DISTRIBUTED_FILE = Path(__file__).with_name("distributed.sql")
"""The changes for a database over several servers, as a trial (docs/operations/scale.md)."""
HEADING = """\
-- The schema as the embedded PostgreSQL has it after all migrations. `make schema` writes this file, and the migrations
-- say why it is so. A server with LZ4 has COMPRESSION lz4 where this one, which has none, has STORAGE EXTERNAL.
"""

Catalogue = Mapping[str, str]
"""Object, such as `table jobs` → the SQL that makes it."""

_OBJECT = re.compile(r"^-- ((?:table|view|function) .+)$", re.MULTILINE)
_OF_A_SERVER = re.compile(r" COMPRESSION lz4| STORAGE EXTERNAL|, fillfactor=\d+|fillfactor=\d+, ")
"""Servers without LZ4 store large values in another way, and tables that were large at an upgrade keep their room."""
_QUALIFIED = re.compile(r"\b[a-z_0-9]+\.(?=[a-z_])")


async def read(connection: Connection) -> Catalogue:
    """The catalogue of the schema in which a session works."""
    rows = (await connection.execute(_sql["lines"])).rows
    return {name: _statement([(section, line) for _, section, line in lines]) for name, lines in groupby(rows, _first)}


def _first(row: tuple[str, str, str]) -> str:
    return row[0]


def _statement(lines: list[tuple[str, str]]) -> str:
    rows = ",\n".join(f"    {line}" for section, line in lines if section == "row")
    head, end = ("\n".join(line for section, line in lines if section == wanted) for wanted in ("head", "end"))
    return "\n".join(part for part in (head, rows, end) if part)


def written(catalogue: Catalogue) -> str:
    """The text of `schema.sql`."""
    return HEADING + "".join(f"\n-- {name}\n{statement}\n" for name, statement in catalogue.items())


def expected() -> Catalogue:
    """The catalogue in `schema.sql`."""
    _, *parts = _OBJECT.split(SCHEMA_FILE.read_text(encoding="utf-8"))
    return dict(zip(parts[::2], (statement.strip("\n") for statement in parts[1::2]), strict=True))


def differences(found: Catalogue, wanted: Catalogue) -> Iterator[str]:
    """The differences between the objects of a schema and those that it should have. Other objects do not count."""
    for name, statement in wanted.items():
        if name not in found:
            yield f"{name} is missing"
        elif _comparable(name, found[name]) != _comparable(name, statement):
            yield f"{name}: {_difference(_comparable(name, found[name]), _comparable(name, statement))}"


def _comparable(name: str, statement: str) -> list[str]:
    text = _OF_A_SERVER.sub("", statement)
    if name.startswith("view "):
        text = _QUALIFIED.sub("", text)
    return [line.strip().removesuffix(",") for line in text.splitlines()]


def _difference(found: list[str], wanted: list[str]) -> str:
    """The first line that only one of both has."""
    for line in found:
        if line not in wanted:
            return f"unexpected: {line}"
    for line in wanted:
        if line not in found:
            return f"missing: {line}"
    return "its lines are in another order"
