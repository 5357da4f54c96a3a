"""Conditions that a value of a filter implies and that an index answers: SQL with places for `= $1` or `= ANY ($1)`.

Every table has an index on the process instance. A search by process, element or business id finds its rows through
their process instances: an index on each field would cost each write. An implied condition never changes the result.
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


def by_process_id(table: str) -> str:
    """The condition that the id of a process implies."""
    return _INSTANCES.format(table=table, column="process_id")


def by_definition_key(table: str) -> str:
    """The condition that the key of a process definition implies."""
    return _INSTANCES.format(table=table, column="process_definition_key")


def by_business_id(table: str) -> str:
    """The condition that a business id implies. Few instances share one."""
    return by_row(table, "process_instances", "business_id")


def by_process_name(table: str) -> str:
    """The condition that the name of a process implies."""
    return _DEFINITIONS.format(table=table, column="name")


def by_version_tag(table: str) -> str:
    """The condition that the version tag of a process implies."""
    return _DEFINITIONS.format(table=table, column="version_tag")


def by_element_key(table: str) -> str:
    """The condition that the key of an element instance implies. A process instance is an element instance, too."""
    return f"{table}.process_instance_key {_OF_ELEMENT}"


def by_parent_element_key(table: str) -> str:
    """The condition that the key of the element instance that called a process instance implies."""
    return f"{table}.parent_process_instance_key {_OF_ELEMENT}"


def by_row(table: str, other: str, key: str) -> str:
    """The condition that a column `key` of another table implies: its row belongs to the same process instance."""
    return f"{table}.process_instance_key = ANY (ARRAY(SELECT process_instance_key FROM {other} WHERE {key} {{}}))"
