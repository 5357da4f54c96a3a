"""Deletions by batch operations. They need no commands: rows, ends of items and records go in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from vivero.engine.batch_operations.items import end_of_evaluation, end_of_tree, record_of
from vivero.storage.access import audit_log
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import decision_instances, history
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import (
    DELETE_DECISION_INSTANCE,
    DELETE_PROCESS_INSTANCE,
    CallerBounds,
    Item,
    ItemEnd,
    Operation,
)


async def _trees(connection: Connection, keys: Sequence[int], _bounds: CallerBounds) -> list[ItemEnd]:
    verdicts = await history.delete_trees(connection, keys, history.REQUEST)
    return [end_of_tree(key, verdicts[key]) for key in keys]


async def _evaluations(connection: Connection, keys: Sequence[int], bounds: CallerBounds) -> list[ItemEnd]:
    deleted = await decision_instances.delete_evaluations(connection, keys, bounds.processes)
    return [end_of_evaluation(key, deleted.get(key)) for key in keys]


DELETIONS: Mapping[str, Callable[[Connection, Sequence[int], CallerBounds], Awaitable[list[ItemEnd]]]] = {
    DELETE_PROCESS_INSTANCE: _trees,
    DELETE_DECISION_INSTANCE: _evaluations,
}
"""Type of the batch → the deletion of what its items name, for a creator with these bounds."""


async def _foreseen_trees(connection: Connection, keys: Sequence[int]) -> list[ItemEnd]:
    verdicts = await history.foresee(connection, keys)
    return [end_of_tree(key, verdicts[key]) for key in keys]


async def _foreseen_evaluations(connection: Connection, keys: Sequence[int]) -> list[ItemEnd]:
    return [end_of_evaluation(key, deleted=True) for key in keys]  # the scan selects those that the creator may delete


FORESEEN: Mapping[str, Callable[[Connection, Sequence[int]], Awaitable[list[ItemEnd]]]] = {
    DELETE_PROCESS_INSTANCE: _foreseen_trees,
    DELETE_DECISION_INSTANCE: _foreseen_evaluations,
}
"""Type of the batch → the ends of items that a scan has selected, if they were deleted now. Nothing is deleted."""


class _Overtaken(Exception):
    """Another term has begun: what was deleted in the transaction is rolled back."""


async def delete(
    connection: Connection,
    epoch: int,
    operation: Operation,
    items: Sequence[Item],
    bounds: CallerBounds,
    kept: Sequence[ItemEnd],
) -> bool:
    """Delete what items name, except those that ended already (`kept`). False in another term, which changes nothing.

    Each item is deleted, counted and recorded once.
    """
    ended = {end.key for end in kept}
    keys = [item.key for item in items if item.key not in ended]
    try:
        async with connection.transaction():
            ends = [*kept, *await DELETIONS[operation.type](connection, keys, bounds)]
            if await batch_operations.settle(connection, epoch, operation.key, ends) < len(ends):
                raise _Overtaken
            await _record(connection, operation, items, ends)
    except _Overtaken:
        return False
    return True


async def _record(connection: Connection, operation: Operation, items: Sequence[Item], ends: Sequence[ItemEnd]) -> None:
    completed = {end.key for end in ends if end.state == "COMPLETED"}
    for result, is_success in ((audit_log.SUCCESS, True), (audit_log.FAIL, False)):
        records = [record_of(operation, item) for item in items if (item.key in completed) is is_success]
        await audit_log.add_all(connection, records, result)
