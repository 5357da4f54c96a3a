"""Conditions that a value of a filter implies and that an index answers: functions of the comparison.

The comparison is `= $1` or `= ANY ($1)`. Every table has an index on the process instance. A search by process, element
or business id finds its rows through their process instances: an index on each field would cost each write. An implied
condition never changes the result.
"""

from __future__ import annotations

from collections.abc import Callable

Implied = Callable[[str], str]


def by_process_id(table: str) -> Implied:
    """The condition that the id of a process implies."""
    return _by_instance(table, "process_id")


def by_definition_key(table: str) -> Implied:
    """The condition that the key of a process definition implies."""
    return _by_instance(table, "process_definition_key")


def by_business_id(table: str) -> Implied:
    """The condition that a business id implies. Few instances share one."""
    return by_row(table, "process_instances", "business_id")


def by_process_name(table: str) -> Implied:
    """The condition that the name of a process implies."""
    return _by_definition(table, "name")


def by_version_tag(table: str) -> Implied:
    """The condition that the version tag of a process implies."""
    return _by_definition(table, "version_tag")


def by_element_key(table: str) -> Implied:
    """The condition that the key of an element instance implies. A process instance is an element instance, too."""
    return _by_element(f"{table}.process_instance_key")


def by_parent_element_key(table: str) -> Implied:
    """The condition that the key of the element instance that called a process instance implies."""
    return _by_element(f"{table}.parent_process_instance_key")


def by_row(table: str, other: str, key: str) -> Implied:
    """The condition that a column `key` of another table implies: its row belongs to the same process instance."""
    return lambda among: (
        f"{table}.process_instance_key = ANY (ARRAY(SELECT process_instance_key FROM {other} WHERE {key} {among}))"
    )


def _by_instance(table: str, column: str) -> Implied:
    return lambda among: (
        f"{table}.process_instance_key IN (SELECT process_instance_key FROM process_instances WHERE {column} {among})"
    )


def _by_definition(table: str, column: str) -> Implied:
    return lambda among: (
        f"{table}.process_definition_key = ANY (ARRAY("
        f"SELECT process_definition_key FROM process_definitions WHERE {column} {among}))"
    )


def _by_element(instance: str) -> Implied:
    return lambda among: (
        f"{instance} = ANY (ARRAY(SELECT process_instance_key FROM element_instances WHERE element_instance_key {among}"
        f" UNION ALL SELECT process_instance_key FROM process_instances WHERE process_instance_key {among}))"
    )
