"""One upload: bytes that arrive become a content in a store. It counts when a document has it.

The order of its steps leaves nothing behind, whatever is killed: a row with the name of the object, the bytes that
count, the bytes themselves, and last the document.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from vivero.engine.documents.pace import PART_BYTES, Pace
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.stores import ContentWriter, DocumentStores, ObjectStore, StoreProblem
from vivero.engine.jobs.execution import Connections
from vivero.storage.documents import contents


class UploadRefused(Exception):
    """An upload cannot go on."""


class FileTooLarge(UploadRefused):
    """The file is larger than the limit."""


class QuotaReached(UploadRefused):
    """The tenant may not have more bytes."""


class GivenUp(UploadRefused):
    """The upload took too long between two parts."""


@dataclass(frozen=True, slots=True)
class DocumentStorage:
    """The place and the limits of uploads. `connections`: those of all reads serve documents, too."""

    settings: DocumentSettings
    stores: DocumentStores
    connections: Connections
    pace: Pace = field(default_factory=Pace)


class ContentUpload:
    """The content of one file. It is deleted unless it is kept."""

    def __init__(self, storage: DocumentStorage, tenant: str, store: str) -> None:
        """Raises UnknownStore."""
        self.size = 0
        self.key: int | None = None
        self.object_name: str | None = None
        self._storage, self._tenant, self._store = storage, tenant, store
        self._objects: ObjectStore | None = storage.stores.of(store)
        self._writer: ContentWriter | None = None
        self._certain, self._has_object = True, False
        """Whether the store is at rest, and has had the object."""
        self._buffer = bytearray()
        self._stored = 0
        self._sum = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The sum of the bytes so far, in hexadecimal digits."""
        return self._sum.hexdigest()

    async def write(self, data: bytes) -> bool:
        """Add bytes: whether some of them were stored. Raises UploadRefused, StoreProblem."""
        most, before = self._storage.settings.max_bytes, self._stored
        if self.size + len(data) > most:
            raise FileTooLarge(f"is larger than {most} bytes, which is the limit")
        self.size += len(data)
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            await self._store_part(PART_BYTES)
        return self._stored > before

    async def finish(self) -> None:
        """Store the last bytes. Raises UploadRefused, StoreProblem."""
        key = await self._begun()
        if self._buffer:
            await self._store_part(len(self._buffer))
        if self._objects is not None:
            writer = await self._written(self._objects)
            await writer.finish(partial(self._count, key, b""))

    async def _store_part(self, size: int) -> None:
        part = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._sum.update(part)
        key = await self._begun()
        if self._objects is None:
            await self._storage.pace.write(size, partial(self._count, key, part))
        else:
            await self._count(key, part)
            await (await self._written(self._objects)).write(part)

    async def _begun(self) -> int:
        if self.key is None:
            name = None if self._objects is None else uuid4().hex
            async with self._storage.connections() as connection:
                self.key = await contents.begin(connection, self._tenant, self._store, name)
            self.object_name = name
        return self.key

    async def _written(self, objects: ObjectStore) -> ContentWriter:
        if self._writer is None:
            assert self.object_name is not None
            self._certain = False
            try:
                self._writer = await objects.writer(self.object_name)
            except StoreProblem:
                self._certain = True  # it is not begun
                raise
            self._has_object = True
        return self._writer

    async def _count(self, key: int, part: bytes) -> None:
        """Count the bytes of a part, and store them if the database is their store. Raises UploadRefused."""
        quota, size = self._storage.settings.max_tenant_bytes, len(part)
        kept = part if self._objects is None else None
        async with self._storage.connections() as connection:
            verdict = await contents.add(connection, key, self._stored, size, kept, quota)
        if verdict == contents.FULL:
            detail = f"the documents of the tenant '{self._tenant}' have {quota} bytes with this file"
            raise QuotaReached(f"{detail}, which is the limit")
        if verdict != contents.STORED:
            raise GivenUp("the upload took too long between two parts and was given up")
        self._stored += size

    def keep(self, content: int) -> None:
        """Note that a document has this content, which may be an older one with the same bytes."""
        if content == self.key:
            self.key = None

    async def discard(self) -> None:
        """Delete what is stored and was not kept. Nothing happens to a content that has a document all the same.

        An object that may still get bytes, because a call was interrupted, is deleted now and once more an hour later.

        Raises:
            StoreProblem, StorageError: a chore deletes it later.
        """
        if self._writer is not None:
            self._certain = await self._writer.close()
        if self.key is None:
            return
        if self._objects is not None and self._certain and not self._has_object:
            async with self._storage.connections() as connection:
                await contents.give_up(connection, self.key)
                await contents.forget(connection, self.key)
        else:
            await drop_content(self._storage, self.key, self._store, self.object_name, self._certain)


async def drop_content(
    storage: DocumentStorage, key: int, store: str, object_name: str | None, certain: bool = True
) -> None:
    """Delete the bytes of a content that no document has. Nothing happens to one that a document has.

    No connection is held while a store works.

    Raises:
        StoreProblem, StorageError, UnknownStore: a chore deletes it later.
    """
    objects = storage.stores.of(store)
    async with storage.connections() as connection:
        unused = await contents.give_up(connection, key, certain)
        if objects is None or object_name is None:
            await contents.drop(connection, key)
            return
    if unused:
        await objects.delete(object_name)
        if certain:
            await forget(storage.connections, key)


async def forget(connections: Connections, key: int) -> None:
    """Forget a content whose object is deleted."""
    async with connections() as connection:
        await contents.forget(connection, key)
