"""Findings about the stores of documents: whether each can be used, and what waits in them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager

from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.probing import probe
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.stores import DocumentStores, ObjectStore, StoreProblem
from vivero.operations.findings import MEGABYTE, Finding, Level
from vivero.storage.documents import contents
from vivero.storage.documents.contents import StoredContents
from vivero.storage.postgres.driver import Connection

SUBJECT = "documents"
WAITING_S = 3 * 3600.0
"""Unused contents that are older should be deleted: a chore looks each minute."""


async def examine(settings: DocumentSettings, connection: Connection, has_tables: bool) -> list[Finding]:
    """A finding for each store, and for contents that no store of the settings has. Each store is tried."""

    @asynccontextmanager
    async def connections() -> AsyncGenerator[Connection]:
        yield connection

    stores = open_stores(settings, connections)
    stored = await contents.by_store(connection, WAITING_S) if has_tables else []
    found = list(_of_rows(stores, stored))
    for id, objects in stores.objects.items():
        found.append(await _of_store(id, objects))
    return found or [Finding(Level.OK, SUBJECT, "all are in the database")]


def _of_rows(stores: DocumentStores, stored: Sequence[StoredContents]) -> Iterator[Finding]:
    for each in stored:
        if each.store not in stores.ids:
            text = f"{each.complete:,} files are in the store '{each.store}', which no setting names"
            yield Finding(Level.PROBLEM, SUBJECT, text, "Set it again: docs/documents.md#stores")
        elif each.unused:
            text = f"{each.unused:,} files of the store '{each.store}' should be deleted and are not"
            advice = "Look for vivero.document-contents: vivero background list; the log of the server says why"
            yield Finding(Level.WARNING, SUBJECT, text, advice)
        elif each.complete and each.store in stores.objects:
            text = f"{each.complete:,} files, {each.bytes / MEGABYTE:,.0f} MB, are in the store '{each.store}'"
            yield Finding(Level.OK, SUBJECT, f"{text}, and not in backups of the database")


async def _of_store(id: str, objects: ObjectStore) -> Finding:
    try:
        if not await objects.used():
            return Finding(Level.OK, SUBJECT, f"the store '{id}' is made at its first use: {objects.place}")
        await probe(objects)
    except StoreProblem as problem:
        return Finding(Level.PROBLEM, SUBJECT, f"the store '{id}': {problem}", "docs/documents.md#stores")
    return Finding(Level.OK, SUBJECT, f"the store '{id}' can be written, read and deleted from: {objects.place}")
