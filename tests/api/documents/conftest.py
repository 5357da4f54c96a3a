"""Documents in process, on a real database."""

import json
from dataclasses import replace

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.documents.links import LinkKeys
from vivero.engine.documents.chores import chores
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.stores import DocumentStores
from vivero.engine.retention.chore_settings import RetentionSettings

BOUNDARY = b"----of-a-test"
FORM = (b"content-type", b"multipart/form-data; boundary=" + BOUNDARY)


def part(name, content, file_name=None, content_type=None):
    """A part of a form, as bytes. A name in bytes is taken as it is."""
    head = f'Content-Disposition: form-data; name="{name}"'.encode()
    if file_name is not None:
        head += b"; filename=" + (file_name if isinstance(file_name, bytes) else f'"{file_name}"'.encode())
    if content_type is not None:
        head += f"\r\nContent-Type: {content_type}".encode()
    if isinstance(content, dict):
        content = json.dumps(content).encode()
    return b"--" + BOUNDARY + b"\r\n" + head + b"\r\n\r\n" + content + b"\r\n"


def form(*parts):
    return b"".join(parts) + b"--" + BOUNDARY + b"--\r\n"


class Documents:
    """Calls of the API, and what they left in the database."""

    def __init__(self, rows, services, client) -> None:
        self.rows, self.services, self.client = rows, services, client

    def on_another_node(self):
        """The same on a node that knows no key of links yet."""
        links = LinkKeys(self.services.documents.settings.max_link_s)
        services = changed(self.services, documents=replace(self.services.documents, links=links))
        return Documents(self.rows, services, Client(api_app.build(services)))

    async def post(self, *parts, target="/v2/documents", headers=(), **how):
        return await self.client("POST", target, form(*parts), [FORM, *headers], **how)

    async def upload(self, content=b"hello", file_name="a.txt", target="/v2/documents", **metadata):
        """The reference to a new document."""
        parts = [part("file", content, file_name), *([part("metadata", metadata)] if metadata else [])]
        answer = await self.post(*parts, target=target)
        assert answer.status == 201, answer.body
        return answer.json

    async def get(self, id, *headers, method="GET", query=""):
        return await self.client(method, f"/v2/documents/{id}{query}", headers=headers)

    def one(self, query):
        return self.rows.execute(query).fetchone()[0]

    @property
    def stored(self):
        """Documents, contents, parts, and the bytes that count."""
        tables = ("documents", "document_contents", "document_parts")
        counts = [self.one(f"SELECT count(*) FROM {table}") for table in tables]
        return (*counts, self.one("SELECT coalesce(sum(bytes), 0)::bigint FROM document_usage"))


async def do_chores(documents):
    """One run of each chore."""
    settings, services = RetentionSettings(pause_s=0), documents.services
    for chore in chores(settings, 7 * 24 * 3600, services.reads.pool.connection, services.documents.stores):
        await chore.handler(None)


@pytest.fixture
def limits():
    """The settings of documents, which a test may replace by parametrization."""
    return {}


@pytest.fixture
def stores():
    """The stores, which a module may replace."""
    return DocumentStores()


@pytest.fixture
async def documents(rows, stored, limits, stores):
    of_documents = replace(stored.documents, settings=DocumentSettings(**limits), stores=stores)
    services = changed(stored, documents=of_documents)
    return Documents(rows, services, Client(api_app.build(services)))
