"""A user of the identity provider is nobody's namesake: a local user has its name alone."""

from dataclasses import replace

import pytest
import structlog

from tests.api.access.conftest import ISSUER, basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.access.authentication import Authenticator
from vivero.api.access.sessions import digest
from vivero.api.access.signing_keys import SigningKeys
from vivero.storage.access import sessions
from vivero.storage.access.sessions import NewSession

ME = "/v2/authentication/me"
ID = "a" * 43
COOKIE = [(b"host", b"localhost"), (b"cookie", f"vivero_session={ID}".encode())]


@pytest.fixture
def shared(stored, auth_settings, provider):
    """A client of an application with this setting `oidc_shared_names`."""

    def make(names):
        settings = replace(auth_settings, oidc_shared_names=names)
        known = Authenticator(settings, stored.reads.pool, SigningKeys(ISSUER, fetch=provider.fetch))
        return Client(api_app.build(changed(stored, access=known)))

    return make


async def asked(client, headers):
    answer = await client("GET", ME, headers=headers)
    return answer.json["roles"] if answer.status == 200 else answer.status


async def begin_session(stored, name, provider):
    async with stored.reads.pool.connection() as connection:
        await sessions.create(connection, digest(ID.encode()), NewSession(name, provider), 600.0)


async def test_the_admin_of_the_provider_is_not_the_local_one(people, secured, provider):
    people.user("admin", "admin")
    with structlog.testing.capture_logs() as logged:
        answer = await secured("GET", ME, headers=bearer(provider.token(sub="admin")))
    assert answer.status == 403
    assert "has the name of a local user" in answer.problem["detail"]
    assert [line["username"] for line in logged if "username" in line] == ["admin"]
    assert await asked(secured, basic("admin")) == ["admin"]


async def test_grants_by_plain_name_keep_their_meaning(people, secured, provider):
    people.member("ROLE", "operator", "USER", "eve")
    assert await asked(secured, bearer(provider.token(sub="eve"))) == ["operator"]


async def test_a_local_user_takes_the_name_at_once(people, secured, provider, authenticator):
    people.member("ROLE", "operator", "USER", "eve")
    eve = bearer(provider.token(sub="eve"))
    assert await asked(secured, eve) == ["operator"]
    people.user("eve")
    authenticator.forget()  # the notification of a trigger does it
    assert await asked(secured, eve) == 403
    assert await asked(secured, basic("eve")) == ["operator"]


async def test_a_client_is_no_user(people, secured, provider):
    people.user("shop", "admin")
    assert await asked(secured, bearer(provider.token(sub="x", client_id="shop"))) == []


@pytest.mark.parametrize(("names", "found"), [("", 403), ("bob", 403), ("bob, ann", []), ("*", [])])
async def test_one_person_may_have_both(people, shared, provider, names, found):
    people.user("ann")
    assert await asked(shared(names), bearer(provider.token(sub="ann"))) == found


@pytest.mark.parametrize(("names", "found"), [("", 401), ("ann", ["viewer"])])
async def test_sessions_of_the_provider(stored, people, secured, shared, rows, names, found):
    people.member("ROLE", "viewer", "USER", "ann")
    await begin_session(stored, "ann", "OIDC")
    assert await asked(shared(names), COOKIE) == ["viewer"]
    people.user("ann")
    assert await asked(shared(names), COOKIE) == found
    rows.execute("UPDATE sessions SET provider = 'PASSWORD'")
    assert await asked(shared(names), COOKIE) == ["viewer"]


@pytest.mark.parametrize(("names", "found"), [("", 401), ("ann", ["viewer"])])
async def test_tokens_of_the_provider(people, shared, rows, names, found):
    people.member("ROLE", "viewer", "USER", "ann")
    token = bearer(people.token("laptop", "viewer"))
    rows.execute("UPDATE api_tokens SET owner = 'ann', owner_provider = 'OIDC'")
    assert await asked(shared(names), token) == ["viewer"]
    people.user("ann")
    assert await asked(shared(names), token) == found
    rows.execute("UPDATE api_tokens SET owner_provider = 'PASSWORD'")
    assert await asked(shared(names), token) == ["viewer"]


async def test_a_shared_name_does_not_open_the_password(people, shared, provider):
    people.user("ann")
    body = {"currentPassword": "correct horse battery", "newPassword": "a longer password"}
    answer = await shared("ann")("PUT", f"{ME}/password", body, bearer(provider.token(sub="ann")))
    assert (answer.status, answer.problem["detail"]) == (403, "Only users with a password can change their password")


async def test_the_audit_log_tells_who_verified_an_actor(people, secured, provider):
    for kind, name in (("USER", "ann"), ("USER", "eve"), ("CLIENT", "shop")):
        if name == "ann":
            people.user(name)
        people.member("ROLE", "admin", kind, name)
    callers = {
        "ann": basic("ann"),
        "eve": bearer(provider.token(sub="eve")),
        "shop": bearer(provider.token(sub="x", client_id="shop")),
        "worker": bearer(people.token("worker", "admin")),
    }
    for name, headers in callers.items():
        body = {"groupId": f"of-{name}", "name": name}
        assert (await secured("POST", "/v2/groups", body, headers)).status == 201
    found = (await secured("POST", "/v2/audit-logs/search", {}, callers["ann"])).json["items"]
    assert {(each["actorId"], each["actorType"], each["actorProvider"]) for each in found} == {
        ("ann", "USER", "PASSWORD"),
        ("eve", "USER", "OIDC"),
        ("shop", "CLIENT", "OIDC"),
        ("worker", "CLIENT", "TOKEN"),
    }
