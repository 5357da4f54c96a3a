"""The erasure of a person's data: ended instances with a business id or a variable's value, in state and logs."""

from __future__ import annotations

import msgspec

from vivero.api.access import audit
from vivero.api.decoding import Body, Key, as_key, decode, decoder
from vivero.api.problems import invalid_argument
from vivero.api.request import Request
from vivero.api.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.core.records.codec import decode_events, encode_events
from vivero.engine.core.records.messages import MessagePublished
from vivero.storage import audit_log, erasure, history
from vivero.storage.erasure import Subject

TREES = 50
"""Instances of one request. The transaction holds up nobody, but it should end."""


class VariableBody(Body, frozen=True):
    name: str
    value: str


class ErasureBody(Body, frozen=True):
    business_id: str | None = None
    variable: VariableBody | None = None
    after: Key | None = None


_decoder = decoder(ErasureBody)


async def erase(request: Request, services: Services) -> Response:
    """POST /v2/erasures: delete what has ended of a person, and empty what the logs have of it; a page at a time."""
    body = decode(request, _decoder, services.settings)
    subject, after = _subject(body), as_key(body.after, "after") or 0
    async with services.pool.connection() as connection, connection.transaction():
        found = await erasure.trees_of(connection, subject, after, TREES, request.tenants)
        verdicts = await history.delete_trees(connection, found, history.ERASURE) if found else {}
        erased = [root for root in found if verdicts[root] == history.DELETED]
        if erased:
            await erasure.erase_logs(connection, erased, redacted)
            records = [record for root in erased if (record := audit.record_of(request, str(root))) is not None]
            await audit_log.add_all(connection, records, audit_log.SUCCESS)
    kept = [root for root in found if root not in erased]
    return json_response(
        {
            "erased": [str(root) for root in erased],
            "kept": [
                {"processInstanceKey": str(root), "reason": history.why_not(root, root, verdicts[root])}
                for root in kept
            ],
            "next": str(found[-1]) if len(found) == TREES else None,
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
