"""Redirects of writes to the leader: once, before anything is written, and without a meaning for idempotency keys."""

from types import SimpleNamespace

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app
from vivero.api.admission.redirects import Redirects, without_mark
from vivero.core.records.instances import InstanceReply

KEY = 2251799813685249
INSTANCE = InstanceReply(KEY + 1, KEY, "order", 3, "<default>", (), None)
CREATE = ("POST", "/v2/process-instances", {"processDefinitionId": "order"})
CANCEL = ("POST", f"/v2/process-instances/{KEY}/cancellation")


def node(name, **fields):
    return SimpleNamespace(
        **(
            {
                "id": name,
                "host": f"{name}.example",
                "port": 8080,
                "roles": ("api", "engine"),
                "live": True,
                "address": None,
            }
            | fields
        )
    )


def view(leader, *nodes):
    return SimpleNamespace(nodes=nodes, partitions=[SimpleNamespace(id=1, leader=leader)])


@pytest.fixture
def redirecting(services):
    """A client of node `a`, which knows this view of the cluster."""
    return lambda seen: Client(app.build(changed(services, redirects=Redirects("a", lambda: seen))))


async def test_a_write_is_redirected_to_the_leader_and_nothing_is_written(redirecting, engine):
    client = redirecting(view("b", node("a"), node("b")))
    for method, target, *body in (CREATE, CANCEL, (*CANCEL[:1], CANCEL[1] + "?wait=false")):
        answer = await client(method, target, *body)
        joint = "&" if "?" in target else "?"
        assert answer.status == 307
        assert answer.headers[b"location"].decode() == f"http://b.example:8080{target}{joint}redirected-by-vivero=true"
        assert answer.problem["title"] == "TEMPORARY_REDIRECT"
    assert engine.appended == []


async def test_a_redirected_request_is_never_redirected_again(redirecting, engine):
    engine.reply = INSTANCE
    client = redirecting(view("b", node("a"), node("b")))
    method, target, body = CREATE
    assert (await client(method, f"{target}?redirected-by-vivero=true", body)).status == 200
    assert len(engine.appended) == 1


async def test_an_idempotency_key_means_the_same_with_and_without_the_mark(redirecting, engine):
    engine.reply = INSTANCE
    client = redirecting(view("a", node("a")))
    method, target, body = CREATE
    key = [(b"idempotency-key", b"k")]
    for query in (
        "?dryRun=false",
        "?redirected-by-vivero=true&dryRun=false",
        "?dryRun=false&redirected-by-vivero=true",
    ):
        assert (await client(method, target + query, body, key)).status == 200
    assert len(engine.appended) == 1
    assert (await client(method, target, body, key)).status == 422  # another query is another request


@pytest.mark.parametrize(
    "seen",
    [
        view("a", node("a"), node("b")),
        view(None, node("a"), node("b")),
        view("gone", node("a"), node("b")),
        view("b", node("a"), node("b", live=False)),
        view("b", node("a"), node("b", roles=("engine",))),
        view("b", node("a"), node("b", host="0.0.0.0")),
        view("b", node("a", host="same"), node("b", host="same")),
        view("b", node("a", host="0.0.0.0"), node("b", host="0.0.0.0")),
    ],
    ids=["own", "nobody", "unknown", "dead", "without-api", "without-an-address", "the-same-address", "nowhere"],
)
async def test_without_a_node_to_go_to_the_request_is_served_here(redirecting, engine, seen):
    assert (await redirecting(seen)(*CANCEL)).status == 204
    assert len(engine.appended) == 1


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({"address": "https://node-b.example:8443", "host": "10.0.0.2"}, "https://node-b.example:8443"),
        ({"address": "https://node-b.example", "host": "0.0.0.0"}, "https://node-b.example"),
        ({"host": "::1"}, "http://[::1]:8080"),
    ],
    ids=["tls", "all-addresses", "older-version"],
)
async def test_the_address_is_the_one_that_the_leader_tells(redirecting, engine, fields, address):
    answer = await redirecting(view("b", node("a"), node("b", **fields)))(*CANCEL)
    assert answer.headers[b"location"].decode().startswith(f"{address}/v2/process-instances/")


async def test_behind_one_advertised_address_nobody_is_redirected(redirecting, engine):
    nodes = (node("a", address="https://vivero.example"), node("b", address="https://vivero.example", host="other"))
    assert (await redirecting(view("b", *nodes))(*CANCEL)).status == 204


async def test_a_node_that_leads_a_partition_keeps_creations(redirecting, engine):
    engine.reply = INSTANCE
    seen = view("b", node("a"), node("b"))
    seen.partitions.append(SimpleNamespace(id=2, leader="a"))
    client = redirecting(seen)
    assert (await client(*CREATE)).status == 200
    assert (await client(*CANCEL)).status == 307


async def test_by_default_nothing_is_redirected(services):
    assert services.commands.redirects is None


def test_only_the_mark_is_taken_out_of_a_query():
    assert without_mark(b"") == (b"", False)
    assert without_mark(b"a=1&redirected-by-vivero=true&b=2") == (b"a=1&b=2", True)
    assert without_mark(b"x=redirected-by-vivero=true") == (b"x=redirected-by-vivero=true", False)
