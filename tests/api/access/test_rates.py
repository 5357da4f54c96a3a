"""Rate limits of clients, and the headers of private answers."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.access.buckets import Buckets
from vivero.api.access.rates import Rates, rates
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, NO_RIGHTS
from vivero.api.routes import ROUTES
from vivero.api.settings import ApiSettings
from vivero.core.records.signals import SignalReply

CANCEL = "/v2/process-instances/x/cancellation"
LICENSE, ME = "/v2/license", "/v2/authentication/me"


class Named:
    """The caller is the header `authorization`; `nobody` has no rights."""

    async def authenticate(self, headers, address):
        name = dict(headers)[b"authorization"].decode()
        return Caller("USER", name, NO_RIGHTS if name == "nobody" else ALL_RIGHTS)


def by(name):
    return [(b"authorization", name.encode())]


async def test_each_client_has_a_limit_of_its_own(services, autojump_clock):
    client = Client(api_app.build(changed(services, access=Named(), rates=Rates(Buckets(2, 0.5)))))
    assert [(await client("GET", ME, headers=by("ann"))).status for _ in range(3)] == [200, 200, 429]
    assert (await client("GET", ME, headers=by("bob"))).status == 200
    answer = await client("GET", ME, headers=by("ann"))
    assert answer.problem["title"] == "Too Many Requests"
    assert answer.headers[b"retry-after"] == b"2"


async def test_the_limit_comes_before_authorisation(services):
    client = Client(api_app.build(changed(services, access=Named(), rates=Rates(Buckets(1, 0.001)))))
    statuses = [(await client("GET", "/cluster/nodes", headers=by("nobody"))).status for _ in range(2)]
    assert statuses == [403, 429]


async def test_what_ends_work_does_not_count(services):
    client = Client(api_app.build(changed(services, rates=Rates(Buckets(1, 0.001)))))
    assert [(await client("POST", CANCEL)).status for _ in range(3)] == [400, 400, 400]
    assert [(await client("GET", LICENSE)).status for _ in range(3)] == [200, 200, 200]
    assert [(await client("GET", ME)).status for _ in range(2)] == [200, 429]


def test_which_routes_do_not_count():
    batch = "/v2/batch-operations/{batchOperationKey}"
    assert {route.path for route in ROUTES if not route.is_limited} == {
        *(f"/v2/jobs/{{jobKey}}/{end}" for end in ("completion", "failure", "error")),
        *(f"{batch}/{change}" for change in ("suspension", "resumption", "cancellation")),
        *("/v2/process-instances/{processInstanceKey}/cancellation", "/v2/user-tasks/{userTaskKey}/completion"),
    }


async def test_answers_with_authentication_are_private(services):
    secured = Client(api_app.build(changed(services, access=Named())))
    for method, path in (("GET", ME), ("GET", "/v2/nowhere"), ("POST", CANCEL)):
        headers = (await secured(method, path, headers=by("ann"))).headers
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"cache-control" not in (await Client(api_app.build(services))("GET", ME)).headers


async def test_a_refusal_that_is_sent_again_has_each_header_once(services, engine, autojump_clock):
    engine.admits = False
    secured = Client(api_app.build(changed(services, access=Named())))
    answers = [await secured("POST", "/v2/signals/broadcast", b"{}", by("ann")) for _ in range(2)]
    assert [answer.status for answer in answers] == [503, 503]
    assert len(answers[0].raw_headers) == len(answers[1].raw_headers)


def test_without_a_setting_there_is_no_limit():
    assert rates(ApiSettings()) is None
    assert rates(ApiSettings(requests_per_s=1.0)) is not None
    assert rates(ApiSettings(tenant_requests_per_s=1.0)) is not None


class TestBuckets:
    @pytest.fixture
    def clock(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("vivero.api.access.buckets.trio.current_time", lambda: now[0])
        return now

    def test_a_bucket_fills_up_to_its_burst(self, clock):
        buckets = Buckets(2, 1.0)
        assert [buckets.take("a") for _ in range(3)] == [0, 0, 1]
        clock[0] = 0.5
        assert buckets.take("a") == 0.5
        clock[0] = 100.0
        assert [buckets.take("a") for _ in range(3)] == [0, 0, 1]

    def test_a_token_can_be_given_back(self, clock):
        buckets = Buckets(1, 1.0)
        buckets.take("a")
        buckets.give_back("a")
        assert buckets.take("a") == 0

    def test_the_oldest_keys_are_forgotten(self, clock):
        buckets = Buckets(1, 1.0, most=2)
        for key in "abc":
            buckets.take(key)
        assert buckets.take("a") == 0
        assert buckets.take("c") == 1


class Of:
    """The caller is a user with these tenants."""

    def __init__(self, name, tenants) -> None:
        self.who = Caller("USER", name, ALL_RIGHTS, tenants=tenants)

    async def authenticate(self, headers, address):
        return self.who


class TestTenants:
    @pytest.fixture
    def client_of(self, services):
        """A client of an application with a limit of two requests for each tenant; its caller has these tenants."""
        limits = Rates(None, Buckets(2, 0.001))

        def make(name, *tenants):
            access = Of(name, frozenset(tenants))
            return Client(api_app.build(changed(services, access=access, rates=limits, multi_tenancy=True)))

        return make

    async def test_the_clients_of_a_tenant_share_its_limit(self, client_of):
        ann, bob, eve = client_of("ann", "blue"), client_of("bob", "blue"), client_of("eve", "red")
        assert [(await client("GET", ME)).status for client in (ann, bob, ann, eve)] == [200, 200, 429, 200]
        answer = await bob("GET", ME)
        assert (answer.problem["title"], answer.headers[b"retry-after"]) == ("Too Many Requests", b"1000")
        assert (await ann("POST", CANCEL)).status == 400, "what ends work does not count"

    async def test_who_has_several_tenants_counts_for_the_one_that_a_request_names(self, client_of, engine):
        engine.reply = SignalReply("blue", 1)
        ann, eve = client_of("ann", "blue", "red"), client_of("eve", "red")

        async def broadcast(tenant):
            return (await ann("POST", "/v2/signals/broadcast", {"signalName": "s", "tenantId": tenant})).status

        assert [(await ann("GET", ME)).status for _ in range(3)] == [200] * 3
        assert [await broadcast("blue") for _ in range(3)] == [200, 200, 429]
        assert await broadcast("red") == 200
        assert [(await eve("GET", ME)).status for _ in range(2)] == [200, 429]

    async def test_without_multi_tenancy_all_clients_share_the_limit_of_the_default_tenant(self, services):
        client = Client(api_app.build(changed(services, rates=Rates(None, Buckets(2, 0.001)))))
        assert [(await client("GET", ME)).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    "wrong",
    [
        *[{"requests_per_s": -1.0}, {"tenant_requests_per_s": -1.0}],
        *[{"request_burst": 0}, {"tenant_request_burst": 0}],
    ],
)
def test_what_cannot_be_set(wrong):
    with pytest.raises(ValueError, match="requests"):
        ApiSettings(**wrong)
