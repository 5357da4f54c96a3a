"""The chores of documents: those that have expired, and contents that nobody refers to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import structlog

from vivero.engine.documents.settings import POSTGRES
from vivero.engine.documents.stores import DocumentStores, ObjectStore, StoreProblem
from vivero.engine.documents.uploads import forget
from vivero.engine.jobs.chores import chore
from vivero.engine.jobs.definitions import JobDefinition
from vivero.engine.jobs.execution import Connections, Execution
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.storage.documents import contents, documents, link_keys
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

LINK_KEYS = 100
OBJECTS = 100
"""The objects that are claimed at once."""
MOST_FAILURES = 3
"""The failures in a row after which the rest waits for the next run."""


def chores(
    settings: RetentionSettings, keys_s: float, connections: Connections, stores: DocumentStores | None = None
) -> Iterator[JobDefinition]:
    """The chores, at the interval and the pace of retention. `keys_s`: the age at which no key of links has a use."""

    async def expire(connection: Connection, _execution: Execution) -> bool:
        expired = await documents.expire(connection, settings.rows)
        return settings.rows in (expired, await documents.delete_orphans(connection, settings.rows))

    async def drop(connection: Connection, _execution: Execution) -> bool:
        """Some parts of the oldest content, so that a large one is deleted in many short statements."""
        found = await contents.unused(connection, POSTGRES, 1)
        for key in found:
            await contents.drop(connection, key)
        return bool(found)

    async def forget_keys(connection: Connection, _execution: Execution) -> bool:
        return await link_keys.purge(connection, keys_s, LINK_KEYS) == LINK_KEYS

    async def drop_all(execution: Execution) -> None:
        await of_database.handler(execution)
        for id, objects in stores.objects.items() if stores is not None else ():
            await delete_unused(connections, id, objects)

    of_database = chore("document-contents", settings.every_s, connections, drop, settings.pause_s)
    yield chore("documents", settings.every_s, connections, expire, settings.pause_s)
    yield replace(of_database, handler=drop_all)
    yield chore("document-links", settings.every_s, connections, forget_keys, settings.pause_s)


async def delete_unused(connections: Connections, store: str, objects: ObjectStore) -> None:
    """Delete the objects that no document has, and forget them. Deletions that fail are tried again later.

    No connection is held while the store works.
    """
    after, failures, more = 0, 0, True
    while more:
        async with connections() as connection:
            claimed = await contents.claim(connection, store, after, OBJECTS)
        for key, name in claimed:
            try:
                await objects.delete(name)
            except StoreProblem as problem:
                failures += 1
                log.warning("a document that nobody needs is still in its store", store=store, why=describe(problem))
                if failures >= MOST_FAILURES:
                    return  # the store is away
            else:
                failures = 0
                await forget(connections, key)
        after, more = (claimed[-1][0], len(claimed) == OBJECTS) if claimed else (after, False)
