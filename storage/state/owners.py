"""The columns that say whose a row is: copies of fields of the element that it belongs to, and of its scopes."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from vivero.core.state.decision_instances import DecisionInstance
from vivero.core.state.instance_tree import Element, Instance, Job, Timer

SHORT_PATH = 2
"""The length of the path of an element directly in its process instance: the instance and the element."""


class OwnerColumn(NamedTuple):
    """The name in documents, the column, its type, and where a row of an element has the value."""

    document: str
    stored: str
    type: str
    value: str


class OwnerColumns(NamedTuple):
    """The owner columns of a table, and their values for a row."""

    columns: tuple[OwnerColumn, ...]
    values: Callable[[Any], tuple[Any, ...]]


ROOT = OwnerColumn("root", "root_key", "bigint", "element.tree.key")
PART = OwnerColumn("part", "part_key", "bigint", "element.part_key")
INSTANCE = OwnerColumn("instance", "process_instance_key", "bigint", "element.instance.key")
ELEMENT = OwnerColumn("element", "element_instance_key", "bigint", "element.key")
SCOPE = OwnerColumn("scope", "scope_key", "bigint", "scope.key")
CALLER = OwnerColumn("caller", "parent_element_instance_key", "bigint", "scope.key")
PATH = OwnerColumn("path", "path", "bigint[]", "element.path")
DEFINITION = OwnerColumn("definition", "process_definition_key", "bigint", "element.instance.definition_key")
PROCESS_ID = OwnerColumn("process_id", "process_id", "text", "element.instance.process_id")
NUMBER = OwnerColumn("number", "process_version", "int", "element.instance.version_number")
PROCESS_NAME = OwnerColumn("process_name", "process_name", "text", "element.instance.name")
ELEMENT_ID = OwnerColumn("element_id", "element_id", "text", "element.element")
LABEL = OwnerColumn("name", "name", "text", "element.label")
TAGS = OwnerColumn("tags", "tags", "text[]", "element.instance.tags")
TENANT = OwnerColumn("tenant", "tenant_id", "text", "element.instance.tenant")

TENANT_OF_CHANNEL = OwnerColumn("tenant", "tenant_id", "text", "channel.tenant")
CORRELATION_KEY = OwnerColumn("correlation_key", "correlation_key", "text", "channel.correlation_key")

_PLACE = (ROOT, PART, INSTANCE, ELEMENT)
_OF_ALL = (*_PLACE, DEFINITION, PROCESS_ID, TENANT)


def of_element(*more: OwnerColumn) -> OwnerColumns:
    """The owner columns of all rows of elements, and these."""
    return _plain(*_OF_ALL, *more)


def _plain(*columns: OwnerColumn) -> OwnerColumns:
    return OwnerColumns(columns, attrgetter(*(column.value for column in columns)))


_place = _plain(*_PLACE)


def _of_timer(row: Timer) -> tuple[Any, ...]:
    return (None,) * len(_PLACE) if row.element is None else _place.values(row)


def _of_job(row: Job) -> tuple[Any, ...]:
    """Without the usual root and the usual path."""
    element, instance = row.element, row.element.instance
    return (
        unless(instance.tree.key, instance.key),
        element.part_key,
        instance.key,
        element.key,
        element.path if len(element.path) > SHORT_PATH else (),
        instance.definition_key,
        instance.process_id,
        instance.version_number,
        element.element,
        instance.tags,
        instance.tenant,
    )


def _of_instance(row: Instance) -> tuple[Any, ...]:
    """Without the usual root."""
    return unless(row.tree.key, row.key), row.part_key, None if row.scope is None else row.scope.key


def _of_element(row: Element) -> tuple[Any, ...]:
    """Without the usual root, scope and path."""
    instance, path = row.instance, row.path
    key, root = instance.key, row.tree.key
    scope = path[1] if row.past is None or row.scope is None else row.scope.key
    return (
        None if root == key else root,
        row.part_key,
        key,
        None if scope == key else scope,
        path if len(path) > SHORT_PATH else (),
        instance.definition_key,
        instance.process_id,
        instance.tenant,
    )


def unless(key: int, usual: int) -> int | None:
    """The key, or None if it is the usual one."""
    return None if key == usual else key


INSTANCE_OF_ROW = OwnerColumn("instance", "process_instance_key", "bigint", "instance.key")
TENANT_OF_INSTANCE = OwnerColumn("tenant", "tenant_id", "text", "instance.tenant")

_OF_EVALUATIONS = (ROOT, INSTANCE, ELEMENT, DEFINITION, PROCESS_ID, ELEMENT_ID)
_of_task = _plain(*_OF_EVALUATIONS)


def _of_decision(row: DecisionInstance) -> tuple[Any, ...]:
    return (None,) * len(_OF_EVALUATIONS) if row.element is None else _of_task.values(row)


NONE = OwnerColumns((), lambda _row: ())
OF_CHANNELS = _plain(TENANT_OF_CHANNEL, CORRELATION_KEY)
OF_INSTANCES = OwnerColumns((ROOT, PART, CALLER), _of_instance)
OF_ELEMENTS = OwnerColumns((ROOT, PART, INSTANCE, SCOPE, PATH, DEFINITION, PROCESS_ID, TENANT), _of_element)
OF_REGISTRATIONS = _plain(INSTANCE_OF_ROW, TENANT_OF_INSTANCE)
OF_DECISIONS = OwnerColumns(_OF_EVALUATIONS, _of_decision)
OF_TIMERS = OwnerColumns(_PLACE, _of_timer)
OF_JOBS = OwnerColumns((*_PLACE, PATH, DEFINITION, PROCESS_ID, NUMBER, ELEMENT_ID, TAGS, TENANT), _of_job)
