"""The routes of documents."""

from __future__ import annotations

from vivero.api.access.needs import CREATE_DOCUMENT, DELETE_DOCUMENT, PUBLIC, READ_DOCUMENT
from vivero.api.callers import audited
from vivero.api.routes import documents
from vivero.api.routes.route import Route

_ONE = "/v2/documents/{documentId}"
_PLACE = frozenset({"storeId", "tenantId"})

DOCUMENT_ROUTES = (
    Route(
        *("POST", "/v2/documents", documents.create, CREATE_DOCUMENT),
        takes_json=False,
        streams=True,
        audited=audited.CREATE_DOCUMENT,
        parameters=_PLACE | {"documentId"},
    ),
    Route(
        *("POST", "/v2/documents/batch", documents.create_batch, CREATE_DOCUMENT),
        takes_json=False,
        streams=True,
        audited=audited.CREATE_DOCUMENT,
        parameters=_PLACE,
    ),
    Route("GET", _ONE, documents.get, READ_DOCUMENT),
    Route("DELETE", _ONE, documents.delete, DELETE_DOCUMENT, audited=audited.DELETE_DOCUMENT, parameters=_PLACE),
    Route(
        "POST",
        f"{_ONE}/links",
        documents.create_link,
        READ_DOCUMENT,
        audited=audited.LINK_DOCUMENT,
        parameters=_PLACE | {"contentHash"},
    ),
    Route("GET", f"{documents.LINK_PATH}{{link}}", documents.open_link, PUBLIC),
)
"""A link is as good as its bearer's permission: whoever may read a document may let others read it for a time."""
