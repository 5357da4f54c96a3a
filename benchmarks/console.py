"""Requests of the console to a server with 100,000 instances: its pages, and each list with each filter and sort.

The figures are medians over HTTP, in ms. Those of a page are for all its requests, one after another.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import trio

from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

INSTANCES = 100_000
ROUNDS = 5
FILLING = Path(__file__).with_suffix(".sql")
ORDER = Path(__file__).parents[1] / "examples" / "order" / "order.bpmn"


class Request(NamedTuple):
    """`body` is None for GET."""

    path: str
    body: Mapping[str, Any] | None


def _search(resource: str, filter: Mapping[str, Any], sort: str | None = None, limit: int = 50) -> Request:
    """`sort`: fields, descending with `-` before them."""
    body: dict[str, Any] = {"filter": filter, "page": {"limit": limit}}
    if sort is not None:
        orders = {True: "DESC", False: "ASC"}
        body["sort"] = [{"field": one.removeprefix("-"), "order": orders[one[0] == "-"]} for one in sort.split(",")]
    return Request(f"/v2/{resource}/search", body)


STATES: Mapping[str, Mapping[str, Any]] = {
    "active": {"state": "ACTIVE"},
    "incidents": {"state": "ACTIVE", "hasIncident": True},
    "completed": {"state": "COMPLETED"},
    "terminated": {"state": "TERMINATED"},
    "all": {},
}
FILTERS: Mapping[str, Mapping[str, Any]] = {
    "business_id": {"businessId": "order-70000"},
    "business_prefix": {"businessId": {"$like": "order-7000*"}},
    "business_inside": {"businessId": {"$like": "*-7000*"}},
    "process": {"processDefinitionId": "order"},
    "version": {"processDefinitionId": "order", "processDefinitionVersion": 1},
    "variable": {"variables": [{"name": "orderId", "value": '"id-70000"'}]},
    "frequent_variable": {"variables": [{"name": "amount", "value": "17"}]},
    "variable_exists": {"variables": [{"name": "orderId", "value": {"$exists": True}}]},
    "no_such_variable": {"variables": [{"name": "nothing", "value": {"$exists": True}}]},
    "element": {"elementId": "charge-card", "elementInstanceState": "ACTIVE"},
    "no_such_element": {"elementId": "nothing", "elementInstanceState": "ACTIVE"},
    "tag": {"tags": ["region-20"]},
    "error": {"errorMessage": {"$like": "*region 17 *"}},
    "late": {"isLate": True},
    "started": {"startDate": {"$gte": "2020-01-01T00:00:00Z", "$lt": "2020-02-01T00:00:00Z"}},
}
SORTS = ("-startDate", "startDate", "-endDate", "endDate")

TASK_VIEWS: Mapping[str, Mapping[str, Any]] = {
    "open": {"state": "CREATED"},
    "mine": {"state": "CREATED", "assignee": "user-20"},
    "unassigned": {"state": "CREATED", "assignee": {"$exists": False}},
    "done": {"state": "COMPLETED"},
}
JOB_STATES: Mapping[str, Mapping[str, Any]] = {
    "waiting": {"state": "CREATED", "deadline": {"$exists": False}},
    "leased": {"state": "CREATED", "deadline": {"$exists": True}},
    "failed": {"state": "FAILED"},
    "completed": {"state": "COMPLETED"},
    "all": {},
}
JOB_FILTERS: Mapping[str, Mapping[str, Any]] = {
    "of_type": {"type": "charge-card-7"},
    "of_worker": {"worker": "worker-3"},
    "of_process": {"processDefinitionId": "order"},
}


def _lists() -> Iterator[tuple[str, Request]]:
    for state, filter in STATES.items():
        for sort in SORTS if state in ("completed", "terminated") else SORTS[:2]:
            name = sort.replace("-", "last_") if sort.startswith("-") else f"first_{sort}"
            yield f"instances_{state}_{name}", _search("process-instances", filter, sort)
    for name, filter in FILTERS.items():
        for state in ("active", "all"):
            yield f"instances_{name}_{state}", _search("process-instances", {**STATES[state], **filter}, "-startDate")
    for view, filter in TASK_VIEWS.items():
        yield f"tasks_{view}", _search("user-tasks", filter, "-priority,creationDate")
    for state, filter in JOB_STATES.items():
        for sort in ("-jobKey",) if state in ("completed", "all") else ("-jobKey", "-type", "-retries", "-deadline"):
            yield f"jobs_{state}_by_{sort[1:]}", _search("jobs", filter, sort)
        for name, more in JOB_FILTERS.items():
            yield f"jobs_{state}_{name}", _search("jobs", {**filter, **more}, "-jobKey")
    for state in ("PENDING", "CANCELED", "all"):
        filter = {} if state == "all" else {"state": state}
        yield f"timers_{state}".lower(), _search("timers", filter, "dueDate")
        yield f"timers_{state}_element".lower(), _search("timers", {**filter, "elementId": "late"}, "dueDate")
    for sort in ("-lastUpdatedDate", "messageName"):
        yield f"messages_by_{sort}", _search("message-subscriptions", {"messageSubscriptionState": "CREATED"}, sort)


def _pages(definition: str, instance: str, element: str) -> Mapping[str, tuple[Request, ...]]:
    of = {"processInstanceKey": instance}
    path, process = f"/v2/process-instances/{instance}", f"/v2/process-definitions/{definition}"
    return {
        "instance_page": (
            Request(path, None),
            Request(f"{path}/statistics/element-instances", None),
            Request(f"{path}/sequence-flows", None),
            Request(f"{path}/call-hierarchy", None),
            Request(f"{path}/incidents/search", {"filter": {"state": "ACTIVE"}, "page": {"limit": 100}}),
            _search("variables", of, "name", 500),
            _search("jobs", of, "-jobKey", 100),
        ),
        "element_of_instance": (
            _search("element-instances", {**of, "elementId": element}, "-startDate", 20),
            _search("timers", {**of, "state": "PENDING"}, None, 20),
            _search("message-subscriptions", {**of, "messageSubscriptionState": "CREATED"}, None, 20),
            _search("user-tasks", {**of, "state": "CREATED"}, None, 20),
        ),
        "process_page": (
            Request(f"{process}/statistics/element-instances", {}),
            Request(f"{process}/statistics/element-durations", None),
            Request(
                "/v2/process-definitions/statistics/process-instances-by-version",
                {"filter": {"processDefinitionId": "order"}},
            ),
        ),
        "processes_page": (
            _search("process-definitions", {"isLatestVersion": True}, "name", 100),
            Request("/v2/process-definitions/statistics/process-instances", {}),
        ),
        "incidents_page": (
            Request("/v2/incidents/statistics/process-instances-by-error", {"page": {"limit": 50}}),
        ),
    }  # fmt: skip


def filling(instances: int) -> str:
    """SQL that puts instances of the deployed process `order` into a database."""
    return f"SET vivero.instances = {instances};\n" + FILLING.read_text(encoding="utf-8")


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Milliseconds of requests."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        with program(dsn, {"order.bpmn": ORDER.read_bytes()}) as (port, _):
            connection = await driver.connect(dsn, name="benchmark", call_timeout_s=120.0)
            await connection.script(filling(INSTANCES))
            connection.close()
            return await trio.to_thread.run_sync(_measure, port), notes | {"instances": f"{INSTANCES:,}"}


def _measure(port: int) -> dict[str, float]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        newest = _ask(client, _search("process-instances", STATES["incidents"], "-startDate", 1)).json()["items"][0]
        pages = _pages(newest["processDefinitionKey"], newest["processInstanceKey"], "charge-card")
        requests = {**{name: (request,) for name, request in _lists()}, **pages}
        return {f"{name}_ms": _median(client, each) for name, each in requests.items()}


def _median(client: httpx.Client, requests: tuple[Request, ...]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for request in requests:
            _ask(client, request)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def _ask(client: httpx.Client, request: Request) -> httpx.Response:
    answer = client.get(request.path) if request.body is None else client.post(request.path, json=request.body)
    if answer.is_error:
        raise RuntimeError(f"{request.path}: {answer.text}")
    return answer
