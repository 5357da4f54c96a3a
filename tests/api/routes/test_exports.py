"""Lists as CSV over HTTP: columns, pages, limits, clients that are slow or leave, and cells that are not formulas."""

import csv
import io
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import quote

import pytest
import structlog
import trio
import trio.testing

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.access.credentials import session_ended
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, NO_RIGHTS, rights
from vivero.api.http.problems import Problem
from vivero.api.http1.problems import UnfinishedAnswer
from vivero.api.search import exports, search_requests
from vivero.api.search.csv_text import cell, line, text_of
from vivero.storage.access.identities import Grant
from vivero.storage.postgres.errors import ConnectFailed

KEY = 2251799813685249
PATH = "/v2/process-instances/export"


def rows_of(answer):
    assert answer.status == 200, answer.body
    assert answer.headers[b"content-type"] == b"text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(answer.body.decode("utf-8-sig"), newline="")))


def asked(**query):
    return f"{PATH}?query={quote(json.dumps(query))}"


async def test_a_list_has_the_columns_and_the_order_of_its_request(rows, reader):
    for n in range(3):
        rows.instance(KEY + n, business_id=f"b{n}", tags=["x", "y"], started_at="2026-11-18T11:06:40.123Z")
        rows.variable(KEY + 10 + n, "amount", str(n), scope_key=KEY + n, process_instance_key=KEY + n)
        rows.variable(KEY + 20 + n, "who", '"=ann"', scope_key=KEY + n, process_instance_key=KEY + n)
        rows.variable(KEY + 30 + n, "who", '"inner"', scope_key=KEY + 40 + n, process_instance_key=KEY + n)
    columns = ["processInstanceKey", "tags", "startDate", "hasIncident", "endDate", "variable:who", "variable:amount"]
    query = {
        "columns": columns,
        "filter": {"businessId": {"$in": ["b0", "b2"]}},
        "sort": [{"field": "businessId", "order": "DESC"}],
    }
    for answer in (await reader("GET", asked(**query)), await reader("POST", PATH, query)):
        head, *found = rows_of(answer)
        assert head == [*columns[:-2], "who", "amount", "readAt"]
        begun = "2026-11-18T11:06:40.123Z"
        assert [row[:-1] for row in found] == [
            [str(KEY + n), "x y", begun, "false", "", "'=ann", str(n)] for n in (2, 0)
        ]
        assert all(row[-1].endswith("Z") for row in found)
    assert answer.headers[b"content-disposition"].startswith(b'attachment; filename="process-instances.csv"')
    assert b"content-length" not in answer.headers
    assert (await reader("HEAD", PATH)).body == b""


@pytest.mark.parametrize("page", [1, 2, 3, 4])
async def test_pages_are_read_one_after_the_other(rows, reader, monkeypatch, page):
    """Also rows that share their place in the order, and a last page that is full."""
    monkeypatch.setattr(exports, "PAGE_ROWS", page)
    for n in range(4):
        rows.instance(KEY + n, business_id=f"b{n % 2}")
    _, *found = rows_of(await reader("GET", asked(columns=["processInstanceKey"], sort=[{"field": "businessId"}])))
    assert [int(row[0]) - KEY for row in found] == [0, 2, 1, 3]


@pytest.mark.parametrize("page", [1, 2, 3])
async def test_a_file_that_is_cut_at_its_limit_says_so(rows, reader, monkeypatch, page):
    """A file with exactly as many rows as it may have is whole."""
    monkeypatch.setattr(exports, "PAGE_ROWS", page)
    monkeypatch.setattr(exports, "MAX_ROWS", 2)
    rows.instance(KEY)
    rows.instance(KEY + 1)
    path = asked(columns=["processInstanceKey"])
    _, *found = rows_of(await reader("GET", path))
    assert [row[0] for row in found] == [str(KEY), str(KEY + 1)]
    rows.instance(KEY + 2)
    _, *found, last = rows_of(await reader("GET", path))
    assert [row[0] for row in found] == [str(KEY), str(KEY + 1)]
    assert last == ["The file ends after 2 rows, its limit"]


@pytest.fixture
def limits(monkeypatch):
    """The limits of the statements of an export, in their order."""
    found, prepare_query = [], search_requests.prepare_query

    def prepare(request, resource, query):
        found.append(query.limit)
        return prepare_query(request, resource, query)

    monkeypatch.setattr(exports, "prepare_query", prepare)
    return found


async def test_large_rows_make_pages_of_fewer_rows(rows, stored, limits):
    """One row is larger than a page may be. Behind the large ones, pages grow again."""
    for n in range(20):
        rows.instance(KEY + n, business_id="b" * ({5: 9_000, 6: 3_000}.get(n, 1)))
    settings = replace(stored.settings, max_page_bytes=8_000)
    client = Client(api_app.build(changed(stored, settings=settings)))
    _, *found = rows_of(await client("GET", asked(columns=["processInstanceKey", "businessId"])))
    assert [(int(key) - KEY, len(id)) for key, id, _ in found] == [
        (n, {5: 9_000, 6: 3_000}.get(n, 1)) for n in range(20)
    ]
    assert limits[:8] == [500, 250, 125, 62, 31, 15, 7, 3]
    assert 1 in limits
    assert limits[-1] > limits[limits.index(1)]


async def test_large_variables_make_pages_of_fewer_rows(rows, stored, limits):
    for n in range(4):
        rows.instance(KEY + n)
        rows.variable(KEY + 10 + n, "text", json.dumps("x" * 3_000), scope_key=KEY + n, process_instance_key=KEY + n)
    settings = replace(stored.settings, max_page_bytes=8_000)
    client = Client(api_app.build(changed(stored, settings=settings)))
    _, *found = rows_of(await client("GET", asked(columns=["processInstanceKey", "variable:text"])))
    assert [(int(key) - KEY, text) for key, text, _ in found] == [(n, "x" * 3_000) for n in range(4)]


async def test_variables_of_one_row_may_be_larger_than_a_page(rows, stored):
    """The page has the least size that a setting allows. Each variable is read by itself then."""
    for n in range(2):
        rows.instance(KEY + n)
        for at, name in enumerate(("a", "b", "c")):
            rows.variable(
                KEY + 10 + 3 * n + at, name, json.dumps(name * 900), scope_key=KEY + n, process_instance_key=KEY + n
            )
    client = Client(api_app.build(changed(stored, settings=replace(stored.settings, max_page_bytes=1_500))))
    _, *found = rows_of(await client("GET", asked(columns=["variable:a", "variable:b", "variable:c"])))
    assert [row[:3] for row in found] == [["a" * 900, "b" * 900, "c" * 900]] * 2


class Losing:
    """Authenticates requests: the last of these rights remain. None: the session has ended."""

    def __init__(self, *rights) -> None:
        self.rights = list(rights)

    async def authenticate(self, headers, address):
        now = self.rights.pop(0) if len(self.rights) > 1 else self.rights[0]
        if now is None:
            raise session_ended()
        return Caller("USER", "ann", now)


def reading(process):
    return rights((), [Grant("PROCESS_DEFINITION", process, ("READ_PROCESS_INSTANCE",))])


@pytest.mark.parametrize(("later", "status"), [(None, 401), (NO_RIGHTS, 403)])
async def test_a_file_ends_with_the_session_or_the_permission(rows, stored, monkeypatch, later, status):
    monkeypatch.setattr(exports, "PAGE_ROWS", 1)
    for n in range(3):
        rows.instance(KEY + n)
    access = Losing(ALL_RIGHTS, ALL_RIGHTS, later)
    with structlog.testing.capture_logs() as logged, pytest.raises(UnfinishedAnswer) as cut:
        await Client(api_app.build(changed(stored, access=access)))("GET", PATH)
    assert isinstance(cut.value.__cause__, Problem)
    assert cut.value.__cause__.status == status
    (line,) = [each for each in logged if each["event"] == "an answer ends before its end"]
    assert (line["log_level"], line["why"].startswith("Problem: ")) == ("warning", True)
    assert access.rights == [later]


async def test_a_page_has_what_its_caller_may_see_by_then(rows, stored, monkeypatch):
    monkeypatch.setattr(exports, "PAGE_ROWS", 1)
    for n in range(4):
        rows.instance(KEY + n, process_id="ab"[n % 2])
    access = Losing(reading("a"), reading("b"))
    client = Client(api_app.build(changed(stored, access=access)))
    _, *found = rows_of(await client("GET", asked(columns=["processInstanceKey"])))
    assert [int(row[0]) - KEY for row in found] == [0, 1, 3]


async def test_a_slow_client_and_one_that_leaves_hold_nothing(rows, stored, monkeypatch):
    """Between two pages no connection, no turn and no memory of pages is taken."""
    monkeypatch.setattr(exports, "PAGE_ROWS", 1)
    for n in range(3):
        rows.instance(KEY + n)
    taken, parts, in_use, connection = [], [], [0], stored.reads.pool.connection

    @asynccontextmanager
    async def counted():
        async with connection() as each:
            in_use[0] += 1
            try:
                yield each
            finally:
                in_use[0] -= 1

    monkeypatch.setattr(stored.reads.pool, "connection", counted)

    async def send(message):
        taken.append((stored.reads.exporting.borrowed_tokens, stored.reads.pages.used, in_use[0]))
        if message["type"] == "http.response.body":
            parts.append(message["body"])
            if len(parts) == 2:
                raise OSError("the client has left")

    async def receive():
        return {"type": "http.request", "body": b""}

    scope = {"type": "http", "method": "GET", "path": PATH, "query_string": b"", "headers": [], "extensions": {}}
    with pytest.raises(OSError, match="the client has left"):
        await api_app.build(stored)(scope, receive, send)
    assert len(parts) == 2
    assert set(taken) == {(0, 0, 0)}


async def test_only_some_pages_are_read_at_a_time(rows, stored):
    rows.instance()
    stored.reads.exporting.total_tokens = 1
    client, answers = Client(api_app.build(stored)), []

    async def ask():
        answers.append(rows_of(await client("GET", PATH)))

    async with trio.open_nursery() as nursery, stored.reads.exporting:
        for _ in range(2):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert (await client("POST", "/v2/process-instances/search")).json["page"]["totalItems"] == 1
        assert answers == []
    assert [len(answer) for answer in answers] == [2, 2]


async def test_the_wait_for_a_turn_has_a_deadline(stored):
    stored.reads.exporting.total_tokens = 1
    settings = replace(stored.settings, response_timeout_s=0.0)
    client = Client(api_app.build(changed(stored, settings=settings)))
    async with stored.reads.exporting:
        answer = await client("GET", PATH)
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert b"retry-after" in answer.headers
    assert stored.reads.exporting.borrowed_tokens == 0


async def test_an_outage_later_leaves_the_file_incomplete(rows, stored, monkeypatch):
    """The server closes the connection without the last chunk, so that no client takes the file for whole."""
    monkeypatch.setattr(exports, "PAGE_ROWS", 1)
    for n in range(3):
        rows.instance(KEY + n)
    found, pages = search_requests.fetch_page, []

    async def fetch_page(*arguments):
        pages.append(1)
        if len(pages) == 2:
            raise ConnectFailed("the database is away")
        return await found(*arguments)

    monkeypatch.setattr(exports, "fetch_page", fetch_page)
    with pytest.raises(UnfinishedAnswer) as cut:
        await Client(api_app.build(stored))("GET", PATH)
    assert isinstance(cut.value.__cause__, ConnectFailed)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"columns": ["nothing"]}, "columns"),
        ({"columns": ["state", "state"]}, "each of them once"),
        ({"columns": [f"variable:{n}" for n in range(11)]}, "at most 10 variables"),
        ({"columns": [f"variable:{n}" for n in range(51)]}, "at most 50 columns"),
        ({"columns": "state"}, "columns"),
        ({"sort": [{"field": "nothing"}]}, "nothing"),
        ({"filter": {"nothing": 1}}, "nothing"),
        ({"page": {"limit": 1}}, "page"),
        ("[", "cannot be parsed"),
    ],
)
async def test_a_bad_request_has_its_status_and_names_its_place(client, query, said):
    text = query if isinstance(query, str) else json.dumps(query)
    for answer in (await client("GET", f"{PATH}?query={quote(text)}"), await client("POST", PATH, text.encode())):
        assert answer.status == 400
        assert said in answer.problem["detail"]


async def test_lists_without_variables_refuse_them_as_columns(client):
    for path in ("/v2/incidents/export", "/v2/user-tasks/export"):
        answer = await client("POST", path, {"columns": ["variable:x"]})
        assert (answer.status, "variable:x" in answer.problem["detail"]) == (400, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order 7", "order 7"),
        ("", ""),
        ("-5", "-5"),
        ("-1.5e+3", "-1.5e+3"),
        ("=1+1", "'=1+1"),
        ("+1 2", "'+1 2"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        (" =1", "' =1"),
        ("\u00a0=1", "'\u00a0=1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("\t=1", "\"'\t'=1\""),
        ("\r=1", "\"'\r'=1\""),
        ("\n=1", "\"'\n'=1\""),
        ("a;=1", '"a;\'=1"'),
        ('a;"=1', '"a;\'""=1"'),
        ('"=1', '"\'""=1"'),
        ("a\n-b", '"a\n\'-b"'),
        ("a\tb", '"a\tb"'),
        ('say "a", b', '"say ""a"", b"'),
        ("a=1", "a=1"),
        ("-1\n", '"\'-1\n"'),
        ("٣-1", "٣-1"),
    ],
)
def test_no_cell_is_a_formula(text, expected):
    assert cell(text) == expected
    for separator in (",", ";"):
        found = next(csv.reader(io.StringIO(f"1{separator}{expected}", newline=""), delimiter=separator))
        assert not any(part.lstrip(' \ufeff\xa0\t\r\n"').startswith(("=", "@", "＝")) for part in found[1:])


def test_values_are_texts():
    values = ["a", None, True, 1.5, ["a", "b"], [1], {"a": None}]
    assert [text_of(value) for value in values] == ["a", "", "true", "1.5", "a b", "[1]", '{"a":null}']
    assert line(["a", "b,c"]) == 'a,"b,c"\r\n'
