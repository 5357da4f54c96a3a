"""Rate limits of clients, and the headers of private answers."""

from dataclasses import replace

import pytest

from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.access.buckets import Buckets
from vivero.api.access.caller import Caller
from vivero.api.access.permissions import ALL_RIGHTS, NO_RIGHTS
from vivero.api.access.rates import Rates, rates
from vivero.api.routes import ROUTES

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
    client = Client(api_app.build(replace(services, access=Named(), rates=Rates(0.5, 2))))
    assert [(await client("GET", ME, headers=by("ann"))).status for _ in range(3)] == [200, 200, 429]
    assert (await client("GET", ME, headers=by("bob"))).status == 200
    answer = await client("GET", ME, headers=by("ann"))
    assert answer.problem["title"] == "Too Many Requests"
    assert answer.headers[b"retry-after"] == b"2"


async def test_the_limit_comes_before_authorisation(services):
    client = Client(api_app.build(replace(services, access=Named(), rates=Rates(0.001, 1))))
    statuses = [(await client("GET", "/cluster/nodes", headers=by("nobody"))).status for _ in range(2)]
    assert statuses == [403, 429]


async def test_what_ends_work_does_not_count(services):
    client = Client(api_app.build(replace(services, rates=Rates(0.001, 1))))
    assert [(await client("POST", CANCEL)).status for _ in range(3)] == [400, 400, 400]
    assert [(await client("GET", LICENSE)).status for _ in range(3)] == [200, 200, 200]
    assert [(await client("GET", ME)).status for _ in range(2)] == [200, 429]


def test_which_routes_do_not_count():
    assert sorted(route.path.rpartition("/")[2] for route in ROUTES if not route.is_limited) == [
        *("cancellation", "completion", "completion", "error", "failure")
    ]


async def test_answers_with_authentication_are_private(services):
    secured = Client(api_app.build(replace(services, access=Named())))
    for method, path in (("GET", ME), ("GET", "/v2/nowhere"), ("POST", CANCEL)):
        headers = (await secured(method, path, headers=by("ann"))).headers
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"cache-control" not in (await Client(api_app.build(services))("GET", ME)).headers


async def test_a_refusal_that_is_sent_again_has_each_header_once(services, engine, autojump_clock):
    engine.admits = False
    secured = Client(api_app.build(replace(services, access=Named())))
    answers = [await secured("POST", "/v2/signals/broadcast", b"{}", by("ann")) for _ in range(2)]
    assert [answer.status for answer in answers] == [503, 503]
    assert len(answers[0].raw_headers) == len(answers[1].raw_headers)


def test_without_a_setting_there_is_no_limit():
    assert rates(0.0, 10) is None


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
