"""Searches by what users filter by read few rows, however many there are; and what makes it so changes no answer."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
import trio

from vivero.storage.access import row_security, tenants
from vivero.storage.background import alert_rules
from vivero.storage.postgres import driver
from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.postgres.sql_files import beside, load
from vivero.storage.reads import cycle_times, instances_by_day, usage_metrics
from vivero.storage.search import candidates
from vivero.storage.search.candidates import PortionLimits
from vivero.storage.search.element_instances import ELEMENT_INSTANCES
from vivero.storage.search.filters import OF_PROCESSES
from vivero.storage.search.groups import prepare_groups
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.jobs import JOBS
from vivero.storage.search.messages import MESSAGE_CORRELATIONS, MESSAGE_SUBSCRIPTIONS
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import SearchQuery, Sort
from vivero.storage.search.statements import prepare, run, statement
from vivero.storage.search.timers import TIMERS
from vivero.storage.search.user_tasks import USER_TASKS
from vivero.storage.search.variable_names import NEWEST, VARIABLE_NAMES
from vivero.storage.search.variables import VARIABLES
from vivero.storage.work.batch_operations import DELETE_PROCESS_INSTANCE, RESOLVE_INCIDENT, CallerBounds

RESOURCES = (
    ELEMENT_INSTANCES,
    INCIDENTS,
    JOBS,
    MESSAGE_CORRELATIONS,
    MESSAGE_SUBSCRIPTIONS,
    PROCESS_INSTANCES,
    TIMERS,
    USER_TASKS,
    VARIABLES,
)
FIELDS = {f"{resource.name}: {field.name}": (resource, field) for resource in RESOURCES for field in resource.fields}

MAX_ROWS_PER_POSITION = 600
"""Read for a page of few rows, and for their number."""
ROWS = Path(__file__).with_name("many_rows.sql").read_text()
VALUES = {
    "processDefinitionId": ("p7", "big", "nowhere"),
    "processDefinitionKey": ("1007", "1000", "1"),
    "processDefinitionName": ("n7", "n0", "x"),
    "processDefinitionVersionTag": ("t7", "t0", "x"),
    "businessId": ("b7", "x"),
    "elementInstanceKey": ("73", "70", "1"),
    "parentElementInstanceKey": ("71", "70", "1"),
    "elementInstanceScopeKey": ("70", "73", "1"),
    "scopeKey": ("70", "73", "1"),
    "incidentKey": ("78", "9", "1"),
    "jobKey": ("78", "9", "1"),
}
"""Values that the fields have: of few rows, of most, of none."""
BY_INDEX_TOO = {
    "processInstanceKey": "70",
    "parentProcessInstanceKey": "70",
    "startDate": {"$gt": "1970-01-01T01:06:30Z"},
    "endDate": {"$gt": "1970-01-01T01:06:40Z"},
    "messageKey": "78",
}
TENANTS = ["<default>", "another"]
LIVE = {"ACTIVE", "CREATED", "FAILED", "PENDING", "RETRIES_UPDATED", "TIMED_OUT"}
IMPLIED = {name: found for name, found in FIELDS.items() if found[1].implied is not None}
NOT_BY_INDEX = {
    "Element Instance: startDate",
    "Element Instance: endDate",
    "Timer: processDefinitionId",
    "Timer: processDefinitionKey",
    "Correlated message subscription: businessId",
    "Message subscription: processDefinitionId",
    "Message subscription: processDefinitionKey",
    "Message subscription: processDefinitionName",
}
"""An index would cost each write: docs/rest-api.md says so."""


@pytest.fixture(scope="module")
def filled(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        connection.execute(ROWS)
        connection.execute("ANALYZE")
    return module_database


@pytest.fixture
async def connection(filled):
    connection = await driver.connect(filled, name="vivero test", settings=BY_INDEX)
    yield connection
    connection.close()


def chosen(resource):
    """Filters of a resource that find few rows or none, by name."""
    for field in resource.fields:
        name = f"{resource.name}: {field.name}"
        if not field.operators or name in NOT_BY_INDEX:
            continue
        if field.name in VALUES:
            few = [value for value in VALUES[field.name] if value not in ("big", "1000", "n0", "t0")]
            yield from ((f"{name} {value}", {field.name: value}) for value in few)
            if "$in" in field.operators:
                yield f"{name} among", {field.name: {"$in": few}}
        elif field.name in BY_INDEX_TOO:
            yield name, {field.name: BY_INDEX_TOO[field.name]}
        elif field.name in ("state", "messageSubscriptionState") and field.cases:
            few = {*field.cases} & (LIVE | {"TERMINATED"})
            yield from ((f"{name} {state}", {field.name: state}) for state in sorted(few))


async def too_many_read(connection, resource, **settings):
    """The filters of a resource that find few rows but read many, and how many."""
    found = {}
    for name, filter in chosen(resource):
        found[name] = await rows_read(connection, resource, SearchQuery(filter), **settings)
    assert found
    return {name: count for name, count in found.items() if count > MAX_ROWS_PER_POSITION}


@pytest.mark.long
@pytest.mark.parametrize("resource", RESOURCES, ids=[resource.name for resource in RESOURCES])
async def test_a_search_by_what_few_have_reads_few_rows(connection, resource):
    assert await too_many_read(connection, resource) == {}


@pytest.fixture(scope="module")
def separated(filled):
    """The DSN of the role that policies hold for."""
    trio.run(separate, filled)
    return row_security.reader_of(filled)


async def separate(dsn):
    connection = await driver.connect(dsn, name="vivero test")
    await row_security.make_reader(connection)
    await row_security.prepare(connection, row_security.reader_of(dsn))
    connection.close()


@pytest.fixture
async def reader(separated):
    reader = await driver.connect(separated, name="vivero test", settings=BY_INDEX)
    with reader.scoped(tenants.scope(TENANTS)):
        yield reader
    reader.close()


@pytest.mark.parametrize("resource", RESOURCES, ids=[resource.name for resource in RESOURCES])
async def test_row_level_security_bars_no_index(reader, resource):
    assert await too_many_read(reader, resource, tenants=TENANTS) == {}


@pytest.mark.parametrize("pattern", ["b77*", "b777"])
async def test_row_level_security_bars_no_index_from_the_beginning_of_a_pattern(reader, pattern):
    query = SearchQuery({"businessId": {"$like": pattern}})
    assert await rows_read(reader, PROCESS_INSTANCES, query, tenants=TENANTS) <= MAX_ROWS_PER_POSITION


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("field", ["startDate", "endDate"])
async def test_the_latest_instances_are_read_from_an_index(connection, field, descending):
    """Those that have not ended come first, or last: the index has those that have."""
    sort = Sort(PROCESS_INSTANCES.by_name[field], descending)
    query = SearchQuery({"processDefinitionId": "big"}, (sort,), limit=10)
    assert await rows_read(connection, PROCESS_INSTANCES, query, "found") <= MAX_ROWS_PER_POSITION


async def test_the_instances_that_ended_last_are_read_from_an_index(connection):
    """The first page of the console asks for them."""
    sort = Sort(PROCESS_INSTANCES.by_name["endDate"], True)
    query = SearchQuery({"state": {"$in": ["COMPLETED", "TERMINATED"]}}, (sort,), limit=10)
    assert await rows_read(connection, PROCESS_INSTANCES, query, "found") <= MAX_ROWS_PER_POSITION


@pytest.mark.parametrize("field", ["startDate", "endDate"])
async def test_a_range_of_time_gives_the_order_if_none_is_asked_for(connection, field):
    filter = {field: {"$gte": "1970-01-01T00:50:00Z", "$lt": "1970-01-01T00:55:00Z"}}
    ordered = (Sort(PROCESS_INSTANCES.by_name[field]),)
    assert statement(PROCESS_INSTANCES, SearchQuery(filter)) == statement(
        PROCESS_INSTANCES, SearchQuery(filter, ordered)
    )
    assert await rows_read(connection, PROCESS_INSTANCES, SearchQuery(filter, limit=10), "found") <= 40
    found = [page async for page in pages(connection, SearchQuery(filter, limit=70))]
    assert len({key for page in found for key in page}) == sum(map(len, found[:-1])) >= 297


@pytest.mark.parametrize("filter", [{}, {"processDefinitionId": "big"}])
async def test_a_page_without_a_total_reads_only_its_rows(connection, filter):
    query = SearchQuery(filter, limit=10, counts=False)
    counting = SearchQuery(filter, limit=10)
    assert await rows_read(connection, PROCESS_INSTANCES, query) < await rows_read(
        connection, PROCESS_INSTANCES, counting
    )
    page = await run(connection, prepare(PROCESS_INSTANCES, query))
    counted = await run(connection, prepare(PROCESS_INSTANCES, counting))
    assert (page.items, page.total, page.more) == (counted.items, 0, False)


@pytest.mark.parametrize("filter", [{}, {"startDate": {"$exists": True}}, {"startDate": "1970-01-01T00:50:00Z"}])
def test_other_searches_are_in_the_order_of_the_keys(filter):
    text, _ = statement(PROCESS_INSTANCES, SearchQuery(filter))
    assert "ORDER BY p.process_instance_key ASC LIMIT" in text


@pytest.mark.parametrize("descending", [False, True])
async def test_a_search_that_finds_rows_without_a_value_apart_gives_the_same_pages(connection, descending):
    field = PROCESS_INSTANCES.by_name["endDate"]
    plain = replace(field, apart=frozenset())
    filter = {"processInstanceKey": {"$in": [str(k * 10) for k in (*range(2, 12), 100, 200, 300)]}}
    apart, together = [], []
    for chosen, found in ((field, apart), (plain, together)):
        query = SearchQuery(filter, (Sort(chosen, descending),), limit=7)
        found += [page async for page in pages(connection, query)]
        found += [page async for page in pages(connection, replace_query(query, offset=5, limit=3), most=1)]
    assert apart == together
    assert len({key for page in apart for key in page}) == 13


NO_BITMAPS = "SET enable_bitmapscan = off"
"""In a large table PostgreSQL reads the index on values in its order, and stops at the limit."""
SHARED = {
    "alone": {"variables": [{"name": "parity", "value": "1"}]},
    "with others": {"variables": [{"name": "parity", "value": {"$eq": "1"}}], "processDefinitionId": "big"},
    "of one": {"variables": [{"name": "x", "value": "70"}], "state": "COMPLETED"},
    "of none": {"variables": [{"name": "x", "value": "71"}]},
    "with few others": {"variables": [{"name": "parity", "value": "1"}], "processDefinitionId": {"$in": ["p7", "p8"]}},
    "with one of two": {
        "variables": [{"name": "parity", "value": "1"}],
        "$or": [{"processDefinitionId": "p7"}, {"businessId": "b9"}, {"state": "ACTIVE"}],
    },
    "with few that run": {"variables": [{"name": "parity", "value": "0"}], "state": "ACTIVE"},
}


@pytest.mark.long
@pytest.mark.parametrize("name", SHARED)
async def test_a_search_by_a_value_that_instances_share_gives_the_same_pages(connection, monkeypatch, name):
    """2,000 share it: few of them, or many. 40 run: few of these, or one too many. Without `variables` there is one
    way to search, whatever counts as few."""
    by_value = showing(PROCESS_INSTANCES, "processInstanceKey")
    plain = replace(by_value, variables=None)
    sorts = [(), *((Sort(PROCESS_INSTANCES.by_name[field], True),) for field in ("startDate", "endDate", "businessId"))]

    async def found(resource, sort):
        query = SearchQuery(SHARED[name], sort, limit=700)
        return (
            [page async for page in pages(connection, query, resource=resource)],
            [page async for page in pages(connection, replace_query(query, offset=5, limit=3), 1, resource)],
            (await run(connection, prepare(resource, query))).total,
        )

    expected = [await found(plain, sort) for sort in sorts]
    for few in (5_000, 1_000, 40, 39):
        monkeypatch.setattr("vivero.storage.search.pages.FEW", few)
        if few == 1_000:  # and from there on
            monkeypatch.setattr("vivero.storage.search.pages.MAX_TOTAL", 1_500)
            monkeypatch.setattr("vivero.storage.search.pages.SPARE", 100)
            expected = [
                (found_pages, at_offset, (await run(connection, prepare(plain, SearchQuery(SHARED[name], sort)))).total)
                for (found_pages, at_offset, _), sort in zip(expected, sorts, strict=True)
            ]
        assert [await found(by_value, sort) for sort in sorts] == expected, f"{few} are few"


@pytest.mark.parametrize(("name", "most"), [("alone", 5_000), ("with others", 8_000), ("of one", 20), ("of none", 20)])
async def test_a_search_by_a_value_that_few_share_reads_their_instances(connection, name, most):
    assert await rows_read(connection, PROCESS_INSTANCES, SearchQuery(SHARED[name], limit=10)) <= most


async def test_conditions_of_the_caller_count_like_others(connection, monkeypatch):
    """A caller that may read few processes sees the same pages, too."""
    monkeypatch.setattr("vivero.storage.search.pages.FEW", 100)
    plain = replace(PROCESS_INSTANCES, variables=None)
    query = SearchQuery(SHARED["alone"], (Sort(PROCESS_INSTANCES.by_name["startDate"], True),), limit=7)
    for allowed in (["p7", "p8"], ["big"], []):
        found = [
            await run(connection, prepare(resource, query, (OF_PROCESSES, allowed)))
            for resource in (PROCESS_INSTANCES, plain)
        ]
        assert found[0] == found[1]
    text, values = statement(PROCESS_INSTANCES, query, (OF_PROCESSES, ["p7", "p8"]))
    await connection.script(NO_BITMAPS)
    assert await rows_of(connection, text, values) <= 300


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", ["with few others", "with few that run"])
async def test_a_value_that_many_share_is_found_by_what_few_have(connection, monkeypatch, name, descending):
    """More share the value than are read. Few of all instances fit the rest, wherever they are in the order."""
    monkeypatch.setattr("vivero.storage.search.pages.FEW", 300)
    await connection.script(NO_BITMAPS)
    sort = (Sort(PROCESS_INSTANCES.by_name["startDate"], descending),)
    for order in ((), sort):
        reads = await rows_read(connection, PROCESS_INSTANCES, SearchQuery(SHARED[name], order, limit=10))
        assert reads <= 800, "301 rows of the value, and the few others with their variables"


@pytest.mark.parametrize(
    "filter", [{"state": "SUSPENDED"}, {"suspendedDate": {"$exists": True}}], ids=["state", "date"]
)
async def test_suspended_instances_are_found_among_many_that_run(connection, filter):
    await connection.script(
        "BEGIN; UPDATE process_instances SET ended_at = NULL, state = 'ACTIVATED',"
        " suspended_at = CASE WHEN process_instance_key % 5000 = 0 THEN now() END"
    )  # until its end
    for sort in ((), (Sort(PROCESS_INSTANCES.by_name["suspendedDate"], True),)):
        query = SearchQuery(filter, sort, limit=10)
        found = [page async for page in pages(connection, query, most=1)]
        assert [len(page) for page in found] == [8]
        assert await rows_read(connection, PROCESS_INSTANCES, query) <= 100


@pytest.mark.long
@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.usefixtures("separated")
async def test_late_instances_are_found_among_many_that_run(connection, restricted):
    """All run since now. Seven began long ago in a version with a usual duration, and a model has a past due date."""
    await connection.script("""
        BEGIN;
        UPDATE process_instances SET ended_at = NULL, state = 'ACTIVATED',
            started_at = CASE WHEN process_instance_key % 5000 = 0 THEN started_at ELSE now() END,
            due_at = now() + interval '1 day' * CASE process_instance_key WHEN 5000 THEN 1 WHEN 70 THEN -1 END;
        INSERT INTO usual_durations SELECT 1000 + d, 3600000, now() FROM generate_series(0, 99) d;
        ANALYZE process_instances, usual_durations""")  # until its end
    if restricted:
        await connection.script(f"SET LOCAL ROLE {row_security.READER}; SET LOCAL vivero.tenants = '{{<default>}}'")
    late = sorted(map(str, [70, *range(10_000, 40_001, 5_000)]))
    for sort in ((), (Sort(PROCESS_INSTANCES.by_name["startDate"], True),)):
        query = SearchQuery({"isLate": True}, sort, limit=10)
        found = [page async for page in pages(connection, query, most=1)]
        assert sorted(found[0]) == late
        *small, back = [page async for page in pages(connection, replace_query(query, limit=3))]
        assert ([key for page in small for key in page], back) == (found[0], small[-2])
        assert await rows_read(connection, PROCESS_INSTANCES, query, "found") <= 500
    all, not_late, found = [
        await keys(connection, PROCESS_INSTANCES, filter) for filter in ({}, {"isLate": False}, {"isLate": True})
    ]
    assert (sorted([*not_late, *found]), len(found)) == (sorted(all), len(late))


SINCE, UNTIL = "1970-01-01T00:30:00Z", "1970-01-01T00:35:00Z"


RANGES_OF_STARTS = ({"$gte": SINCE, "$lt": UNTIL}, {"$gt": SINCE, "$lte": UNTIL}, {"$lt": UNTIL})


@pytest.mark.long
@pytest.mark.parametrize("state", [None, "completed", "ACTIVE", {"$neq": "ACTIVE"}])
async def test_a_range_of_starts_by_the_end_gives_the_same_pages(connection, state):
    """Some ran for an hour, some ended before they began, some are active."""
    field = PROCESS_INSTANCES.by_name["endDate"]
    plain = replace(field, follows=None)
    await connection.script(
        "BEGIN; UPDATE process_instances SET ended_at = ended_at + CASE process_instance_key % 70"
        " WHEN 0 THEN interval '1 hour' WHEN 10 THEN interval '1 minute' WHEN 20 THEN interval '-1 hour' ELSE '0' END"
        " WHERE process_instance_key BETWEEN 17000 AND 22000"
    )
    resource = showing(PROCESS_INSTANCES, "processInstanceKey")
    for range, descending in itertools.product(RANGES_OF_STARTS, (False, True)):
        filter = {"startDate": range} | ({} if state is None else {"state": state})
        found = []
        for chosen in (field, plain):
            query = SearchQuery(filter, (Sort(chosen, descending),), limit=70)
            found.append([page async for page in pages(connection, query, 6, resource)])
            found[-1] += [
                page async for page in pages(connection, replace_query(query, offset=5, limit=3), 1, resource)
            ]
        assert found[0] == found[1], (filter, descending)
        assert found[0], (filter, descending)


async def test_a_range_of_starts_is_read_by_the_end_from_where_it_ends(connection):
    filter = {"startDate": {"$gte": SINCE, "$lt": "1970-01-01T01:00:00Z"}, "state": "COMPLETED"}
    query = SearchQuery(filter, (Sort(PROCESS_INSTANCES.by_name["endDate"], True),), limit=10)
    assert await rows_read(connection, PROCESS_INSTANCES, query, "found") <= 150


def showing(resource, *names):
    """The resource with items of these fields alone: PostgreSQL makes thousands of them sooner, and finds the same."""
    return replace(resource, fields=tuple(replace(field, shown=field.name in names) for field in resource.fields))


def replace_query(query, **changes):
    return msgspec.structs.replace(query, **changes)


async def pages(connection, query, most=100, resource=PROCESS_INSTANCES):
    """The keys of the pages, forward to the end and one page back."""
    page = None
    for _ in range(most):
        found = await run(connection, prepare(resource, query))
        if not found.items:
            break
        page = found
        yield [msgspec.json.decode(item)["processInstanceKey"] for item in found.items]
        query = replace_query(query, after=found.end, offset=0)
    if page is not None and most > 1:
        found = await run(connection, prepare(resource, replace_query(query, after=None, before=page.start)))
        yield [msgspec.json.decode(item)["processInstanceKey"] for item in found.items]


BATCHES = {
    "startDate": (DELETE_PROCESS_INSTANCE, "process-instances"),
    "endDate": (DELETE_PROCESS_INSTANCE, "process-instances"),
    "creationTime": (RESOLVE_INCIDENT, "incidents"),
}


@pytest.mark.parametrize("field", BATCHES)
async def test_a_batch_operation_finds_a_range_of_time_by_its_index(connection, field):
    filter = {field: {"$gte": "1970-01-01T00:30:00Z", "$lt": "1970-01-01T00:55:00Z"}}
    await connection.script("BEGIN; UPDATE process_instances SET parent_process_instance_key = NULL")  # until its end
    found, after, at = [], 0, None
    while True:
        limits = PortionLimits(CallerBounds(), datetime(2030, 1, 1, tzinfo=UTC), after, 100, at)
        text, values = candidates.statement(*BATCHES[field], filter, limits)
        assert await rows_of(connection, text, values) <= MAX_ROWS_PER_POSITION
        rows = (await connection.execute(text, values)).rows
        found += rows
        if len(rows) < 100:
            break
        after, at = rows[-1][0], rows[-1][-1]
    resource = INCIDENTS if field == "creationTime" else PROCESS_INSTANCES
    own = {"state": "ACTIVE"} if field == "creationTime" else {"state": {"$neq": "ACTIVE"}}
    every = [int(msgspec.json.decode(cursor)[-1]) for cursor in await keys(connection, resource, filter | own)]
    assert [key for key, *_ in found] == every
    assert len(every) >= 15


@pytest.mark.parametrize(("definition", "names", "instances"), [(1007, ["parity", "x"], 10), (1, [], 0)])
async def test_names_of_variables_are_read_by_instance(connection, definition, names, instances):
    """The query reads those of one definition among many, and the newest thousand if it has more."""
    await connection.script("BEGIN; UPDATE partitions SET id = 0 WHERE id = 1")  # that of the keys, until its end
    prepared = prepare_groups(VARIABLE_NAMES, SearchQuery({}, limit=10), (NEWEST, definition))
    found = await run(connection, prepared)
    assert [msgspec.json.decode(item)["name"] for item in found.items] == names
    assert await rows_of(connection, prepared.text, prepared.values) <= 20 * (instances + 1)


async def test_the_use_of_a_time_is_read_by_its_indexes(connection):
    start, end = (datetime.fromtimestamp(second, UTC) for second in (1000, 1009))
    total, _ = await usage_metrics.usage(connection, start, end, None)
    assert total["processInstances"] == 10
    text = beside(usage_metrics.__file__)["usage_metrics"].text
    assert await rows_of(connection, text, (start, end, None)) <= 40


@pytest.fixture
async def counted(connection):
    """A million ended instances as their counts: of 20 versions, in each quarter of an hour of 62 days."""
    await connection.execute("BEGIN")
    await connection.execute("""
        INSERT INTO instance_counts
        SELECT '2026-01-01Z'::timestamptz + n * interval '15 minutes', 1000 + d, 1, 8, 8, 0, 0
        FROM generate_series(0, 62 * 96 - 1) n, generate_series(0, 19) d""")
    await connection.execute("""
        INSERT INTO instance_durations
        SELECT '2026-01-01Z'::timestamptz + n * interval '1 day', 1000 + d, b, 1, 20
        FROM generate_series(0, 61) n, generate_series(0, 19) d, generate_series(20, 59) b""")
    await connection.execute("ANALYZE instance_counts, instance_durations")
    yield connection
    await connection.execute("ROLLBACK")


async def test_figures_over_time_read_their_counts_only(counted):
    """They read a row for each quarter of an hour and version, or those of the versions, and no instances."""
    begins = datetime(2026, 1, 3, tzinfo=UTC)
    text = beside(instances_by_day.__file__)["instances_by_day"].text
    found = await instances_by_day.by_day(counted, begins, 2, ["big"])
    assert [day.completed for day in found] == [96 * 8, 96 * 8]
    assert await rows_of(counted, text, [begins, 2, ["big"]]) <= 2 * 96 * 20 + 200
    ((version,),) = [await cycle_times.of_versions(counted, 1000, begins, 3)]
    assert version.in_all.completed == 3 * 40 * 20
    text = beside(cycle_times.__file__)["cycle_times"].text
    assert await rows_of(counted, text, [1000, begins, 3, 20]) <= 3 * 40 + 200


@pytest.mark.parametrize("metric", alert_rules.METRICS)
async def test_the_figure_of_an_alert_rule_reads_what_is_live(connection, metric):
    """One of a hundred instances runs. Of others none does: nobody looks for it among all that have ended."""
    text = load(Path(alert_rules.__file__).with_suffix(".sql"))[metric.lower()].text
    for tenant, process in (("<default>", "big"), ("<default>", "p7"), ("none", "")):
        assert await rows_of(connection, text, [tenant, process, alert_rules.MOST_COUNTED]) <= 200


async def rows_read(connection, resource, query, part="everything", tenants=None):
    """The number of rows that tables and indexes gave, including those that a filter removed."""
    text, values = statement(resource, query, tenants=tenants)
    if part == "found":  # the total of everything is another matter: it counts to 10,000
        text = text.replace("LIMIT 10001", "LIMIT 1")
    return await rows_of(connection, text, values)


async def rows_of(connection, text, values):
    """The number of rows that tables and indexes gave for a statement."""
    (plan,) = (await connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", values)).rows
    return sum(map(_rows_of, _scans(msgspec.json.decode(plan[0])[0]["Plan"])))


def _scans(node):
    if "Scan" in node["Node Type"] and node["Node Type"] not in ("Bitmap Heap Scan", "Subquery Scan", "CTE Scan"):
        yield node
    for child in node.get("Plans", ()):
        yield from _scans(child)


def _rows_of(node):
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return (node["Actual Rows"] + removed) * node["Actual Loops"]


@pytest.mark.long
@pytest.mark.parametrize("name", IMPLIED)
async def test_what_follows_from_a_value_changes_no_answer(connection, name):
    resource, field = IMPLIED[name]
    fields = tuple(replace(one, implied=None) if one is field else one for one in resource.fields)
    plain = replace(resource, fields=fields)
    values = VALUES[field.name]
    filters: list[dict[str, Any]] = [{field.name: value} for value in values]
    if "$in" in field.operators:
        filters += [{field.name: {"$in": list(values)}}, {field.name: {"$notIn": list(values[:1])}}]
        filters += [{field.name: {"$neq": values[0]}}]
    found = [await keys(connection, resource, filter) for filter in filters]
    assert found == [await keys(connection, plain, filter) for filter in filters]
    assert any(found)
    assert found[len(values) - 1] == [], "nothing has the last value"


async def keys(connection, resource, filter):
    text, values = statement(showing(resource), SearchQuery(filter, limit=10_000))
    return [row[2] for row in (await connection.execute(text, values)).rows if row[1] is not None]
