"""Documents of two tenants, and who is recorded for what."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.documents.conftest import Documents, part
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, rights


class Someone:
    """Access that takes everybody for one caller."""

    def __init__(self, *tenants, allowed=ALL_RIGHTS) -> None:
        self.caller = Caller("USER", "ann", allowed, tenants=frozenset(tenants), provider="PASSWORD")

    async def authenticate(self, headers, address):
        return self.caller


@pytest.fixture
def of(documents):
    """Documents for a caller with these tenants."""

    def make(*tenants):
        pool = documents.services.reads.pool
        services = changed(documents.services, multi_tenancy=True, readers=pool, access=Someone(*tenants))
        return Documents(documents.rows, services, Client(api_app.build(services)))

    return make


async def test_a_document_belongs_to_the_tenant_of_its_caller(of, documents):
    a, b = of("a"), of("b")
    reference = await a.upload(b"of a", target="/v2/documents?documentId=mine")
    assert (await b.get("mine")).status == 404
    assert (await b.get("mine", query="?tenantId=a")).status == 404
    assert (await b.get("mine", method="DELETE")).status == 404
    assert (await b.client("POST", "/v2/documents/mine/links", b"")).status == 404
    answer = await b.post(part("file", b"x", "x"), target="/v2/documents?documentId=mine&tenantId=a")
    assert answer.status == 403
    await b.upload(b"of a", target="/v2/documents?documentId=mine")  # the same id and the same bytes
    assert documents.stored == (2, 2, 2, 8)
    assert (await a.get("mine", method="DELETE")).status == 204
    assert (await b.get("mine")).body == b"of a"
    assert reference["contentHash"] is not None


async def test_a_caller_with_several_tenants_names_one(of):
    both, a = of("a", "b"), of("a")
    answer = await both.post(part("file", b"x", "x"))
    assert (answer.status, answer.problem["title"]) == (400, "INVALID_ARGUMENT")
    for tenant in ("a", "b"):
        await both.upload(tenant.encode(), target=f"/v2/documents?documentId=mine&tenantId={tenant}")
    assert "name one by storeId and tenantId" in (await both.get("mine")).problem["detail"]
    assert (await both.get("mine", query="?tenantId=b")).body == b"b"
    assert (await a.get("mine")).body == b"a"
    await of("<default>", "a").upload(b"of all", target="/v2/documents?documentId=other")
    assert (await a.get("other")).status == 404


async def test_a_link_needs_no_tenant_but_the_one_of_its_document(of):
    a = of("a")
    await a.upload(b"hello", target="/v2/documents?documentId=mine")
    answer = await a.client("POST", "/v2/documents/mine/links", b"", [(b"host", b"localhost")])
    assert (await of("b").client("GET", answer.json["url"].removeprefix("http://localhost"))).body == b"hello"


@pytest.mark.parametrize("limits", [{"max_tenant_bytes": 5}])
async def test_each_tenant_has_a_quota_of_its_own(of):
    a, b = of("a"), of("b")
    await a.upload(b"12345")
    await b.upload(b"12345")
    assert (await a.post(part("file", b"6", "x"))).status == 507


async def test_changes_are_recorded_as_those_of_a_resource(of, documents):
    a = of("a")
    await a.upload(b"hello", target="/v2/documents?documentId=2251799813685249")
    await a.client("POST", "/v2/documents/2251799813685249/links", b"")
    await a.get("2251799813685249", method="DELETE")
    await a.get("2251799813685249", method="DELETE")
    query = "SELECT entity_type, operation, entity_key, tenant_id, result FROM audit_log ORDER BY audit_log_key"
    found = documents.rows.execute(query).fetchall()
    one = ("2251799813685249", "a")
    assert found[:3] == [("RESOURCE", each, *one, "SUCCESS") for each in ("CREATE", "UPDATE", "DELETE")]
    assert [record[4] for record in found[3:]] == ["FAIL"]


@pytest.mark.parametrize(("role", "statuses"), [("viewer", (403, 200, 403)), ("worker", (201, 200, 403))])
async def test_each_operation_has_a_permission(documents, role, statuses):
    await documents.upload(b"hello", target="/v2/documents?documentId=mine")
    services = changed(documents.services, access=Someone("<default>", allowed=rights((role,), ())))
    other = replace_client(documents, services)
    created = await other.post(part("file", b"x", "x"))
    found = (created.status, (await other.get("mine")).status, (await other.get("mine", method="DELETE")).status)
    assert found == statuses


def replace_client(documents, services):
    return Documents(documents.rows, services, Client(api_app.build(services)))
