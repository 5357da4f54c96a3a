"""The erasure of a person's data: ended instances, and all that logs, tables and the archive have of a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import trio

from vivero.api.access import audit
from vivero.api.erasure_pages import MESSAGES, Answer, Pages
from vivero.api.http.decoding import Body, as_key, decode, decoder
from vivero.api.http.problems import archive_away, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.storage.access import audit_log
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import erasure, history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.retention.erasure_by_value import Search
from vivero.storage.retention.sought import SHORTEST, Sought

OF_ARCHIVE = "archive:"
"""The beginning of a place in the archive, behind all instances in the tables."""
ARCHIVE_S = 5.0
"""Seconds for which one request searches the archive; it searches one file at least."""
LOGS_S = 1.0
"""Seconds for which one request searches the logs; it searches one page at least."""
TREES = 50
"""Instances of one request. The transaction holds up nobody, but it should end."""
MAX_VALUES = 20


class VariableBody(Body, frozen=True):
    name: str
    value: str


Text = Annotated[str, msgspec.Meta(min_length=SHORTEST, max_length=1_000)]
AFTER = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(-?[0-9]{1,25}|(archive|messages|starts|queued|log|comments|views|drafts|rules|notices|batches|items|executions):[!-~]{0,200}|(keys|workers):[!-~]{0,9999})$"
    ),
]
"""The end of the last answer: behind a key, or a place in the archive, the logs, or another table."""


class ErasureBody(Body, frozen=True):
    business_id: str | None = None
    variable: VariableBody | None = None
    values: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MAX_VALUES)] | None = None
    dry_run: bool = False
    after: AFTER | None = None


_decoder = decoder(ErasureBody)


class _DryRun(Exception):
    """The transaction is rolled back."""


async def erase(request: Request, services: Services) -> Response:
    """POST /v2/erasures: delete what has ended of a person, and empty what else there is; a page at a time."""
    body = decode(request, _decoder, services.settings)
    subject, place, answer = _subject(body), body.after or "0", Answer()
    if ":" not in place:
        place = await _erase_trees(request, services, body, subject, as_key(place, "after") or 0, answer)
    elif place.startswith(OF_ARCHIVE):
        place = await _erase_from_archive(request, services, body, subject, place.removeprefix(OF_ARCHIVE), answer)
    if ":" in place and not place.startswith(OF_ARCHIVE):
        search = Search(Sought(subject), request.tenants, bool(subject.texts), body.dry_run)
        pages = Pages(request, services, search, answer)
        try:
            answer.next = await pages.go_on(place, trio.current_time() + LOGS_S)
        except ArchiveProblem as problem:
            raise archive_away(problem) from problem
    else:
        answer.next = place
    return json_response(answer.document(body.dry_run))


async def _erase_trees(
    request: Request, services: Services, body: ErasureBody, subject: ErasureSubject, after: int, answer: Answer
) -> str:
    """The trees with the value now. Returns the next place."""
    found: list[int] = []
    try:
        async with services.reads.pool.connection() as connection, connection.transaction():
            found = await erasure.trees_of(connection, subject, after, TREES, request.tenants)
            verdicts = await history.delete_trees(connection, found, history.ERASURE) if found else {}
            answer.add_trees({root: verdicts[root] for root in found})
            if body.dry_run:
                raise _DryRun
            if answer.erased:
                await _erase_logs(request, connection, answer.erased)
    except _DryRun:
        pass
    if len(found) == TREES:
        return str(found[-1])
    return OF_ARCHIVE if services.files.archive else MESSAGES


async def _erase_logs(request: Request, connection: Connection, roots: Sequence[int]) -> None:
    """Empty what the logs have of these trees, and record who asked for that; in the caller's transaction."""
    await erasure.erase_logs(connection, roots)
    records = [record for root in roots if (record := audit.record_of(request, str(root))) is not None]
    await audit_log.add_all(connection, records, audit_log.SUCCESS)


async def _erase_from_archive(
    request: Request, services: Services, body: ErasureBody, subject: ErasureSubject, after: str, answer: Answer
) -> str:
    """The next files of the archive. Trees that were deleted before go from the logs, too. Returns the next place."""
    if services.files.archive is None:
        raise invalid_argument("The provided after names a place in the archive, and there is none")

    async def record(connection: Connection, roots: Sequence[int]) -> None:
        await _erase_logs(request, connection, roots)

    try:
        found = await services.files.archive.erase_subject(
            subject, after, request.tenants, None if body.dry_run else record, ARCHIVE_S
        )
    except ArchiveProblem as problem:
        raise archive_away(problem) from problem
    answer.erased_from_archive = found.roots
    answer.missing, answer.damaged = found.missing, found.damaged
    return MESSAGES if found.next is None else f"{OF_ARCHIVE}{found.next}"


def _subject(body: ErasureBody) -> ErasureSubject:
    if sum(each is not None for each in (body.business_id, body.variable, body.values)) != 1:
        raise invalid_argument("Exactly one of [businessId, variable, values] is required")
    if body.values is not None:
        return ErasureSubject(texts=tuple(body.values))
    if body.variable is None:
        return ErasureSubject(body.business_id)
    try:
        msgspec.json.decode(body.variable.value)
    except msgspec.DecodeError as error:
        raise invalid_argument(f"The provided variable.value is not JSON: {error}. A text needs quotes") from error
    return ErasureSubject(variable=body.variable.name, value=body.variable.value)
