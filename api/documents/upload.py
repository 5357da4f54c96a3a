"""One file of a request: its content, and what is wrong with it as a problem of the request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from vivero.api.http.multipart import PartHead
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.engine.documents.stores import StoreProblem, UnknownStore
from vivero.engine.documents.uploads import ContentUpload, DocumentStorage, FileTooLarge, GivenUp, QuotaReached
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)


class Upload:
    """The content of one file of a request. It counts when a document has it, and is deleted otherwise."""

    def __init__(self, request: Request, services: Services, tenant: str, store: str, head: PartHead) -> None:
        self.head = head
        self.content = ContentUpload(storage_of(services), tenant, store)
        self.problem: Problem | None = None
        """The first fault of the file. The rest of it is passed over."""
        self._request, self._store = request, store

    @property
    def size(self) -> int:
        """The bytes so far."""
        return self.content.size

    async def write(self, data: bytes) -> None:
        """Add bytes. Raises Problem 413, 503, 507."""
        with self._refused():
            if await self.content.write(data):
                await self._request.release_body()

    async def finish(self) -> None:
        """Store the last bytes. Raises Problem 503, 507."""
        with self._refused():
            await self.content.finish()
        await self._request.release_body()

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except FileTooLarge as error:
            detail = f"The file in part [{self.head.name}] {error}"
            raise Problem(413, "Content Too Large", detail) from error
        except QuotaReached as error:
            raise Problem(507, "Insufficient Storage", _sentence(error)) from error
        except GivenUp as error:
            raise Problem(503, "UNAVAILABLE", _sentence(error)) from error
        except StoreProblem as error:
            raise away(self._store, error) from error


def storage_of(services: Services) -> DocumentStorage:
    """The place of the documents of this node."""
    of_documents = services.documents
    connections = services.reads.pool.connection
    return DocumentStorage(of_documents.settings, of_documents.stores, connections, of_documents.pace)


def away(store: str, problem: StoreProblem) -> Problem:
    """The problem of a store that cannot be used. Its place is for operators alone."""
    log.warning("the store of documents cannot be used", store=store, why=describe(problem))
    return Problem(
        503, "UNAVAILABLE", f"The document store '{store}' cannot be used now; the log of the server says why"
    )


def unknown(error: UnknownStore) -> Problem:
    """The problem of a request that names a store."""
    return invalid_argument(_sentence(error))


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
