"""The official Python client, unmodified: it raises for a missing field of an answer and for an unknown value."""

from io import BytesIO

import pytest

from tests.api.official import models, sdk


def file(content, name):
    return sdk.types.File(payload=BytesIO(content), file_name=name, mime_type="text/plain")


@pytest.mark.long
async def test_every_operation(in_thread):
    def use(client):
        metadata = models.DocumentMetadata.from_dict({"fileName": "b.txt", "customProperties": {"a": 1}})
        made = client.create_document(data=models.CreateDocumentData(file=file(b"hello", "a.txt"), metadata=metadata))
        assert (made.store_id, made.metadata.file_name, made.metadata.size) == ("postgres", "b.txt", 5)
        hash = {"store_id": made.store_id, "content_hash": made.content_hash}
        assert client.get_document(document_id=made.document_id, **hash).payload.read() == b"hello"
        request = models.DocumentLinkRequest(time_to_live=60_000)
        link = client.create_document_link(document_id=made.document_id, data=request, **hash)
        assert link.expires_at.tzinfo is not None
        files = [file(b"one", "1"), file(b"two", "2")]
        batch = client.create_documents(data=models.CreateDocumentsData(files=files))
        assert [each.metadata.file_name for each in batch.created_documents] == ["1", "2"]
        wrong = models.DocumentMetadata.from_dict({"fileName": "../x"})
        right = models.DocumentMetadata.from_dict({})
        data = models.CreateDocumentsData(files=files, metadata_list=[wrong, right])
        partial = client.create_documents(data=data)
        assert [each.status for each in partial.failed_documents] == [400]
        client.delete_document(document_id=made.document_id, store_id=made.store_id)
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_document(document_id=made.document_id)
        return link.url

    assert "/v2/document-links/" in await in_thread(use)
