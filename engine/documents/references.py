"""References to documents, as variables have them: written for a document, and recognized in a value."""

from __future__ import annotations

from typing import Any, NamedTuple

from vivero.storage.documents.documents import Document

TYPE = "camunda.document.type"
CAMUNDA = "camunda"


class Reference(NamedTuple):
    """The part of a reference that leads to a document. The hash, if there is one, must be that of the document."""

    id: str
    store: str | None
    sha256: str | None


def reference_of(document: Document, expires_at: str | None, custom_properties: object) -> dict[str, Any]:
    """The reference to a document. `expires_at`: the time in the format of the API."""
    key = document.process_instance_key
    return {
        TYPE: CAMUNDA,
        "storeId": document.place.store,
        "documentId": document.place.id,
        "contentHash": document.sha256,
        "metadata": {
            "contentType": document.content_type,
            "fileName": document.file_name,
            "expiresAt": expires_at,
            "size": document.size,
            "processDefinitionId": document.process_definition_id,
            "processInstanceKey": None if key is None else str(key),
            "customProperties": custom_properties,
        },
    }


def read_reference(value: Any) -> Reference | None:
    """The reference that a value is; None if it is none."""
    if not isinstance(value, dict) or value.get(TYPE) != CAMUNDA:
        return None
    id, store, sha256 = (value.get(name) for name in ("documentId", "storeId", "contentHash"))
    if not isinstance(id, str) or not all(each is None or isinstance(each, str) for each in (store, sha256)):
        return None
    return Reference(id, store, sha256)
