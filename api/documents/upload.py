"""One upload: bytes that arrive become parts, and each part commits by itself."""

from __future__ import annotations

import hashlib
from functools import partial

from vivero.api.http.multipart import PartHead
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.engine.documents.pace import PART_BYTES
from vivero.storage.documents import contents


class Upload:
    """The content of one file of a request. It counts when a document has it, and is deleted otherwise."""

    def __init__(self, request: Request, services: Services, tenant: str, store: str, head: PartHead) -> None:
        self.head = head
        self.size = 0
        self.key: int | None = None
        self.problem: Problem | None = None
        """The first fault of the file. The rest of it is passed over."""
        self._request, self._services, self._tenant, self._store = request, services, tenant, store
        self._buffer = bytearray()
        self._stored = 0
        self._sum = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The sum of the bytes so far, in hexadecimal digits."""
        return self._sum.hexdigest()

    async def write(self, data: bytes) -> None:
        """Add bytes. Raises Problem 413, 503, 507."""
        most = self._services.documents.settings.max_bytes
        if self.size + len(data) > most:
            detail = f"The file in part [{self.head.name}] is larger than {most} bytes, which is the limit"
            raise Problem(413, "Content Too Large", detail)
        self.size += len(data)
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            await self._store_part(PART_BYTES)

    async def finish(self) -> None:
        """Store the last bytes. Raises Problem 503, 507."""
        await self._begun()
        if self._buffer:
            await self._store_part(len(self._buffer))

    async def _store_part(self, size: int) -> None:
        part = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._sum.update(part)
        verdict = await self._services.documents.pace.write(size, partial(self._add, await self._begun(), part))
        if verdict == contents.FULL:
            most = self._services.documents.settings.max_tenant_bytes
            detail = (
                f"The documents of the tenant '{self._tenant}' have {most} bytes with this file, which is the limit"
            )
            raise Problem(507, "Insufficient Storage", detail)
        if verdict != contents.STORED:
            raise Problem(503, "UNAVAILABLE", "The upload took too long between two parts and was given up")
        self._stored += size
        await self._request.release_body()

    async def _begun(self) -> int:
        if self.key is None:
            async with self._services.reads.pool.connection() as connection:
                self.key = await contents.begin(connection, self._tenant, self._store)
        return self.key

    async def _add(self, key: int, part: bytes) -> str:
        quota = self._services.documents.settings.max_tenant_bytes
        async with self._services.reads.pool.connection() as connection:
            return await contents.add(connection, key, self._stored, len(part), part, quota)

    def keep(self, content: int) -> None:
        """Note that a document has this content, which may be an older one with the same bytes."""
        if content == self.key:
            self.key = None

    async def discard(self) -> None:
        """Delete what is stored and was not kept. Nothing happens to a content that has a document all the same."""
        if self.key is None:
            return
        async with self._services.reads.pool.connection() as connection:
            await contents.give_up(connection, self.key)
            await contents.drop(connection, self.key)
