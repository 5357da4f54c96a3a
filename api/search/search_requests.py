"""Search requests: from {filter, sort, page} to a query of the storage, and from its page to {items, page}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import trio

from vivero.api.http.decoding import Body, Int64, as_int64, decode_optional, decoder
from vivero.api.http.problems import (
    LATER,
    Problem,
    bad_request,
    invalid_argument,
    not_found,
    unexpected_value,
    unparsable,
)
from vivero.api.http.request import Request
from vivero.api.http.response import Response, encode, json_response
from vivero.api.http.shared_budget import Share
from vivero.api.reading import conditions, read_of
from vivero.api.services import Services
from vivero.api.settings import ApiSettings
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search import statements as storage_search
from vivero.storage.search import statistics as storage_statistics
from vivero.storage.search.filters import OF_PROCESSES
from vivero.storage.search.groups import Groups, prepare_groups
from vivero.storage.search.problems import BadQuery, UnexpectedValue, Unparsable
from vivero.storage.search.queries import MAX_SORT, Page, SearchQuery, Sort, check_page
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import PageTooLarge, SearchStatement
from vivero.storage.search.user_tasks import GRANTED

Handler = Callable[[Request, Services], Awaitable[Response]]


class PageBody(Body, frozen=True):
    limit: Int64 | None = None
    from_: Int64 | None = msgspec.field(default=None, name="from")
    after: str | None = None
    before: str | None = None


class SortBody(Body, frozen=True):
    field: str
    order: str | None = None


class SearchBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    sort: list[SortBody] | None = None
    page: PageBody | None = None


class StatisticsBody(Body, frozen=True):
    filter: dict[str, Any] | None = None


_search_decoder = decoder(SearchBody)
_statistics_decoder = decoder(StatisticsBody)


def searching(resource: Resource) -> Handler:
    """A handler that searches a resource."""

    async def search(request: Request, services: Services) -> Response:
        return await answer(request, services, resource)

    return search


def getting(resource: Resource, parameter: str) -> Handler:
    """A handler that reads one item of a resource, by the key in this parameter of the path."""

    async def get(request: Request, services: Services) -> Response:
        key = request.key(parameter)
        found = await read_of(
            services,
            _of(request, resource),
            lambda connection, tenants: storage_search.get(connection, resource, key, tenants),
        )
        if found is None:
            raise not_found(resource.name, key)
        return json_response(found)

    return get


SMALL_PAGE_BYTES = 256 * 1024
"""A page up to this size needs no share of the budget for pages."""


async def answer(request: Request, services: Services, resource: Resource) -> Response:
    """Search a resource with the request's body."""
    return await run(request, services, prepare(request, resource, services.settings))


def prepare(request: Request, resource: Resource, settings: ApiSettings, *extra: tuple[str, Any]) -> SearchStatement:
    """A query from the request's body with additional conditions (field, value). Raises Problem 400.

    A restricted caller finds only what belongs to its processes, and the total counts only that.
    """
    return prepare_query(request, resource, read_query(request, resource, settings), *extra)


def prepare_query(request: Request, resource: Resource, query: SearchQuery, *extra: tuple[str, Any]) -> SearchStatement:
    """The same for a query. Raises Problem 400."""
    extra = (*extra, *_allowed(request, resource))
    try:
        return storage_search.prepare(resource, query, *extra, tenants=conditions(request.tenants))
    except BadQuery as error:
        raise problem_of(error) from error


def counting(groups: Groups) -> Handler:
    """A handler that counts the rows of a resource by group."""

    async def count(request: Request, services: Services) -> Response:
        return await answer_groups(request, services, groups, *_allowed(request, groups.rows))

    return count


async def answer_groups(request: Request, services: Services, groups: Groups, *extra: tuple[str, Any]) -> Response:
    """Search groups of rows with the request's body. `extra` are conditions on the rows. Raises Problem 400."""
    try:
        query = read_query(request, groups.items, services.settings)
        prepared = prepare_groups(groups, query, *extra, tenants=conditions(request.tenants))
    except BadQuery as error:
        raise problem_of(error) from error
    return await run(request, services, prepared)


def _allowed(request: Request, resource: Resource) -> Iterator[tuple[str, Any]]:
    """The condition that the caller may see a row. What belongs to a granted user task needs none (`restrict`)."""
    if request.allowed is None:
        return
    if request.allowed.tasks is None:
        yield OF_PROCESSES, sorted(request.allowed.ids)
    elif GRANTED in resource.within:
        yield GRANTED, request.allowed.tasks


async def run(
    request: Request, services: Services, prepared: SearchStatement, shown: Callable[[bytes], bytes] | None = None
) -> Response:
    """The answer to a query. Raises Problem 400 if it is too large, 503 if there is no memory for it in time.

    `shown` makes what the caller sees of each item (JSON).
    """
    with services.reads.pages.share() as share:
        try:
            page = await fetch_page(request, services, prepared, share)
        except BadQuery as error:
            raise problem_of(error) from error
        if shown is not None:
            page = msgspec.structs.replace(page, items=[shown(item) for item in page.items])
        return json_response(_document(page))


async def fetch_page(request: Request, services: Services, prepared: SearchStatement, share: Share) -> Page:
    """The page of a query. A large page waits for its share of the budget, without a connection.

    Raises ItemsTooLarge, and Problem 503 if there is no memory for it in time.
    """
    max_bytes, deadline = SMALL_PAGE_BYTES, trio.current_time() + services.settings.response_timeout_s
    while True:
        try:
            return await read_of(services, _of(request, prepared), partial(_run, prepared, max_bytes))
        except PageTooLarge as error:
            max_bytes = min(error.size, services.reads.pages.limit)
        with trio.move_on_at(deadline) as waiting:
            await share.wait(max_bytes)
        if waiting.cancelled_caught:
            detail = "Other searches use all of the memory for pages; try again later"
            raise Problem(503, "RESOURCE_EXHAUSTED", detail, LATER)


def _of(request: Request, read: Resource | SearchStatement) -> Tenants:
    """The tenants whose rows the caller may read; None if the rows belong to no tenant."""
    return request.tenants if read.of_tenants else None


async def _run(prepared: SearchStatement, max_bytes: int, connection: Connection, _tenants: Tenants) -> Page:
    return await storage_search.run(connection, prepared, max_bytes)


def prepare_statistics(
    request: Request, resource: Resource, settings: ApiSettings, *extra: tuple[str, Any]
) -> SearchStatement | None:
    """A query for statistics from the request's body; None without a filter. Raises Problem 400."""
    body = decode_optional(request, _statistics_decoder, settings)
    if not body.filter:
        return None
    try:
        tenants = conditions(request.tenants)
        return storage_statistics.prepare_statistics(resource, body.filter, *extra, tenants=tenants)
    except BadQuery as error:
        raise problem_of(error) from error


def read_query(request: Request, resource: Resource, settings: ApiSettings) -> SearchQuery:
    """The query in a request's body. Raises Problem 400."""
    body = decode_optional(request, _search_decoder, settings)
    page = body.page or PageBody()
    limit, offset = as_int64(page.limit, "page.limit"), as_int64(page.from_, "page.from")
    if found := check_page(limit, offset, page.after, page.before):
        raise invalid_argument(*found)
    sort = sorts_of(body.sort or [], resource)
    limit = 100 if limit is None else limit
    return SearchQuery(body.filter or {}, sort, limit, offset or 0, page.after, page.before, settings.max_page_bytes)


def sorts_of(criteria: list[SortBody], resource: Resource) -> tuple[Sort, ...]:
    """The sort order. Raises Problem 400."""
    if len(criteria) > MAX_SORT:
        raise invalid_argument(f"The sort has {len(criteria)} criteria but must not have more than {MAX_SORT}")
    return tuple(_sort(criterion, i, resource) for i, criterion in enumerate(criteria))


def _sort(criterion: SortBody, place: int, resource: Resource) -> Sort:
    field = resource.by_name.get(criterion.field)
    if field is None or not field.sort:
        sortable = tuple(sorted(field.name for field in resource.fields if field.sort))
        raise unexpected_value(criterion.field, "field", sortable)
    order = (criterion.order or "ASC").upper()
    if order not in ("ASC", "DESC"):
        raise unexpected_value(criterion.order, "order", ("ASC", "DESC"))
    return Sort(field, order == "DESC")


def problem_of(error: BadQuery) -> Problem:
    """400 for a filter, sort or page that cannot be understood."""
    if isinstance(error, Unparsable):
        return unparsable(error.path)
    if isinstance(error, UnexpectedValue):
        return unexpected_value(error.value, error.field, error.allowed)
    return invalid_argument(str(error)) if str(error) else bad_request("The search cannot be understood")


def _document(page: Page) -> bytes:
    about = {
        "totalItems": page.total,
        "hasMoreTotalItems": page.more,
        "startCursor": page.start,
        "endCursor": page.end,
    }
    return b'{"items":[%b],"page":%b}' % (b",".join(page.items), encode(about))
