"""Statistics of jobs, over rows of the database."""

from urllib.parse import urlencode

import pytest

from tests.api.official import decode
from tests.api.rows import KEY, NOW

TIME = {"from": "2026-11-18T11:00:00Z", "to": "2026-11-18T12:00:00Z"}


@pytest.fixture
def data(rows):
    """Jobs of the types `pay` and `ship` in three periods, some of them not added up yet."""
    put = "INSERT INTO job_counts VALUES (%s, '<default>', %s, %s, %s, %s, %s, %s)"
    for minute, type, status, worker, partition, jobs in [
        *[
            ("05", "pay", "CREATED", "", 1, 10),
            ("05", "pay", "CREATED", "", 2, 5),
            ("05", "pay", "COMPLETED", "a", 1, 4),
        ],
        *[
            ("10", "pay", "FAILED", "b", 1, 2),
            ("10", "pay", "COMPLETED", "b", 1, 3),
            ("40", "pay", "COMPLETED", "a", 1, 1),
        ],
        *[("05", "ship", "CREATED", "", 1, 7)],
    ]:
        at = f"2026-11-18T11:{minute}"
        rows.execute(put, (f"{at}:00Z", type, status, worker, partition, jobs, f"{at}:30Z"))
    rows.execute(put, ("2026-11-18T10:55:00Z", "pay", "CREATED", "", 1, 100, "2026-11-18T10:57:00Z"))
    rows.execute(put, ("2026-11-18T12:00:00Z", "pay", "CREATED", "", 1, 100, "2026-11-18T12:00:00Z"))
    change = "INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at) VALUES"
    rows.execute(f"{change} (1, '<default>', 'pay', 'a', 'COMPLETED', 2, '2026-11-18T11:42:10Z')")
    return rows


def metric(count, last_at=None):
    return {"count": count, "lastUpdatedAt": last_at and f"2026-11-18T11:{last_at}.000Z"}


async def found(reader, path, **filter):
    answer = await reader("POST", f"/v2/jobs/statistics/{path}", {"filter": TIME | filter})
    assert answer.status == 200, answer.body
    return answer.json


async def test_all_jobs(data, reader):
    answer = await reader("GET", f"/v2/jobs/statistics/global?{urlencode(TIME)}")
    assert answer.json == {
        "created": metric(22, "05:30"),
        "completed": metric(10, "42:10"),
        "failed": metric(2, "10:30"),
        "isIncomplete": False,
    }
    decode("GlobalJobStatisticsQueryResult", answer.json)
    one = await reader("GET", f"/v2/jobs/statistics/global?{urlencode(TIME | {'jobType': 'ship'})}")
    assert one.json == {
        "created": metric(7, "05:30"),
        "completed": metric(0),
        "failed": metric(0),
        "isIncomplete": False,
    }


async def test_by_types(data, reader):
    document = await found(reader, "by-types")
    pay = {"created": metric(15, "05:30"), "completed": metric(10, "42:10"), "failed": metric(2, "10:30")}
    ship = {"created": metric(7, "05:30"), "completed": metric(0), "failed": metric(0)}
    assert document["items"] == [{"jobType": "pay", **pay, "workers": 2}, {"jobType": "ship", **ship, "workers": 0}]
    assert len(decode("JobTypeStatisticsQueryResult", document).items) == 2
    assert [item["jobType"] for item in (await found(reader, "by-types", jobType={"$like": "s*"}))["items"]] == ["ship"]
    page = {"limit": 1}
    first = (await reader("POST", "/v2/jobs/statistics/by-types", {"filter": TIME, "page": page})).json
    page["after"] = first["page"]["endCursor"]
    second = (await reader("POST", "/v2/jobs/statistics/by-types", {"filter": TIME, "page": page})).json
    assert [item["jobType"] for item in first["items"] + second["items"]] == ["pay", "ship"]


async def test_by_workers(data, reader):
    document = await found(reader, "by-workers", jobType="pay")
    assert [(item["worker"], item["completed"]["count"], item["failed"]["count"]) for item in document["items"]] == [
        ("a", 7, 0),
        ("b", 3, 2),
    ]
    assert len(decode("JobWorkerStatisticsQueryResult", document).items) == 2


async def test_time_series(data, reader):
    document = await found(reader, "time-series", jobType="pay", resolution="PT15M")
    counts = [(item["time"], item["created"]["count"], item["completed"]["count"]) for item in document["items"]]
    assert counts == [("2026-11-18T11:00:00.000Z", 15, 7), ("2026-11-18T11:30:00.000Z", 0, 3)]
    assert len(decode("JobTimeSeriesStatisticsQueryResult", document).items) == 2
    document = await found(reader, "time-series", jobType="pay")
    assert [item["time"][11:16] for item in document["items"]] == ["11:05", "11:10", "11:40"]


async def test_errors(rows, reader):
    for number, (type, code, message, worker, at) in enumerate(
        [
            *[("pay", None, "boom", "a", NOW), ("pay", None, "boom", "b", NOW), ("pay", "CARD", "expired", "a", NOW)],
            *[
                ("pay", None, None, "c", NOW),
                ("ship", None, "boom", "c", NOW),
                ("pay", None, "boom", "d", "2025-01-01Z"),
            ],
        ]
    ):
        error = {"error_code": code, "error_message": message}
        rows.job(KEY + number, type=type, worker=worker, updated_at=at, **error)
    document = await found(reader, "errors", jobType="pay")
    assert document["items"] == [
        {"errorCode": "", "errorMessage": "boom", "workers": 2},
        {"errorCode": "CARD", "errorMessage": "expired", "workers": 1},
    ]
    assert len(decode("JobErrorStatisticsQueryResult", document).items) == 2
    of_code = await found(reader, "errors", jobType="pay", errorCode="CARD")
    assert [item["errorMessage"] for item in of_code["items"]] == ["expired"]


@pytest.mark.parametrize(
    ("path", "filter", "detail"),
    [
        ("by-types", {"to": TIME["to"]}, "No filter.from provided."),
        ("by-workers", TIME, "No filter.jobType provided."),
        ("errors", {}, "No filter.from provided. No filter.to provided. No filter.jobType provided."),
        ("by-types", TIME | {"from": "yesterday"}, "[filter.from] cannot be parsed"),
        ("time-series", TIME | {"jobType": "pay", "to": 7}, "[filter.to] cannot be parsed"),
        ("time-series", TIME | {"jobType": "pay", "resolution": "often"}, "[filter.resolution] cannot be parsed"),
        ("time-series", TIME | {"jobType": "pay", "resolution": 5}, "[filter.resolution] cannot be parsed"),
        ("time-series", TIME | {"jobType": "pay", "resolution": "P1M"}, "filter.resolution must be a positive"),
        ("by-types", TIME | {"worker": "a"}, "[filter.worker] cannot be parsed"),
    ],
)
@pytest.mark.harmless
async def test_requests_that_cannot_be_answered(reader, path, filter, detail):
    answer = await reader("POST", f"/v2/jobs/statistics/{path}", {"filter": filter})
    assert answer.status == 400
    assert detail in answer.problem["detail"]


async def test_a_time_is_needed(reader):
    answer = await reader("GET", "/v2/jobs/statistics/global?to=2026-11-18T11:00:00Z")
    assert (answer.status, answer.problem["detail"]) == (400, "No from provided.")
