"""Simulations over HTTP: a report of every step, errors for whatever cannot run, one at a time for each client."""

import pytest
import trio

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.held_compute import HeldCompute
from tests.api.mcp.test_tools import MODEL
from tests.engine.dry_runs.here import Here
from tests.eventually import eventually
from vivero.api import app as api_app
from vivero.engine.compute.problems import TooCostly
from vivero.engine.compute.turns import WorkKind
from vivero.library.simulation import run as simulate

PATH = "/v2/simulations"
FILE = {"resources": [{"name": "a.bpmn", "content": MODEL}]}


@pytest.fixture
def of(services):
    """A client of a program with these compute processes."""

    def of(compute, simulate=simulate):
        return Client(api_app.build(changed(services, compute=compute, simulate=simulate)))

    return of


async def test_a_model_runs_with_test_data_and_nothing_is_kept(of, engine):
    answer = await of(Here())("POST", PATH, FILE | {"jobs": {"work": {"variables": {"ok": True}}}})
    report = answer.json
    assert (answer.status, report["state"], report["variables"], report["notReached"]) == (
        200,
        "COMPLETED",
        {"ok": True},
        [],
    )
    assert report["steps"][0]["what"] == "started"
    assert "start" in report["steps"][0]["entered"]
    assert engine.appended == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"resources": [{"name": "a.bpmn", "content": "<a/>"}]}, "a.bpmn"),
        ({"resources": []}, "process"),
        ({"resources": "a.bpmn"}, "The simulation is wrong"),
        (FILE | {"processId": "gone"}, "gone"),
        (FILE | {"variables": []}, "The simulation is wrong"),
        (b"{", "nested deeper"),
        (b"[" * 70 + b"]" * 70, "nested deeper than 64 levels"),
        (b"nonsense", "The simulation is wrong"),
    ],
)
async def test_what_cannot_run_is_an_error_that_says_why(of, body, detail):
    answer = await of(Here())("POST", PATH, body)
    assert (answer.status, detail in answer.problem["detail"]) == (400, True), answer.body


class Costly:
    """Compute processes for which everything is too much."""

    async def call(self, *_, **__):
        await trio.lowlevel.checkpoint()
        raise TooCostly("more than 30 s of CPU time")


async def test_one_that_takes_too_much_is_an_error_and_a_server_without_simulation_says_so(of):
    answer = await of(Costly())("POST", PATH, FILE)
    assert (answer.status, answer.problem["detail"]) == (
        400,
        "The request takes more than 30 s of CPU time, which one request must not.",
    )
    assert (await of(Here(), None)("POST", PATH, FILE)).status == 501


async def test_a_client_has_one_at_a_time(of):
    held = HeldCompute()
    client = of(held)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client, "POST", PATH, FILE)
        await eventually(lambda: held.kinds)
        assert (await client("POST", PATH, FILE)).status == 429
        held.free.set()
    assert held.kinds == [WorkKind.SIMULATIONS]
    assert (await client("POST", PATH, FILE)).status == 200
