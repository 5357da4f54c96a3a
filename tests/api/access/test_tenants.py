"""The tenants of requests: what they may name, and what their commands may touch."""

from dataclasses import replace
from typing import Any

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client, NoDatabase
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.api.admission.command_routing import CommandRouting
from vivero.api.callers.caller import Caller, caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import ROUTES
from vivero.core.partitions.routes import Routes, spread
from vivero.core.partitions.tenants import EVERY_TENANT
from vivero.core.records.catalogue import DeploymentReply
from vivero.core.records.conditionals import ConditionalsReply
from vivero.core.records.decision_evaluations import DecisionReply
from vivero.core.records.instances import InstanceReply
from vivero.core.records.messages import MessageReply
from vivero.core.records.signals import SignalReply
from vivero.storage.access.identities import StoredRights, Tenant

MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
<process id="p" isExecutable="true"><startEvent id="s"/></process></definitions>"""
MULTIPART = [(b"content-type", b"multipart/form-data; boundary=b")]


def deployment(tenant):
    """A deployment of one file for a tenant, as multipart/form-data."""
    parts = [b'--b\r\nContent-Disposition: form-data; name="resources"; filename="p.bpmn"\r\n\r\n' + MODEL + b"\r\n"]
    if tenant is not None:
        parts.append(b'--b\r\nContent-Disposition: form-data; name="tenantId"\r\n\r\n' + tenant.encode() + b"\r\n")
    return b"".join([*parts, b"--b--\r\n"])


NAMING: dict[str, Any] = {
    "/v2/process-instances": (
        "Create Process Instance",
        {"processDefinitionId": "p"},
        InstanceReply(1, 1, "p", 1, "a", (), None),
    ),
    "/v2/messages/publication": ("Publish Message", {"name": "m"}, MessageReply("a", 1)),
    "/v2/messages/correlation": ("Correlate Message", {"name": "m"}, MessageReply("a", 1, 1)),
    "/v2/signals/broadcast": ("Broadcast Signal", {"signalName": "s"}, SignalReply("a", 1)),
    "/v2/conditionals/evaluation": ("Evaluate Conditional", {"variables": {"a": 1}}, ConditionalsReply(1, "a", ())),
    "/v2/decision-definitions/evaluation": (
        "Evaluate Decision",
        {"decisionDefinitionId": "d"},
        DecisionReply(1, 2, "d", "d", 1, 3, "f", "a", "1", ()),
    ),
    "/v2/deployments": ("Deploy Resources", None, DeploymentReply(1, "a", ())),
}
"""Routes whose requests name a tenant: the operation, a body, an answer of the engine."""


def ann(*tenants):
    """A caller with these tenants, or with all."""
    found = frozenset(tenants) if tenants else None
    return Caller("USER", "ann", ALL_RIGHTS, tenants=found, listed_tenants=[Tenant(one, one) for one in tenants])


@pytest.fixture
def client_of(services):
    """A client of an application with multi-tenancy; `who` is its caller."""

    def make(who=None, **changes):
        access = None if who is None else OneCaller(who)
        changes = {"pool": NoDatabase()} | changes
        return Client(api_app.build(changed(services, multi_tenancy=True, access=access, **changes)))

    return make


def ask(client, path, tenant):
    _, body, _ = NAMING[path]
    if body is None:
        return client("POST", path, deployment(tenant), MULTIPART)
    return client("POST", path, body if tenant is None else body | {"tenantId": tenant})


@pytest.fixture(params=NAMING)
def path(request, engine, monkeypatch):
    async def stored(*_):
        return None

    monkeypatch.setattr("vivero.api.routes.deployments.store_resources", stored)
    engine.reply = NAMING[request.param][2]
    return request.param


class AnyPool:
    def connection(self):
        return self

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_) -> None:
        return None


async def test_a_request_is_of_the_tenant_that_it_names(client_of, engine, path):
    answer = await ask(client_of(ann("a", "b"), pool=AnyPool()), path, "a")
    assert answer.status == 200, answer.body
    assert [item.tenant for item in engine.appended] == ["a"]


OF_NO_TENANT = [route for route in ROUTES if route.of_no_tenant]


def test_background_jobs_webhooks_the_outbox_and_what_the_cluster_has_belong_to_no_tenant():
    paths = (
        "/background-job",
        "/queued-commands",
        "/webhooks",
        "/inbound-connectors",
        "/outbox",
        "/v2/global-task-listeners",
        "/v2/cluster-variables/global",
    )
    every_tenant_sees = {("GET", "/v2/cluster-variables/global/{name}")}
    of_none = [route for route in ROUTES if route.path.startswith(paths)]
    assert [each for each in of_none if (each.method, each.path) not in every_tenant_sees] == OF_NO_TENANT


@pytest.mark.parametrize("route", OF_NO_TENANT, ids=lambda route: f"{route.method} {route.path}")
async def test_what_belongs_to_no_tenant_is_for_callers_with_all_tenants(client_of, services, route):
    """A caller with some tenants gets nothing, whatever its permissions. Payloads may be of any tenant."""
    path = route.path.replace("{id}", "00000000-0000-4000-8000-000000000001").replace("{type}", "mail")
    path = path.replace("{eventId}", "1-0-0")
    for who, refused in ((ann("a"), True), (ann("a", "<default>"), True), (ann(), False)):
        answer = await client_of(who)(route.method, path, {"type": "mail"} if route.method == "POST" else b"")
        assert (answer.status == 403) == refused
        if refused:
            assert answer.problem["detail"].endswith("it belongs to no tenant, so it needs all tenants")
    without = Client(api_app.build(changed(services, access=OneCaller(ann("<default>")), pool=NoDatabase())))
    assert (await without(route.method, path, b"")).status != 403, "without multi-tenancy nothing changes"


async def test_another_tenant_is_403_whether_it_exists_or_not(client_of, engine, path):
    answer = await ask(client_of(ann("a", "b")), path, "c")
    assert (answer.status, answer.problem["title"]) == (403, "FORBIDDEN")
    assert answer.problem["detail"].endswith("for tenant 'c', but user is not assigned to this tenant")
    assert engine.appended == []


@pytest.mark.parametrize(
    ("tenant", "why"),
    [
        (None, "with multi-tenancy enabled, but no tenant identifier was provided."),
        (" ", "with multi-tenancy enabled, but no tenant identifier was provided."),
        ("x" * 32, f"with tenant identifier '{'x' * 32}', but tenant identifier is longer than 31 characters."),
        ("a,b", "with tenant identifier 'a,b', but tenant identifier contains illegal characters."),
        ("*", "with tenant identifier '*', but tenant identifier contains illegal characters."),
    ],
)
@pytest.mark.parametrize("who", [ann("a", "b"), ann(), None], ids=["two tenants", "all tenants", "anybody"])
async def test_a_request_must_name_a_tenant(client_of, engine, path, who, tenant, why):
    answer = await ask(client_of(who), path, tenant)
    assert answer.status == 400
    assert answer.problem["detail"] == f"Expected to handle request {NAMING[path][0]} {why}"
    assert engine.appended == []


async def test_without_multi_tenancy_there_is_the_default_tenant(make_client, engine, path):
    for tenant in (None, "<default>"):
        assert (await ask(make_client(pool=AnyPool()), path, tenant)).status == 200
    refused = await ask(make_client(pool=AnyPool()), path, "a")
    assert (refused.status, refused.problem["detail"]) == (
        400,
        f"Expected to handle request {NAMING[path][0]} with tenant identifier 'a', but multi-tenancy is disabled.",
    )
    assert {item.tenant for item in engine.appended} == {"<default>"}


async def test_without_authentication_every_tenant_may_be_named(client_of, engine):
    engine.reply = SignalReply("a", 1)
    assert (await ask(client_of(), "/v2/signals/broadcast", "anything")).status == 200
    assert engine.appended[0].tenant == "anything"


async def test_a_command_by_key_has_the_tenants_of_its_caller(client_of, make_client, engine):
    for client in (client_of(ann("b", "a")), client_of(ann()), client_of(), make_client(access=OneCaller(ann("a")))):
        await client("POST", f"/v2/process-instances/{KEY}/cancellation")
    assert [item.tenant for item in engine.appended] == ["a,b", EVERY_TENANT, EVERY_TENANT, "<default>"]


def stored_rights(*roles):
    tenants = (Tenant("a", "A"), Tenant("b", "B"))
    return StoredRights(0.0, (), roles, tenants, ())


def test_an_administrator_may_use_all_tenants():
    assert caller("USER", "ann", stored_rights("operator")).tenants == {"a", "b"}
    assert caller("USER", "ann", stored_rights("operator", "admin")).tenants is None


async def test_an_administrator_may_name_only_tenants_that_exist(client_of, engine):
    engine.reply = SignalReply("a", 1)
    client = client_of(caller("USER", "root", stored_rights("admin")))
    assert (await ask(client, "/v2/signals/broadcast", "b")).status == 200
    assert (await ask(client, "/v2/signals/broadcast", "typo")).status == 403


# ---- pinned tenants

CREATION = "/v2/process-instances"


@pytest.mark.parametrize(
    ("tenant", "partitions"),
    [("a", [2, 2, 2, 2]), ("b", [1, 3, 1, 3]), ("c", [1, 2, 3, 1]), ("<default>", [1, 2, 3, 1])],
)
@pytest.mark.parametrize("path", [CREATION, "/v2/signals/broadcast", "/v2/conditionals/evaluation"])
async def test_new_work_of_a_pinned_tenant_begins_in_its_partitions(client_of, engine, path, tenant, partitions):
    routes = Routes(1, 3, spread(3), {"a": (2,), "b": (1, 3)})
    engine.reply = NAMING[path][2]
    client = client_of(ann("a", "b", "c", "<default>"), routing=CommandRouting(routes))
    for _ in partitions:
        assert (await ask(client, path, tenant)).status == 200
    assert [item.partition for item in engine.appended] == partitions


async def test_messages_of_a_pinned_tenant_go_by_their_slots(client_of, engine):
    routes = Routes(1, 3, spread(3), {"a": (2,)})
    engine.reply = MessageReply("a", 1)
    client = client_of(ann("a"), routing=CommandRouting(routes))
    for key in "xyz":
        await client("POST", "/v2/messages/publication", {"name": "m", "tenantId": "a", "correlationKey": key})
    assert [item.partition for item in engine.appended] == [routes.of_channel("a", key) for key in "xyz"]


# ---- idempotency keys


async def cancel(client, key=b"k1"):
    return await client("POST", f"/v2/process-instances/{KEY}/cancellation", headers=[(b"idempotency-key", key)])


async def test_an_idempotency_key_belongs_to_its_caller(client_of, engine):
    """Another caller with the same key, body and tenants has a command of its own."""
    callers = [replace(ann("a"), id=id, kind=kind) for kind in ("USER", "TOKEN") for id in ("ann", "bob")]
    for who in callers * 2:
        assert (await cancel(client_of(who))).status == 204
    assert len(engine.appended) == len(callers)
    assert len({item.idempotency[0] for item in engine.appended}) == len(callers)


async def test_the_key_of_one_caller_is_not_found_by_the_name_of_another(client_of, engine):
    await cancel(client_of(replace(ann("a"), id="ann")), b"k")
    await cancel(client_of(replace(ann("a"), id="ann\0k")), b"k")
    await cancel(client_of(replace(ann("a"), id="ann k")), b"k")
    assert len(engine.appended) == 3


# ---- jobs


async def activate(client, **body):
    body = {"type": "work", "timeout": 1000, "maxJobsToActivate": 5, "requestTimeout": 1} | body
    return await client("POST", "/v2/jobs/activation", body)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({}, 400, "with multi-tenancy enabled, but no tenant identifier was provided"),
        ({"tenantIds": []}, 400, "with multi-tenancy enabled, but no tenant identifier was provided"),
        ({"tenantIds": ["a", "c"]}, 403, "for tenant 'c', but user is not assigned to this tenant"),
        ({"tenantIds": ["a", "b,a"]}, 400, "contains illegal characters"),
        ({"tenantIds": ["a"] * 101}, 400, "at most 100 tenant identifiers"),
        ({"tenantFilter": "NONE"}, 400, "NONE"),
    ],
)
async def test_an_activation_names_tenants_of_its_caller(client_of, body, status, text):
    answer = await activate(client_of(ann("a", "b")), **body)
    assert answer.status == status
    assert text in answer.problem["detail"]


async def test_a_caller_without_tenants_is_assigned_none(client_of):
    answer = await activate(client_of(Caller("USER", "ann", ALL_RIGHTS)), tenantFilter="ASSIGNED")
    assert (answer.status, "it has 0 of them" in answer.problem["detail"]) == (400, True)


@pytest.fixture
def shop(stored, rows):
    """A database with a job of each of three tenants; gives a client of a caller with two of them."""
    for number, tenant in enumerate("abc"):
        rows.job(KEY + number, tenant_id=tenant)
    return Client(api_app.build(changed(stored, multi_tenancy=True, access=OneCaller(ann("a", "b")))))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"tenantIds": ["a"]}, {"a"}),
        ({"tenantIds": ["b", "a", "b"]}, {"a", "b"}),
        ({"tenantFilter": "ASSIGNED"}, {"a", "b"}),
        ({"tenantFilter": "assigned", "tenantIds": ["c"]}, {"a", "b"}),
    ],
)
async def test_jobs_of_several_tenants(shop, body, found):
    jobs = (await activate(shop, **body)).json["jobs"]
    assert {job["tenantId"] for job in jobs} == found
    assert len(jobs) == len(found)


async def test_each_tenant_is_the_first_in_turn(shop, rows):
    """With one job at a time, no tenant waits until another one has no jobs any more."""
    rows.job(KEY + 8, tenant_id="a")
    both = {"tenantIds": ["a", "b"], "maxJobsToActivate": 1}
    found = [(await activate(shop, **both)).json["jobs"] for _ in range(4)]
    assert [len(jobs) for jobs in found] == [1, 1, 1, 0]
    assert {job["tenantId"] for jobs in found[:2] for job in jobs} == {"a", "b"}


async def test_the_lease_of_a_foreign_job_is_not_extended(shop, stored):
    owner = Client(api_app.build(changed(stored, multi_tenancy=True, access=OneCaller(ann("c")))))
    assert len((await activate(owner, tenantIds=["c"])).json["jobs"]) == 1
    change = {"changeset": {"timeout": 5000}}
    foreign = await shop("PATCH", f"/v2/jobs/{KEY + 2}", change)
    missing = await shop("PATCH", f"/v2/jobs/{KEY + 9}", change)
    assert foreign.status == missing.status == 404
    assert foreign.problem["detail"] == missing.problem["detail"].replace(str(KEY + 9), str(KEY + 2))
    assert (await owner("PATCH", f"/v2/jobs/{KEY + 2}", change)).status == 204
