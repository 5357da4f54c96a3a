"""The erasure of a person's data: ended instances with a business id or a variable's value, in state, logs, archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from vivero.api.access import audit
from vivero.api.decoding import Body, as_key, decode, decoder
from vivero.api.problems import archive_away, invalid_argument
from vivero.api.request import Request
from vivero.api.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.core.records.codec import decode_events, encode_events
from vivero.engine.core.records.messages import MessagePublished
from vivero.storage import audit_log, erasure, history
from vivero.storage.archives import ArchiveProblem
from vivero.storage.erasure import Subject
from vivero.storage.postgres.driver import Connection

OF_ARCHIVE = "archive:"
"""How the place begins in the archive, behind all instances in the tables."""
ARCHIVE_S = 5.0
"""Seconds for which one request searches the archive; it searches one file at least."""
TREES = 50
"""Instances of one request. The transaction holds up nobody, but it should end."""


class VariableBody(Body, frozen=True):
    name: str
    value: str


Place = Annotated[str, msgspec.Meta(pattern=r"^(-?[0-9]{1,25}|archive:[!-~]{0,200})$")]
"""The end of the last answer: behind a key, or, in the archive, behind a file."""


class ErasureBody(Body, frozen=True):
    business_id: str | None = None
    variable: VariableBody | None = None
    after: Place | None = None


_decoder = decoder(ErasureBody)


async def erase(request: Request, services: Services) -> Response:
    """POST /v2/erasures: delete what has ended of a person, and empty what the logs have of it; a page at a time."""
    body = decode(request, _decoder, services.settings)
    subject = _subject(body)
    if body.after is not None and body.after.startswith(OF_ARCHIVE):
        return await _erase_from_archive(request, services, subject, body.after.removeprefix(OF_ARCHIVE))
    after = as_key(body.after, "after") or 0
    async with services.pool.connection() as connection, connection.transaction():
        found = await erasure.trees_of(connection, subject, after, TREES, request.tenants)
        verdicts = await history.delete_trees(connection, found, history.ERASURE) if found else {}
        erased = [root for root in found if verdicts[root] == history.DELETED]
        if erased:
            await _erase_logs(request, connection, erased)
    kept = [root for root in found if root not in erased]
    return json_response(
        {
            "erased": [str(root) for root in erased],
            "kept": [
                {"processInstanceKey": str(root), "reason": history.why_not(root, root, verdicts[root])}
                for root in kept
            ],
            "erasedFromArchive": [],
            "missing": [],
            "damaged": [],
            "next": str(found[-1]) if len(found) == TREES else OF_ARCHIVE if services.archive else None,
        }
    )


async def _erase_logs(request: Request, connection: Connection, roots: Sequence[int]) -> None:
    """Empty what the logs have of these trees, and record who asked for that; in the caller's transaction."""
    await erasure.erase_logs(connection, roots, redacted)
    records = [record for root in roots if (record := audit.record_of(request, str(root))) is not None]
    await audit_log.add_all(connection, records, audit_log.SUCCESS)


async def _erase_from_archive(request: Request, services: Services, subject: Subject, after: str) -> Response:
    """The next files of the archive. What was deleted before goes from the logs, too, as far as they have it."""
    if services.archive is None:
        raise invalid_argument("The provided after names a place in the archive, and there is none")

    async def record(connection: Connection, roots: Sequence[int]) -> None:
        await _erase_logs(request, connection, roots)

    try:
        found = await services.archive.erase_subject(subject, after, request.tenants, record, ARCHIVE_S)
    except ArchiveProblem as problem:
        raise archive_away(problem) from problem
    return json_response(
        {
            "erased": [],
            "kept": [],
            "erasedFromArchive": [str(root) for root in found.roots],
            "missing": found.missing,
            "damaged": found.damaged,
            "next": None if found.next is None else f"{OF_ARCHIVE}{found.next}",
        }
    )


def _subject(body: ErasureBody) -> Subject:
    if (body.business_id is None) == (body.variable is None):
        raise invalid_argument("Exactly one of [businessId, variable] is required")
    if body.variable is None:
        return Subject(body.business_id)
    try:
        msgspec.json.decode(body.variable.value)
    except msgspec.DecodeError as error:
        raise invalid_argument(f"The provided variable.value is not JSON: {error}. A text needs quotes") from error
    return Subject(variable=body.variable.name, value=body.variable.value)


def redacted(events: str, format: int) -> str:
    """The events without the variables and business ids of messages."""
    kept = [
        msgspec.structs.replace(each, variables={}, business_id=None) if isinstance(each, MessagePublished) else each
        for each in decode_events(events, format)
    ]
    return encode_events(kept).decode()
