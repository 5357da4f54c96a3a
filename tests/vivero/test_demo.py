"""`vivero demo`: the show runs to its end, again on the same data, and stays up when it should."""

import io
import itertools
import signal
import socket
from collections import Counter
from types import SimpleNamespace

import pytest
from rich.console import Console

from tests import plain_http
from tests.eventually import eventually_sync
from tests.vivero.small_garden import ENDED
from vivero.client.rest import ApiError, ClientError, Page
from vivero.program import demo, garden
from vivero.program.program import Ready

pytestmark = pytest.mark.process
BUSY = "the machine gives the program too little time"
"""A warning about the machine of the tests."""


def test_the_show_ends_well_and_can_be_given_again_by_a_server_that_stays_up(root, vivero):
    program = vivero("demo", "--exit", "--port", "0", "--data-dir", str(root), forked=False)
    assert program.ends(timeout=90) == 0, program.logged
    ended_well(program)
    program = vivero("demo", "--port", "0", "--data-dir", str(root), module="tests.vivero.small_garden")
    eventually_sync(
        lambda: "Ctrl-C stops the server" in program.said or program.process.poll() is not None,
        within_s=90,
        every_s=0.05,
    )
    assert program.process.poll() is None, program.logged
    ended_well(program)
    works_on(program)
    beside = vivero("user", "list", "--address", program.address)
    assert beside.ends() == 0, beside.logged
    assert beside.logged == f"using the database of the server at {program.address}: data in {root}\n"
    program.process.send_signal(signal.SIGTERM)
    assert program.ends() == 0, program.logged


def ended_well(program):
    """The show was given to its end, and nothing went wrong."""
    said = program.said
    assert "order version 1, key " in said
    assert said.count("COMPLETED") == len(demo.ORDERS)
    assert "incident" in said
    assert "the card has expired" in said
    for command in ("PROCESS_INSTANCE_CREATION:CREATE", "JOB:COMPLETE", "JOB:FAIL", "INCIDENT:RESOLVE"):
        assert command in said
    for variable in ("total     70", "parcel ", "payment "):
        assert variable in said
    assert f"{len(demo.ORDERS)} orders have ended" in said
    assert [line for line in program.logged.splitlines() if BUSY not in line] == []


def works_on(program):
    """The garden is there, and the workers take every order, also those that they cannot do."""
    assert garden_of(program.address) == {
        ("claim", 1): 3,
        ("invoice", 1): 3,
        ("invoice", 2): 2,
        ("count-stock", 1): 1,
        ("order", 1): 1,
    }
    order = {"customer": "You", "card": "4711", "items": [{"sku": "rose", "price": 12, "quantity": 2}]}
    body = {"processDefinitionId": "order", "variables": order, "awaitCompletion": True, "requestTimeout": 30000}
    answer = plain_http.post(f"{program.address}/v2/process-instances", json=body, timeout=40).json()
    assert answer["variables"]["payment"]["amount"] == 24
    for poor in ({}, {"items": None}, {"items": [{"price": 12, "quantity": 3}]}, {"items": [7], "card": []}):
        started = plain_http.post(f"{program.address}/v2/process-instances", json=body | {"variables": poor,
                             "awaitCompletion": False}, timeout=40)  # fmt: skip
        assert started.status_code == 200
    assert plain_http.post(f"{program.address}/v2/process-instances", json=body, timeout=40).json()["variables"][
        "payment"
    ]
    assert program.process.poll() is None, program.logged


def garden_of(address):
    """The running instances of the garden, by process and version. The loop has counted some shelves."""
    with plain_http.client(base_url=f"{address}/v2", timeout=20) as client:

        def found(resource, filter):
            return client.post(f"/{resource}/search", json={"filter": filter, "page": {"limit": 500}}).json()["items"]

        assert len(found("process-instances", {"state": "COMPLETED", "tags": [garden.TAG]})) == ENDED
        assert [one["errorMessage"] for one in found("incidents", {"state": "ACTIVE"})] == ["the card has expired"]
        counted = {"elementId": "count", "type": "SERVICE_TASK", "state": "COMPLETED"}
        assert len(found("element-instances", counted)) == garden.COUNTED
        running = found("process-instances", {"state": "ACTIVE", "tags": [garden.TAG]})
    return Counter((one["processDefinitionId"], one["processDefinitionVersion"]) for one in running)


class Helped:
    """A server whose incidents somebody else resolves, and where some orders never end."""

    address = "http://server"

    async def deploy(self, _files):
        return {"deployments": [{"processDefinition": {"processDefinitionId": "order", "processDefinitionVersion": 1,
                                                       "processDefinitionKey": "1"}}]}  # fmt: skip

    async def create(self, _process, _variables, tags):
        return {"processInstanceKey": str(next(self.keys)), "commandPosition": "1"}

    keys = itertools.count(1)

    async def search(self, resource, filter):
        found = {
            "process-instances": [
                {"processInstanceKey": key, "state": "ACTIVE", "hasIncident": True}
                for key in filter["processInstanceKey"].get("$in", ())
            ]
            if resource == "process-instances"
            else [],
            "element-instances": [{"elementName": None, "elementId": "charge"}],
            "incidents": [{"incidentKey": "7", "elementId": "charge", "errorMessage": "[/red] no card"}],
        }
        return Page(found[resource], 1, None)

    async def repair(self, _key, _variables):
        raise ApiError(409, "INVALID_STATE", "the job has ended", None, {})


@pytest.mark.parametrize("leave", [False, True])
async def test_a_show_that_others_spoil_ends_early_and_the_demonstration_goes_on(autojump_clock, leave):
    text = io.StringIO()
    said = Console(file=text, width=120)
    ready = Ready("http://server", "", SimpleNamespace(version="18"), embedded=True)
    show = demo.Show(Helped(), said, 0.0)
    if leave:
        with pytest.raises(ClientError, match="the show ended early: some orders have not ended within 60 s"):
            await show.play_or_say(ready, leave)
        return
    await show.play_or_say(ready, leave)
    show.invite(ready)
    assert "somebody was faster" in text.getvalue()
    assert "The show ends early: some orders have not ended within 60 s." in text.getvalue()


@pytest.mark.parametrize("planted", [False, True])
async def test_a_garden_is_planted_once_and_one_that_fails_ends_nothing(monkeypatch, planted):
    text = io.StringIO()

    class Server:
        async def search(self, _resource, _filter, limit):
            return Page([], garden.INSTANCES * planted, None)

        async def search_all(self, _resource, _filter):
            for _ in ():
                yield {}

        async def deploy(self, files):
            raise ClientError(f"no space for [{files[0].name}]")

    await demo.Show(Server(), Console(file=text, width=120), 0.0).plant_garden()
    said = "" if planted else "The garden is not complete: no space for [claim.bpmn]."
    assert text.getvalue().strip().endswith(said)
    assert bool(text.getvalue()) is not planted


async def test_an_order_that_fails_in_the_garden_ends_nothing():
    text, asked = io.StringIO(), []

    class Server:
        async def search(self, _resource, _filter, limit):
            return Page([], 0, None)

        async def search_all(self, _resource, _filter):
            for _ in ():
                yield {}

        async def deploy(self, _files):
            return {}

        async def request(self, _method, _path, _body):
            return SimpleNamespace(document={"jobs": []})

        async def create(self, process, _variables, *, business_id, tags, await_s=None):
            if await_s is not None:
                asked.append(business_id)
                raise ClientError(f"no worker for [{process}]")

    await demo.Show(Server(), Console(file=text, width=120), 0.0).plant_garden()
    assert text.getvalue().strip().endswith("The garden is not complete: no worker for [order].")
    assert len(asked) <= garden.AT_A_TIME, "the rest is not begun"


async def test_a_garden_that_was_interrupted_is_planted_on():
    """Nothing is made twice, the first version is not deployed after the second, and the loop counts the rest."""
    standing = {f"CLAIM-{n}" for n in (1, 2, 3)} | {f"INV-{n}" for n in (1, 2, 3, 4)} | {"STOCK-1", "ORDER-7"}
    made, deployed, asked = set(), [], []

    class Server:
        async def search(self, resource, _filter, limit):
            return Page([], {"process-instances": len(standing), "element-instances": 3}[resource], None)

        async def search_all(self, _resource, _filter):
            for business_id in standing:
                yield {"businessId": business_id}

        async def deploy(self, files):
            deployed.extend(file.name for file in files)

        async def request(self, _method, _path, body):
            asked.append(body["maxJobsToActivate"])
            return SimpleNamespace(document={"jobs": []})

        async def create(self, _process, _variables, *, business_id, tags, await_s=None):
            made.add(business_id)

    text = io.StringIO()
    await demo.Show(Server(), Console(file=text, width=120), 0.0).plant_garden()
    assert "not complete" not in text.getvalue()
    assert made == {f"ORDER-{n}" for n in range(1, garden.ENDED + 1) if n != 7} | {"ORDER-BROKEN", "INV-5"}
    assert len(made | standing) == garden.INSTANCES
    assert garden.FIRST_INVOICE not in deployed
    assert garden.SECOND_INVOICE in deployed
    assert asked == [garden.COUNTED - 3]


def test_a_port_that_is_taken_is_one_line(root, vivero):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        program = vivero("demo", "--exit", "--port", str(taken.getsockname()[1]), "--data-dir", str(root))
        assert program.ends() == 1
    assert program.logged.startswith("Error: cannot listen on port ")
    assert len(program.logged.splitlines()) == 1
