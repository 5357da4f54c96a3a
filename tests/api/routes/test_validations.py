"""Validations: the verdict of a deployment without one, one at a time for each client."""

from dataclasses import replace

import pytest
import trio

from tests.api.access.test_tenants import MULTIPART, ann, deployment
from tests.api.changed_services import changed
from tests.api.conftest import Client, NoDatabase
from tests.api.held_compute import HeldCompute
from tests.api.one_caller import OneCaller
from tests.api.routes.test_deployments import FORM, LINK, TYPE, body, part, process
from tests.eventually import eventually
from vivero.api import app as api_app
from vivero.core.records.catalogue import DeploymentReply
from vivero.engine.compute.turns import WorkKind

PATH = "/v2/deployments/validation"
BAD = process(more='<task id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="gone"/>')


@pytest.mark.harmless
async def test_the_problems_are_those_of_the_deployment(client, engine):
    verdict = await client("POST", PATH, body(part(BAD)), [TYPE])
    refused = await client("POST", "/v2/deployments", body(part(BAD)), [TYPE])
    assert (verdict.status, refused.status, engine.appended) == (200, 400, [])
    assert set(verdict.json) == {"valid", "problems", "warnings"}
    assert (verdict.json["valid"], verdict.json["warnings"]) == (False, [])
    assert refused.problem["detail"].split("\n")[1:] == verdict.json["problems"]
    assert len(verdict.json["problems"]) > 1


async def test_the_warnings_are_those_of_the_deployment_and_nothing_is_stored(rows, reader, stored, engine):
    files = [part(process(more=LINK.format("gone", "FORM", ""))), part(FORM, file_name="../ask.form")]
    verdict = await reader("POST", PATH, body(*files), [TYPE])
    assert (verdict.json["valid"], verdict.json["problems"], engine.appended) == (True, [], [])
    assert "leads out of the folder" in verdict.json["warnings"][0]
    assert any("no form 'gone' is deployed" in each for each in verdict.json["warnings"])
    assert rows.execute("SELECT count(*) FROM resources").fetchone() == (0,)
    assert stored.files.definitions.parsed == {}
    engine.reply = DeploymentReply(1, "<default>", ())
    deployed = await reader("POST", "/v2/deployments", body(*files), [TYPE])
    assert deployed.json["warnings"] == verdict.json["warnings"]


LARGE = body(part(process(more="<!-- long -->" * 500)))


@pytest.fixture
def held():
    return HeldCompute()


@pytest.fixture
def of(services, held):
    """A client of the program for a caller."""
    services = changed(services, compute=held)
    return lambda name: Client(api_app.build(changed(services, access=OneCaller(replace(ann("<default>"), id=name)))))


async def test_a_client_has_one_at_a_time_and_others_do_not_wait_for_it(of, held):
    answers = []

    async def ask(name):
        answers.append(await of(name)("POST", PATH, LARGE, [TYPE]))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, "ann")
        await eventually(lambda: held.kinds)
        refused = await of("ann")("POST", PATH, LARGE, [TYPE])
        assert (refused.status, refused.headers[b"retry-after"]) == (429, b"1")
        assert "another validation on its way" in refused.problem["detail"]
        nursery.start_soon(ask, "bob")
        await eventually(lambda: held.kinds[1:])
        held.free.set()
    assert held.kinds == [WorkKind.VALIDATIONS] * 2
    assert [each.json["valid"] for each in answers] == [True, True]


async def test_a_client_that_leaves_gives_its_turn_back(of, held):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(of("ann"), "POST", PATH, LARGE, [TYPE])
        await eventually(lambda: held.kinds)
        nursery.cancel_scope.cancel()
    held.free.set()
    assert (await of("ann")("POST", PATH, LARGE, [TYPE])).status == 200


async def test_a_file_is_judged_for_a_tenant_of_the_caller(services):
    client = Client(api_app.build(changed(services, multi_tenancy=True, access=OneCaller(ann("a")), pool=NoDatabase())))
    answers = {tenant: await client("POST", PATH, deployment(tenant), MULTIPART) for tenant in ("a", "b", None)}
    assert {tenant: answer.status for tenant, answer in answers.items()} == {"a": 200, "b": 403, None: 400}
