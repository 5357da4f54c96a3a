"""Sessions and API tokens by the API: one's own, and those of others with the permission."""

import pytest
from argon2 import PasswordHasher

from tests.api.access.browsers import Visitor, application_of
from tests.api.access.conftest import PASSWORD, basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.storage.access.identities import MAX_OWN_TOKENS

ME = "/v2/authentication/me"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
ANN, ROOT = basic("ann"), basic("root")
LAPTOP = {"name": "laptop", "roles": ["viewer"], "lifetimeDays": 30}


@pytest.fixture
def password_hash(monkeypatch):
    """A hash that takes time would only make these tests slow."""
    monkeypatch.setattr("vivero.api.access.passwords._hasher", CHEAP)
    return CHEAP.hash(PASSWORD)


@pytest.fixture(autouse=True)
def everybody(people):
    people.user("ann", "viewer", "operator")
    people.user("bob", "viewer")
    people.user("root", "admin")


@pytest.fixture
def audited(rows):
    """The records of the audit log, the oldest first: actor, entity, operation, result."""

    def read():
        shown = "actor_id || ' ' || operation || ' ' || entity_type || ' ' || entity_key || ' ' || result"
        return [row[0] for row in rows.execute(f"SELECT {shown} FROM audit_log ORDER BY audit_log_key").fetchall()]

    return read


class TestTokens:
    async def test_a_token_is_shown_once_and_works(self, secured, audited):
        answer = await secured("POST", f"{ME}/tokens", LAPTOP, ANN)
        assert answer.status == 201
        token = answer.json["token"]
        assert answer.json == {
            "name": "laptop",
            "token": token,
            "roles": ["viewer"],
            "tenantIds": ["<default>"],
        }
        me = (await secured("GET", ME, headers=bearer(token))).json
        assert me["roles"] == ["viewer"], "not those of its owner"
        listed = (await secured("GET", f"{ME}/tokens", headers=ANN)).json["items"]
        assert [(each["name"], each["owner"], each["roles"]) for each in listed] == [("laptop", "ann", ["viewer"])]
        assert listed[0]["createdAt"] < listed[0]["expiresAt"]
        assert token not in str(listed)
        assert audited() == ["ann CREATE CLIENT laptop SUCCESS"]

    async def test_a_revoked_token_is_refused_at_once(self, secured, authenticator, audited):
        token = (await secured("POST", f"{ME}/tokens", LAPTOP, ANN)).json["token"]
        assert (await secured("GET", ME, headers=bearer(token))).status == 200
        assert (await secured("DELETE", f"{ME}/tokens/laptop", headers=basic("bob"))).status == 404, "not bob's"
        assert (await secured("DELETE", f"{ME}/tokens/laptop", headers=ANN)).status == 204
        authenticator.forget()  # what the notification makes every node do
        assert (await secured("GET", ME, headers=bearer(token))).status == 401
        assert (await secured("DELETE", f"{ME}/tokens/laptop", headers=ANN)).status == 404
        assert audited()[-2:] == ["ann DELETE CLIENT laptop SUCCESS", "ann DELETE CLIENT laptop FAIL"]

    async def test_it_never_has_more_rights_than_its_owner(self, secured, authenticator, rows):
        """Neither when it is made, nor later: what the owner loses, its tokens lose."""
        body = LAPTOP | {"roles": ["operator"]}
        refused = await secured("POST", f"{ME}/tokens", body | {"roles": ["viewer", "admin"]}, ANN)
        assert (refused.status, "'admin'" in refused.problem["detail"]) == (403, True)
        token = (await secured("POST", f"{ME}/tokens", body, ANN)).json["token"]
        assert (await secured("GET", ME, headers=bearer(token))).json["roles"] == ["operator"]
        rows.execute("DELETE FROM members WHERE member_id = 'ann' AND container_id = 'operator'")
        authenticator.forget()
        assert (await secured("GET", ME, headers=bearer(token))).json["roles"] == []
        rows.execute("DELETE FROM users WHERE username = 'ann'")
        authenticator.forget()
        assert (await secured("GET", ME, headers=bearer(token))).status == 401

    async def test_what_is_wrong_is_named(self, secured):
        changes: list[tuple[dict[str, object], str]] = [
            ({"name": None}, "name"),
            ({"name": "a b"}, "name 'a b'"),
            ({"roles": []}, "roles"),
            ({"lifetimeDays": None}, "lifetimeDays"),
            ({"lifetimeDays": 0}, "lifetimeDays"),
            ({"lifetimeDays": 367}, "between 1 and 366"),
            ({"tenantIds": ["nowhere"]}, "tenant 'nowhere'"),
            ({"more": 1}, "more"),
        ]
        for change, told in changes:
            answer = await secured("POST", f"{ME}/tokens", LAPTOP | change, ANN)
            assert (answer.status, told in answer.problem["detail"]) == (400, True), answer.problem

    async def test_names_and_numbers_are_bounded(self, secured, rows):
        assert (await secured("POST", f"{ME}/tokens", LAPTOP, ANN)).status == 201
        assert (await secured("POST", f"{ME}/tokens", LAPTOP, basic("bob"))).status == 409
        rows.execute(
            "INSERT INTO api_tokens (name, sha256, roles, tenants, owner, owner_provider)"
            " SELECT 't' || n, n::text::bytea, '{}', '{}', 'ann', 'PASSWORD' FROM generate_series(2, %s) n",
            [MAX_OWN_TOKENS],
        )
        full = await secured("POST", f"{ME}/tokens", LAPTOP | {"name": "more"}, ANN)
        assert (full.status, "at most 50" in full.problem["detail"]) == (409, True)
        assert rows.execute("SELECT count(*) FROM api_tokens WHERE owner = 'ann'").fetchone()[0] == MAX_OWN_TOKENS

    async def test_programs_have_none_of_their_own(self, secured, people):
        token = people.token("worker", "admin")
        for method, path in (("GET", "tokens"), ("GET", "sessions"), ("DELETE", "tokens/x"), ("DELETE", "sessions/1")):
            answer = await secured(method, f"{ME}/{path}", headers=bearer(token))
            assert (answer.status, answer.problem["detail"]) == (
                403,
                "Only users have sessions and tokens of their own",
            )

    async def test_a_user_of_the_provider_has_other_tokens(self, secured, provider, rows, authenticator):
        """Two people had one name, one after the other."""
        assert (await secured("POST", f"{ME}/tokens", LAPTOP, ANN)).status == 201
        other = bearer(provider.token(sub="ann"))
        assert (await secured("GET", f"{ME}/tokens", headers=other)).status == 403
        rows.execute("UPDATE users SET username = 'anna' WHERE username = 'ann'")
        assert (await secured("GET", f"{ME}/tokens", headers=other)).json["items"] == []
        assert (await secured("DELETE", f"{ME}/tokens/laptop", headers=other)).status == 404

    async def test_tokens_of_programs(self, secured, audited):
        """A user who may give roles makes, finds and revokes any token."""
        body = {"name": "billing", "roles": ["worker"]}
        assert (await secured("POST", "/v2/tokens", body, ANN)).status == 403
        made = await secured("POST", "/v2/tokens", body, ROOT)
        assert made.status == 201
        assert (await secured("GET", ME, headers=bearer(made.json["token"]))).json["roles"] == ["worker"]
        assert (await secured("POST", f"{ME}/tokens", LAPTOP, ANN)).status == 201
        search = {"filter": {"name": {"$like": "*l*"}}, "sort": [{"field": "name", "order": "DESC"}]}
        found = (await secured("POST", "/v2/tokens/search", search, ROOT)).json["items"]
        assert [(each["name"], each["owner"], each["expiresAt"] is None) for each in found] == [
            ("laptop", "ann", False),
            ("billing", None, True),
        ]
        assert not any("sha256" in each or "token" in each for each in found)
        assert (await secured("DELETE", "/v2/tokens/laptop", headers=ROOT)).status == 204
        for wrong in ({"roles": ["nobody"]}, {"lifetimeDays": 3651}):
            assert (await secured("POST", "/v2/tokens", body | {"name": "more"} | wrong, ROOT)).status == 400
        assert audited() == [
            "ann CREATE CLIENT  FAIL",
            "root CREATE CLIENT billing SUCCESS",
            "ann CREATE CLIENT laptop SUCCESS",
            "root DELETE CLIENT laptop SUCCESS",
        ]

    async def test_own_tenants_only(self, stored, authenticator, rows, people):
        """With tenants, a token has those of its owner, also later."""
        rows.execute("INSERT INTO tenants (tenant_id, name) VALUES ('blue', 'Blue'), ('red', 'Red')")
        people.member("TENANT", "blue", "USER", "ann")
        client = Client(api_app.build(changed(stored, access=authenticator, multi_tenancy=True)))
        refused = await client("POST", f"{ME}/tokens", LAPTOP | {"tenantIds": ["red"]}, ANN)
        assert (refused.status, "'red'" in refused.problem["detail"]) == (403, True)
        made = (await client("POST", f"{ME}/tokens", LAPTOP, ANN)).json
        assert made["tenantIds"] == ["blue"]

        async def tenants():
            authenticator.forget()
            found = (await client("GET", ME, headers=bearer(made["token"]))).json["tenants"]
            return [each["tenantId"] for each in found]

        assert await tenants() == ["blue"]
        rows.execute("DELETE FROM members WHERE container_id = 'blue'")
        assert await tenants() == []


class TestSessions:
    @pytest.fixture
    def browser(self, stored, authenticator, auth_settings):
        """Signs in, in a browser of its own."""

        async def sign_in(name):
            visitor = Visitor(application_of(stored, authenticator, auth_settings))
            await visitor.sign_in(name, PASSWORD)
            return visitor

        return sign_in

    async def test_a_user_signs_another_browser_out(self, browser, authenticator, audited):
        here, there = await browser("ann"), await browser("ann")
        mine = (await here("GET", f"{ME}/sessions")).json["items"]
        assert [(each["username"], each["provider"]) for each in mine] == [("ann", "PASSWORD")] * 2
        [other] = [each["sessionKey"] for each in mine if not each["isThis"]]
        foreign = await browser("bob")
        assert (await foreign("DELETE", f"{ME}/sessions/{other}")).status == 404
        assert (await here("DELETE", f"{ME}/sessions/{other}", own=False)).status == 403, "no sign of our own page"
        assert (await here("DELETE", f"{ME}/sessions/{other}")).status == 204
        authenticator.forget()
        assert await here.who() == "ann"
        assert (await there("GET", ME)).status == 401
        assert "ann UPDATE USER ann SUCCESS" in audited()

    async def test_an_administrator_signs_somebody_out(self, browser, secured, authenticator):
        laptop, phone = await browser("ann"), await browser("ann")
        path = "/v2/users/ann/sessions"
        assert (await secured("GET", path, headers=basic("bob"))).status == 403
        first, second = (await secured("GET", path, headers=ROOT)).json["items"]
        assert not first["isThis"]
        assert (await secured("DELETE", f"{path}/{first['sessionKey']}", headers=ROOT)).status == 204
        assert (await secured("DELETE", f"{path}/{first['sessionKey']}", headers=ROOT)).status == 404
        assert (await secured("DELETE", f"{path}/x", headers=ROOT)).status == 400
        left = (await secured("GET", path, headers=ROOT)).json["items"]
        assert [each["sessionKey"] for each in left] == [second["sessionKey"]]
        assert (await secured("DELETE", path, headers=ROOT)).status == 204
        authenticator.forget()
        assert [(await visitor("GET", ME)).status for visitor in (laptop, phone)] == [401, 401]
