"""GET /v2/process-instances/{key}/compensations: what a compensation would undo, in its order, page by page."""

from pathlib import Path

import pytest

from tests.api.rows import KEY
from vivero.storage.postgres.sql_files import load
from vivero.storage.reads import registrations

PATH = f"/v2/process-instances/{KEY}/compensations"
MANY = 100_000


@pytest.fixture
def registered(rows):
    """Puts an activity that has completed; its key is the time of its completion."""
    rows.instance(KEY)

    def put(at, element, scope=KEY, **more):
        place = {"process_instance_key": KEY, "scope_key": scope, "tenant_id": "<default>", "element_id": element}
        others = {"is_scope": False, "handler": f"undo-{element}", "registered": "{}", "running": False}
        rows.put(
            "compensations", compensation_key=KEY + at, element_instance_key=KEY + at + 500, **place, **others | more
        )

    return put


async def read(reader, **query):
    target = "&".join(f"{name}={value}" for name, value in query.items())
    answer = await reader("GET", f"{PATH}?{target}")
    assert answer.status == 200, answer.json
    return answer.json


def ids(page):
    return [(int(item["compensationKey"]) - KEY, item["elementId"]) for item in page["items"]]


async def test_the_latest_comes_first_whatever_its_activity(registered, reader):
    for at, element in ((1, "book"), (2, "pay"), (3, "book"), (4, "apply")):
        registered(at, element)
    page = await read(reader)
    assert ids(page) == [(4, "apply"), (3, "book"), (2, "pay"), (1, "book")]
    assert page["next"] is None
    assert page["items"][2] == {
        "compensationKey": str(KEY + 2),
        "elementInstanceKey": str(KEY + 502),
        "elementId": "pay",
        "handlerId": "undo-pay",
        "inside": {},
        "state": "REGISTERED",
    }


async def test_what_is_inside_of_a_completed_scope_is_asked_for_by_its_key(registered, reader):
    registered(1, "book", scope=KEY + 503)
    registered(3, "trip", handler=None, registered='{"book": 1}')
    registered(4, "sold", handler=None, registered='{"pay": 2}', running=True)
    page = await read(reader)
    assert [(item["elementId"], item["handlerId"], item["inside"], item["state"]) for item in page["items"]] == [
        ("sold", None, {"pay": 2}, "RUNNING"),
        ("trip", None, {"book": 1}, "REGISTERED"),
    ]
    assert ids(await read(reader, scopeKey=KEY + 503)) == [(1, "book")]


async def test_one_activity_alone(registered, reader):
    for at, element in ((1, "book"), (2, "pay"), (3, "book")):
        registered(at, element)
    assert ids(await read(reader, elementId="book")) == [(3, "book"), (1, "book")]
    assert ids(await read(reader, elementId="b")) == []


async def test_pages_lead_through_all_of_them_once(registered, reader):
    for at in range(1, 24):
        registered(at, f"a{at % 3}")
    found, query = [], {"limit": 5}
    while query:
        page = await read(reader, **query)
        found += [at for at, _ in ids(page)]
        query = page["next"] and {"limit": 5, "after": page["next"]}
    assert found == list(range(23, 0, -1))


@pytest.mark.long
async def test_a_page_among_very_many_reads_only_what_it_shows(registered, rows, reader):
    registered(1, "book")
    rows.execute(
        "INSERT INTO compensations SELECT c.compensation_key + n, c.process_instance_key, c.scope_key,"
        " c.element_instance_key + n, CASE WHEN n %% 2 = 0 THEN 'pay' ELSE 'book' END, c.tenant_id, c.is_scope,"
        " c.handler, c.registered, c.running FROM compensations c, generate_series(1, %s) n",
        [MANY],
    )
    page = await read(reader, after=KEY + MANY // 2)
    assert [at for at, _ in ids(page)] == list(range(MANY // 2 - 1, MANY // 2 - 101, -1))
    rows.execute("ANALYZE compensations")
    assert scanned(rows, KEY + MANY // 2) < 1_000


def scanned(rows, before):
    """The number of rows that the plan of a page reads."""
    text = load(Path(registrations.__file__).with_suffix(".sql"))["latest"].text
    rows.execute("PREPARE page (bigint, bigint, text, bigint, int) AS " + text.rstrip("; \n"))
    plan = rows.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page ({KEY}, {KEY}, NULL, {before}, 100)").fetchone()[
        0
    ][0]
    return most_rows(plan["Plan"])


def most_rows(node):
    return max([node["Actual Rows"] * node["Actual Loops"], *map(most_rows, node.get("Plans", []))])


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("limit=0", "The value for limit is '0' but must be between 1 and 1000"),
        ("limit=1001", "must be between 1 and 1000"),
        ("after=x", "Failed to convert 'after' with value: 'x'"),
        ("scopeKey=-1", "Failed to convert 'scopeKey' with value: '-1'"),
    ],
)
async def test_wrong_queries(registered, reader, query, text):
    answer = await reader("GET", f"{PATH}?{query}")
    assert answer.status == 400
    assert text in answer.json["detail"]


async def test_an_unknown_instance(reader):
    assert (await reader("GET", f"/v2/process-instances/{KEY + 9}/compensations")).status == 404
