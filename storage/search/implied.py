"""What follows from a value of a filter, and an index answers: SQL with places for `= $1` or `= ANY ($1)`.

Rows of a process, of an element, of a business id are found by way of their process instances, which every table has an
index on. An index on the field itself would cost each write. Nothing here changes what is found: `Field.implied`.
"""

from __future__ import annotations

_INSTANCES = "{table}.process_instance_key IN (SELECT process_instance_key FROM process_instances WHERE {column} {{}})"
_DEFINITIONS = (
    "{table}.process_definition_key = ANY (ARRAY("
    "SELECT process_definition_key FROM process_definitions WHERE {column} {{}}))"
)
_OF_ELEMENT = (
    "= ANY (ARRAY(SELECT process_instance_key FROM element_instances WHERE element_instance_key {}"
    " UNION ALL SELECT process_instance_key FROM process_instances WHERE process_instance_key {}))"
)


def of_process(table: str) -> str:
    """Of the id of a process."""
    return _INSTANCES.format(table=table, column="process_id")


def of_definition(table: str) -> str:
    """Of the key of a process definition."""
    return _INSTANCES.format(table=table, column="process_definition_key")


def of_business(table: str) -> str:
    """Of a business id, which few instances share."""
    return of_row(table, "process_instances", "business_id")


def of_name(table: str) -> str:
    """Of the name of a process."""
    return _DEFINITIONS.format(table=table, column="name")


def of_version_tag(table: str) -> str:
    """Of the version tag of a process."""
    return _DEFINITIONS.format(table=table, column="version_tag")


def of_element(table: str) -> str:
    """Of the key of an element instance; a process instance is one, too."""
    return f"{table}.process_instance_key {_OF_ELEMENT}"


def of_parent(table: str) -> str:
    """Of the key of the element instance that called a process instance."""
    return f"{table}.parent_process_instance_key {_OF_ELEMENT}"


def of_row(table: str, other: str, key: str) -> str:
    """Of what `key`, a column of another table, says of its rows: they belong to the same process instance."""
    return f"{table}.process_instance_key = ANY (ARRAY(SELECT process_instance_key FROM {other} WHERE {key} {{}}))"
