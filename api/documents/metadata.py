"""The metadata of documents: as clients send it, as it is stored, and as references show it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from vivero.api.documents.upload import Upload
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_epoch_ms, as_int64, as_key, decode_json, decoder
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.response import encode, iso_datetime
from vivero.api.settings import ApiSettings
from vivero.engine.documents.references import reference_of
from vivero.engine.documents.settings import DocumentSettings
from vivero.storage.documents.documents import Document, NewDocument

MAX_NAME_BYTES = 255
MAX_TYPE = 255
MAX_PROCESS_ID = 1_000
MAX_MS = 253_370_764_800_000
"""The beginning of the year 9999: no zone moves an earlier time beyond what Python and clients know."""
OCTETS = "application/octet-stream"
ID = re.compile(r"[^\x00-\x20/\\?#%\x7f-\x9f\ud800-\udfff]{1,200}")
"""Ids that every client can write into a path."""
RESERVED_IDS = frozenset({"batch", ".", ".."})
"""Ids that a path cannot have."""

_TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"
_TYPE = re.compile(rf"{_TOKEN}/{_TOKEN}(?:\s*;[\x20-\x7e]*)?")
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, separators of paths, and characters that show the rest of a name backwards."""


class MetadataBody(Body, frozen=True):
    content_type: str | None = None
    file_name: str | None = None
    expires_at: str | None = None
    size: Int64 | None = None
    process_definition_id: str | None = None
    process_instance_key: Key | None = None
    custom_properties: dict[str, Any] | None = None


_decoder = decoder(MetadataBody)


def check_id(id: str) -> None:
    """Raise Problem 400 for an id that no document may have."""
    if id in RESERVED_IDS or ID.fullmatch(id) is None:
        raise invalid_argument(
            f"The provided documentId '{id[:100]}' is not valid: it has up to 200 characters without spaces, controls"
            " and any of / \\ ? # %, and is not 'batch'"
        )


def decoded(part: str, body: bytes, settings: ApiSettings) -> MetadataBody:
    """The metadata in a part of a request. Raises Problem 400, which names the part."""
    try:
        return decode_json(body, _decoder, settings.max_nesting)
    except Problem as problem:
        raise Problem(problem.status, problem.title, f"Part [{part}]: {problem.detail}") from problem


def merged(upload: Upload, given: MetadataBody, settings: DocumentSettings, name: str | None) -> NewDocument:
    """The metadata of an upload. Given metadata have precedence over the part of the file, and that over `name`.

    Raises:
        Problem: 400 with all that is wrong.
    """
    head, found = upload.head, Violations()
    file_name = given.file_name or head.file_name or name
    content_type = given.content_type or head.content_type or OCTETS
    if not file_name:
        found.add("No fileName provided")
    elif _UNWANTED.search(file_name) or file_name in (".", ".."):
        found.add(f"The fileName {encode(file_name[:100]).decode()} has separators of paths or control characters")
    found.largest("fileName", file_name, MAX_NAME_BYTES)
    if len(content_type) > MAX_TYPE or _TYPE.fullmatch(content_type) is None:
        found.add(f"The contentType {encode(content_type[:100]).decode()} is not a media type such as application/pdf")
    expires_at_ms = None if given.expires_at is None else as_epoch_ms(given.expires_at, "expiresAt")
    if expires_at_ms is not None and not 0 <= expires_at_ms <= MAX_MS:
        found.add("The value for expiresAt must be between the years 1970 and 9998")
    found.longest("processDefinitionId", given.process_definition_id, MAX_PROCESS_ID)
    size = as_int64(given.size, "size")
    if size is not None and size != upload.size:
        found.add(f"The value for size is '{size}', but the file has {upload.size} bytes")
    found.check()
    return NewDocument(
        content_type,
        file_name or "",
        expires_at_ms,
        settings.ttl_ms,
        given.process_definition_id,
        as_key(given.process_instance_key, "processInstanceKey"),
        encode(given.custom_properties or {}).decode(),
        settings.with_instances,
    )


def reference(document: Document) -> dict[str, object]:
    """The reference to a document, as variables have it."""
    expires_at = None if document.expires_at is None else iso_datetime(document.expires_at)
    return reference_of(document, expires_at, msgspec.Raw(document.custom_properties.encode()))
