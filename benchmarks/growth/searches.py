"""Searches on a server with very many ended instances: milliseconds over HTTP, each time with other values."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import httpx

from benchmarks.growth import varieties
from benchmarks.http_client import quantiles

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WARM = 3
LONGEST_S = 10.0
"""For the requests of one kind."""
TOO_LATE = 504
"""The status of a search that the database does not answer in time: it counts with the time that it took."""


class Filled(NamedTuple):
    """The content of the database, and the values that choose among it."""

    instances: int
    """Instances with the numbers below."""
    began: datetime
    """The copies began in the `span` before."""
    span: timedelta
    chosen: random.Random

    def number(self) -> int:
        """The number of any instance."""
        return self.chosen.randrange(self.instances)

    def moment(self) -> datetime:
        """Any time at which instances began."""
        return self.began - self.span * self.chosen.uniform(0.05, 0.95)


Body = Callable[[Filled], Mapping[str, Any]]


def _between(field: str, width: timedelta) -> Body:
    def between(filled: Filled) -> Mapping[str, Any]:
        first = filled.moment()
        return {field: {"$gte": first.isoformat(), "$lt": (first + width).isoformat()}}

    return between


def _variable(name: str, value: Callable[[int], str]) -> Body:
    return lambda filled: {"variables": [{"name": name, "value": value(filled.number())}]}


def _both(*bodies: Body) -> Body:
    return lambda filled: {field: value for body in bodies for field, value in body(filled).items()}


def _of(**filter: Any) -> Body:
    return lambda _: filter


MOST, OTHER, RARE = (_of(processDefinitionId=id) for id in (varieties.MOST, varieties.OTHER, varieties.RARE))
ENDED = _of(state="COMPLETED")
ORDER = _variable("orderId", lambda number: f'"{varieties.order_of(number)}"')
AMOUNT = _variable("amount", lambda number: str(varieties.amount_of(number)))
EXPRESS = _variable("express", lambda number: "true" if number % 2 else "false")

INSTANCES: Mapping[str, tuple[Body, str]] = {
    "all": (_of(), "-startDate"),
    "active": (_of(state="ACTIVE"), "-startDate"),
    "completed": (ENDED, "-startDate"),
    "completed_by_end": (ENDED, "-endDate"),
    "terminated": (_of(state="TERMINATED"), "-startDate"),
    "terminated_by_end": (_of(state="TERMINATED"), "-endDate"),
    "process": (MOST, ""),
    "process_by_start": (MOST, "-startDate"),
    "process_by_end": (MOST, "-endDate"),
    "process_completed": (_both(MOST, ENDED), "-startDate"),
    "process_active": (_both(MOST, _of(state="ACTIVE")), "-startDate"),
    "process_terminated": (_both(MOST, _of(state="TERMINATED")), "-startDate"),
    "other_process_by_start": (OTHER, "-startDate"),
    "other_process_completed_by_end": (_both(OTHER, ENDED), "-endDate"),
    "rare_process": (RARE, ""),
    "rare_process_by_start": (RARE, "-startDate"),
    "rare_process_completed": (_both(RARE, ENDED), "-startDate"),
    "rare_process_by_end": (RARE, "-endDate"),
    "hour": (_between("startDate", HOUR), "-startDate"),
    "hour_by_key": (_between("startDate", HOUR), ""),
    "ended_in_hour": (_between("endDate", HOUR), "-endDate"),
    "day": (_between("startDate", DAY), "-startDate"),
    "day_completed": (_both(_between("startDate", DAY), ENDED), "-endDate"),
    "hour_of_process": (_both(MOST, _between("startDate", HOUR)), "-startDate"),
    "day_of_process": (_both(MOST, _between("startDate", DAY)), "-startDate"),
    "day_of_rare_process": (_both(RARE, _between("startDate", DAY)), "-startDate"),
    "business_id": (lambda filled: {"businessId": varieties.business_id_of(filled.number())}, "-startDate"),
    "business_prefix": (
        lambda filled: {"businessId": {"$like": f"{varieties.business_id_of(filled.number())[:-2]}*"}},
        "-startDate",
    ),
    "variable": (ORDER, "-startDate"),
    "variable_completed": (_both(ORDER, ENDED), "-startDate"),
    "variable_of_process": (_both(ORDER, MOST), "-startDate"),
    "frequent_variable": (AMOUNT, "-startDate"),
    "frequent_variable_of_process": (_both(AMOUNT, MOST), "-startDate"),
    "variable_of_half": (EXPRESS, "-startDate"),
}
OTHERS: Mapping[str, tuple[str, Body, str]] = {
    "variables_by_value": (
        "variables",
        lambda filled: {"name": "orderId", "value": f'"{varieties.order_of(filled.number())}"'},
        "",
    ),
    "variables_by_name": ("variables", _of(name="amount"), ""),
    "jobs": ("jobs", _of(), "-jobKey"),
    "jobs_completed": ("jobs", ENDED, "-jobKey"),
    "jobs_of_process": ("jobs", MOST, "-jobKey"),
    "jobs_of_rare_process": ("jobs", RARE, "-jobKey"),
    "elements_of_process": ("element-instances", MOST, ""),
    "elements_by_id": ("element-instances", _of(elementId="work"), ""),
    "elements_of_rare_process": ("element-instances", _both(RARE, _of(elementId="work")), ""),
    "audit_log": ("audit-logs", _of(), "-timestamp"),
}


ActivationRequest = Callable[[httpx.Client, Filled], float]
"""Asks once: seconds until the answer."""


def measure(port: int, filled: Filled, rounds: int, used_s: Callable[[], float], only: str = "") -> dict[str, float]:
    """Medians and 99th percentiles of each kind of request whose name contains `only`, and CPU time of program and
    PostgreSQL: the latter hardly depends on what else the machine does."""
    figures: dict[str, float] = {}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/v2", timeout=120) as client:
        for name, ask in _asks().items():
            if only in name:
                for _ in range(WARM):
                    ask(client, filled)
                before = used_s()
                times = list(_answers(lambda a=ask: a(client, filled), rounds))  # type: ignore[misc]
                figures |= quantiles(name, times) | {f"{name}_cpu_ms": 1000 * (used_s() - before) / len(times)}
                said = (f"{figures[f'{name}_{of}_ms']:.1f}" for of in ("p50", "p99", "cpu"))
                print(f"{name}: {' '.join(said)}", file=sys.stderr)
    return figures


def _answers(ask: Callable[[], float], rounds: int) -> Iterator[float]:
    """The times of so many requests, or of fewer that take long together."""
    until = time.perf_counter() + LONGEST_S
    for _ in range(rounds):
        yield ask()
        if time.perf_counter() > until:
            return


def _asks() -> dict[str, ActivationRequest]:
    instances = {name: _searching("process-instances", *found) for name, found in INSTANCES.items()}
    others = {name: _searching(*found) for name, found in OTHERS.items()}
    return instances | others | {f"page_{name}": _paging(path) for name, path in PAGE.items()}


PAGE: Mapping[str, Callable[[str], tuple[str, Mapping[str, Any] | None]]] = {
    "instance": lambda key: (f"/process-instances/{key}", None),
    "elements": lambda key: (f"/process-instances/{key}/statistics/element-instances", None),
    "flows": lambda key: (f"/process-instances/{key}/sequence-flows", None),
    "incidents": lambda key: (f"/process-instances/{key}/incidents/search", {"filter": {"state": "ACTIVE"}}),
    "variables": lambda key: ("/variables/search", {"filter": {"processInstanceKey": key}}),
    "jobs": lambda key: ("/jobs/search", {"filter": {"processInstanceKey": key}}),
    "element_instances": lambda key: ("/element-instances/search", {"filter": {"processInstanceKey": key}}),
}
"""The requests of the page of an instance."""


def _searching(resource: str, filter: Body, sort: str, limit: int = 50) -> ActivationRequest:
    def ask(client: httpx.Client, filled: Filled) -> float:
        body: dict[str, Any] = {"filter": filter(filled), "page": {"limit": limit}}
        if sort:
            body["sort"] = [{"field": sort.removeprefix("-"), "order": "DESC" if sort[0] == "-" else "ASC"}]
        return _took(client, f"/{resource}/search", body)

    return ask


def _paging(of: Callable[[str], tuple[str, Mapping[str, Any] | None]]) -> ActivationRequest:
    def ask(client: httpx.Client, filled: Filled) -> float:
        filter = {"businessId": varieties.business_id_of(filled.number())}
        found = client.post("/process-instances/search", json={"filter": filter}).json()["items"]
        return _took(client, *of(found[0]["processInstanceKey"]))

    return ask


def _took(client: httpx.Client, path: str, body: Mapping[str, Any] | None) -> float:
    began = time.perf_counter()
    answer = client.get(path) if body is None else client.post(path, json=body)
    took = time.perf_counter() - began
    if answer.is_error and answer.status_code != TOO_LATE:
        raise RuntimeError(f"{path}: {answer.text}")
    return took
