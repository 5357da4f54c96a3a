"""Users, groups, roles, mapping rules, tenants, their members, and grants over HTTP."""

import pytest

from tests.api.access.conftest import PASSWORD, basic, bearer
from tests.api.official import decode
from vivero.api.access.passwords import verify
from vivero.api.callers.permissions import BUILT_IN, GRANTABLE, RESOURCES, Permission
from vivero.storage.search.directory import RESOURCE_TYPES

ADMIN = basic("root")


@pytest.fixture
def admin(people, secured):
    """Calls the API as an administrator."""
    people.user("root", "admin")

    async def call(method, path, body=b"", status=None):
        answer = await secured(method, f"/v2{path}", body, ADMIN)
        assert status is None or answer.status == status, answer.body
        return answer

    return call


KINDS = [
    ("users", "username", {"name": "Ann", "email": "a@example.com"}, "User", {"password": PASSWORD}),
    ("groups", "groupId", {"name": "Staff", "description": "all"}, "Group", {}),
    ("roles", "roleId", {"name": "Clerk", "description": None}, "Role", {}),
    ("tenants", "tenantId", {"name": "Blue", "description": "x"}, "Tenant", {}),
    ("mapping-rules", "mappingRuleId", {"name": "R", "claimName": "c", "claimValue": "v"}, "MappingRule", {}),
]


@pytest.mark.parametrize(("path", "id", "values", "model", "secret"), KINDS, ids=[kind[0] for kind in KINDS])
async def test_the_life_of_an_entry(admin, path, id, values, model, secret):
    whole = {id: "ann-1", **values}
    made = await admin("POST", f"/{path}", whole | secret, 201)
    assert made.json == whole
    decode(f"{model}CreateResult", made.json)
    assert (await admin("POST", f"/{path}", whole | secret, 409)).problem["title"] == "ALREADY_EXISTS"
    found = (await admin("GET", f"/{path}/ann-1", status=200)).json
    assert found == whole
    decode(f"{model}Result", found)
    searched = (await admin("POST", f"/{path}/search", {"filter": {id: "ann-1"}}, 200)).json
    assert (searched["items"], searched["page"]["totalItems"]) == ([whole], 1)
    changed = values | {"name": "Other"}
    assert (await admin("PUT", f"/{path}/ann-1", changed, 200)).json == whole | changed
    assert (await admin("GET", f"/{path}/ann-1")).json == whole | changed
    await admin("DELETE", f"/{path}/ann-1", status=204)
    assert (await admin("DELETE", f"/{path}/ann-1", status=404)).problem["title"] == "NOT_FOUND"
    await admin("GET", f"/{path}/ann-1", status=404)
    await admin("PUT", f"/{path}/ann-1", changed, 404)


async def test_a_tenant_with_definitions_is_not_deleted(admin, rows):
    """A running instance has a definition that is not deleted."""
    await admin("POST", "/tenants", {"tenantId": "blue", "name": "Blue"}, 201)
    rows.definition(tenant_id="blue", state="DRAINING")
    refused = (await admin("DELETE", "/tenants/blue", status=409)).problem
    assert (refused["title"], "still has process definitions" in refused["detail"]) == ("INVALID_STATE", True)
    rows.execute("UPDATE process_definitions SET state = 'DELETED'")
    rows.form(tenant_id="blue")
    await admin("DELETE", "/tenants/blue", status=409)
    rows.execute("UPDATE forms SET state = 'DELETED'")
    rows.decision(tenant_id="blue")
    await admin("DELETE", "/tenants/blue", status=409)
    rows.execute("UPDATE decision_requirements SET state = 'DELETED'")
    rows.generic_resource(tenant_id="blue")
    await admin("DELETE", "/tenants/blue", status=409)
    rows.execute("UPDATE generic_resources SET state = 'DELETED'")
    await admin("DELETE", "/tenants/blue", status=204)


async def test_a_token_does_not_get_a_later_tenant_with_the_same_id(admin, people, secured, authenticator):
    token = bearer(people.token("worker", "worker", tenants=["blue", "<default>"]))

    async def tenants():
        me = await secured("GET", "/v2/authentication/me", headers=token)
        return [tenant["tenantId"] for tenant in me.json["tenants"]]

    blue = {"tenantId": "blue", "name": "Blue"}
    await admin("POST", "/tenants", blue, 201)
    assert await tenants() == ["<default>", "blue"]
    await admin("DELETE", "/tenants/blue", status=204)
    await admin("POST", "/tenants", blue, 201)
    authenticator.forget()  # what the notification does
    assert await tenants() == ["<default>"]


async def test_bodies_that_are_refused(admin):
    for path, body in [
        ("users", {"username": "ann"}),
        ("users", {"username": "ann", "password": "short"}),
        ("users", {"username": "a b", "password": PASSWORD}),
        ("users", {"password": PASSWORD}),
        ("users", {"username": "ann", "password": PASSWORD, "description": "x"}),
        ("users", {"username": "ann", "password": PASSWORD, "more": 1}),
        ("groups", {"groupId": "g"}),
        ("groups", {"groupId": "g", "name": "x" * 2000}),
        ("roles", {"roleId": "é", "name": "x"}),
        ("tenants", {"tenantId": "x" * 32, "name": "x"}),
        ("mapping-rules", {"mappingRuleId": "m", "name": "x", "claimName": "c"}),
        ("groups", b""),
    ]:
        answer = await admin("POST", f"/{path}", body, 400)
        assert PASSWORD not in str(answer.body)


async def test_a_password_is_stored_as_a_hash_and_can_be_changed(admin, rows):
    def stored():
        return rows.execute("SELECT password_hash FROM users WHERE username = 'ann'").fetchone()[0]

    await admin("POST", "/users", {"username": "ann", "password": PASSWORD}, 201)
    first = stored()
    assert verify(first, PASSWORD)
    await admin("PUT", "/users/ann", {"name": "A"}, 200)
    assert stored() == first
    await admin("PUT", "/users/ann", {"name": "A", "password": "another password"}, 200)
    assert verify(stored(), "another password")


async def test_built_in_entries_stay(admin):
    for path in ("/roles/admin", "/roles/viewer", "/tenants/<default>"):
        assert (await admin("PUT", path, {"name": "x"}, 409)).problem["title"] == "INVALID_STATE"
        await admin("DELETE", path, status=409)


async def test_a_claim_belongs_to_one_rule(admin):
    await admin("POST", "/mapping-rules", {"mappingRuleId": "a", "name": "A", "claimName": "c", "claimValue": "1"}, 201)
    other = {"mappingRuleId": "b", "name": "B", "claimName": "c", "claimValue": "1"}
    await admin("POST", "/mapping-rules", other, 409)
    await admin("POST", "/mapping-rules", other | {"claimValue": "2"}, 201)
    await admin("PUT", "/mapping-rules/b", {"name": "B", "claimName": "c", "claimValue": "1"}, 409)
    await admin("PUT", "/mapping-rules/b", {"name": "C", "claimName": "c", "claimValue": "2"}, 200)


class TestMembers:
    @pytest.mark.parametrize(
        ("container", "kinds"),
        [
            ("groups", ("users", "clients", "mapping-rules")),
            ("roles", ("users", "clients", "groups", "mapping-rules")),
            ("tenants", ("users", "clients", "groups", "roles", "mapping-rules")),
        ],
    )
    async def test_members_come_and_go(self, admin, container, kinds):
        await admin("POST", "/groups", {"groupId": "one", "name": "One"}, 201)
        await admin("POST", "/roles", {"roleId": "one", "name": "One"}, 201)
        await admin("POST", "/tenants", {"tenantId": "one", "name": "One"}, 201)
        rule = {"mappingRuleId": "one", "name": "R", "claimName": "c", "claimValue": "v"}
        await admin("POST", "/mapping-rules", rule, 201)
        shown = {
            "users": {"username": "one"},
            "clients": {"clientId": "one"},
            "groups": {"groupId": "one"},
            "roles": {"roleId": "one", "name": "One", "description": None},
            "mapping-rules": rule,
        }
        for kind in kinds:
            await admin("PUT", f"/{container}/one/{kind}/one", status=204)
            await admin("PUT", f"/{container}/one/{kind}/one", status=409)
            found = (await admin("POST", f"/{container}/one/{kind}/search", status=200)).json
            assert found["items"] == [shown[kind]]
        for kind in kinds:
            await admin("DELETE", f"/{container}/one/{kind}/one", status=204)
            await admin("DELETE", f"/{container}/one/{kind}/one", status=404)
            assert (await admin("POST", f"/{container}/one/{kind}/search", status=200)).json["items"] == []

    async def test_what_does_not_exist(self, admin):
        await admin("PUT", "/groups/none/users/ann", status=404)
        await admin("POST", "/groups/none/users/search", status=404)
        await admin("PUT", "/roles/viewer/groups/none", status=404)
        await admin("PUT", "/roles/viewer/users/a%20b", status=400)

    async def test_the_roles_of_a_group(self, admin):
        await admin("POST", "/groups", {"groupId": "staff", "name": "Staff"}, 201)
        await admin("PUT", "/roles/viewer/groups/staff", status=204)
        (role,) = (await admin("POST", "/groups/staff/roles/search", status=200)).json["items"]
        assert role["roleId"] == "viewer"

    async def test_a_deleted_entry_leaves_nothing_to_a_later_one(self, admin, rows):
        await admin("POST", "/groups", {"groupId": "staff", "name": "Staff"}, 201)
        await admin("PUT", "/groups/staff/users/ann", status=204)
        await admin("PUT", "/roles/viewer/groups/staff", status=204)
        grant = {"ownerId": "staff", "ownerType": "GROUP", "resourceId": "*", "resourceType": "USER"}
        await admin("POST", "/authorizations", grant | {"permissionTypes": ["READ"]}, 201)
        await admin("DELETE", "/groups/staff", status=204)
        assert (
            rows.execute("SELECT count(*) FROM members WHERE 'staff' IN (container_id, member_id)").fetchone()[0] == 0
        )
        assert rows.execute("SELECT count(*) FROM authorizations").fetchone()[0] == 0

    async def test_the_last_administrator_stays(self, admin):
        assert "last administrator" in (await admin("DELETE", "/users/root", status=409)).problem["detail"]
        await admin("DELETE", "/roles/admin/users/root", status=409)
        await admin("PUT", "/roles/admin/clients/robot", status=204)
        await admin("DELETE", "/users/root", status=204)


GRANT: dict[str, object] = {
    "ownerId": "ann",
    "ownerType": "USER",
    "resourceId": "order",
    "resourceType": "PROCESS_DEFINITION",
    "permissionTypes": ["READ_PROCESS_INSTANCE"],
}


OF_ASSIGNEE: dict[str, object] = {
    "resourceId": None,
    "resourcePropertyName": "assignee",
    "resourceType": "USER_TASK",
    "permissionTypes": ["READ"],
}


class TestGrants:
    async def test_the_life_of_a_grant(self, admin):
        made = await admin("POST", "/authorizations", GRANT, 201)
        key = made.json["authorizationKey"]
        decode("AuthorizationCreateResult", made.json)
        found = (await admin("GET", f"/authorizations/{key}", status=200)).json
        assert found == GRANT | {"authorizationKey": key, "resourcePropertyName": None}
        decode("AuthorizationResult", found)
        query = {"filter": {"ownerType": "USER", "resourceIds": ["order"]}, "sort": [{"field": "ownerId"}]}
        assert (await admin("POST", "/authorizations/search", query, 200)).json["items"] == [found]
        await admin("PUT", f"/authorizations/{key}", GRANT | {"resourceId": "*"}, 204)
        assert (await admin("GET", f"/authorizations/{key}")).json["resourceId"] == "*"
        await admin("DELETE", f"/authorizations/{key}", status=204)
        await admin("DELETE", f"/authorizations/{key}", status=404)
        await admin("PUT", f"/authorizations/{key}", GRANT, 404)

    async def test_grants_that_are_refused(self, admin):
        changes: list[dict[str, object]] = [
            {"ownerId": ""},
            {"ownerType": "UNSPECIFIED"},
            {"resourceType": "MOON"},
            {"permissionTypes": []},
            {"permissionTypes": ["DELETE"]},
            {"resourceId": ""},
            {"resourceId": "a*"},
            {"resourcePropertyName": "assignee"},
            {"resourceId": None, "resourcePropertyName": "assignee"},
            {"resourceType": "USER_TASK", "permissionTypes": ["READ"]},
            OF_ASSIGNEE | {"resourcePropertyName": "owner"},
            OF_ASSIGNEE | {"resourceId": "1"},
            OF_ASSIGNEE | {"permissionTypes": ["READ_USER_TASK"]},
        ]
        for change in changes:
            await admin("POST", "/authorizations", GRANT | change, 400)

    async def test_every_type_and_permission_of_the_api_can_be_granted(self, admin):
        """Also those of things that Vivero does not have yet: scripts that set up a cluster grant them."""
        for type in RESOURCE_TYPES:
            grant = GRANT | {"resourceType": type, "resourceId": "*", "permissionTypes": sorted(GRANTABLE[type])}
            key = (await admin("POST", "/authorizations", grant, 201)).json["authorizationKey"]
            found = (await admin("GET", f"/authorizations/{key}", status=200)).json
            decode("AuthorizationResult", found)
            assert found == grant | {"authorizationKey": key, "resourcePropertyName": None}
            await admin("PUT", f"/authorizations/{key}", grant | {"permissionTypes": ["ACCESS_NOTHING"]}, 400)

    @pytest.mark.parametrize(("name", "known"), [("ownerType", "UNSPECIFIED"), ("resourceType", "DOCUMENT")])
    async def test_a_search_by_type(self, admin, name, known):
        await admin("POST", "/authorizations", GRANT, 201)
        for value, status, count in ((GRANT[name], 200, 1), (known, 200, 0), ("MOON", 400, None)):
            found = await admin("POST", "/authorizations/search", {"filter": {name: value}}, status)
            assert count is None or len(found.json["items"]) == count

    async def test_a_grant_by_a_property(self, admin, people, secured, authenticator):
        key = (await admin("POST", "/authorizations", GRANT | OF_ASSIGNEE, 201)).json["authorizationKey"]
        found = (await admin("GET", f"/authorizations/{key}", status=200)).json
        assert found == GRANT | OF_ASSIGNEE | {"authorizationKey": key}
        decode("AuthorizationResult", found)
        await admin("POST", "/authorizations", GRANT, 201)
        query = {"filter": {"resourcePropertyNames": ["assignee"]}}
        assert (await admin("POST", "/authorizations/search", query, 200)).json["items"] == [found]
        people.user("ann")
        assert (await secured("POST", "/v2/user-tasks/search", headers=basic("ann"))).status == 200
        own = await secured("POST", "/v2/authentication/me/authorizations/search", query, basic("ann"))
        assert own.json["items"] == [found]
        await admin("PUT", f"/authorizations/{key}", GRANT, 204)
        assert (await admin("GET", f"/authorizations/{key}")).json["resourcePropertyName"] is None

    @pytest.mark.parametrize("kind", ["GROUP", "ROLE", "MAPPING_RULE"])
    async def test_an_unknown_owner_gets_no_grants_that_a_later_one_would_have(self, admin, kind):
        await admin("POST", "/authorizations", GRANT | {"ownerType": kind, "ownerId": "none"}, 404)
        key = (await admin("POST", "/authorizations", GRANT, 201)).json["authorizationKey"]
        await admin("PUT", f"/authorizations/{key}", GRANT | {"ownerType": kind, "ownerId": "none"}, 404)

    async def test_a_grant_takes_effect(self, admin, people, rows, secured, authenticator):
        rows.instance(process_id="order")
        token = bearer(people.token("reader"))
        search = "/v2/process-instances/search"
        assert (await secured("POST", search, headers=token)).status == 403
        await admin("POST", "/users", {"username": "ann", "password": PASSWORD}, 201)
        await admin("POST", "/authorizations", GRANT, 201)
        authenticator.forget()  # what the notification does
        answer = await secured("POST", search, headers=basic("ann"))
        assert (answer.status, answer.json["page"]["totalItems"]) == (200, 1)


async def test_others_are_not_administrators(people, secured, rows):
    people.user("dev", "developer", "operator", "viewer", "worker")
    for path, id, values, _model, secret in KINDS:
        assert (await secured("POST", f"/v2/{path}", {id: "x", **values, **secret}, basic("dev"))).status == 403
    assert (await secured("PUT", "/v2/roles/admin/users/dev", headers=basic("dev"))).status == 403
    assert rows.execute("SELECT count(*) FROM members WHERE container_id = 'admin'").fetchone()[0] == 0


# ------------------------------------------------------------------------------------------------ the caller's own


async def test_a_caller_finds_its_own_grants_and_those_of_its_built_in_roles(people, secured, rows, provider):
    people.user("vic", "viewer")
    people.member("GROUP", "staff", "USER", "vic")
    rows.put("mapping_rules", mapping_rule_id="m", name="m", claim_name="team", claim_value="blue")
    people.grant("GROUP", "staff", "PROCESS_DEFINITION", "order", "CREATE_PROCESS_INSTANCE")
    people.grant("MAPPING_RULE", "m", "MESSAGE", "paid", "CREATE")
    people.grant("USER", "somebody", "USER", "*", "DELETE")
    path = "/v2/authentication/me/authorizations/search"
    answer = await secured("POST", path, {"filter": {"resourceType": "PROCESS_DEFINITION"}}, basic("vic"))
    decode("OwnAuthorizationSearchResult", answer.json)
    assert answer.json["authorizationsEnabled"] is True
    assert [(item["ownerId"], item["resourceId"]) for item in answer.json["items"]] == [
        *[("viewer", "*"), ("staff", "order")]
    ]
    everything = (await secured("POST", path, headers=basic("vic"))).json
    assert {item["ownerId"] for item in everything["items"]} == {"viewer", "staff"}
    by_claim = (await secured("POST", path, headers=bearer(provider.token(sub="joe", team="blue")))).json
    assert [(item["ownerType"], item["resourceId"]) for item in by_claim["items"]] == [("MAPPING_RULE", "paid")]


async def test_built_in_roles_are_shown_with_what_they_may(people, secured):
    people.user("root", "admin")
    path = "/v2/authentication/me/authorizations/search"
    found = (await secured("POST", path, headers=basic("root"))).json["items"]
    assert {item["resourceType"]: set(item["permissionTypes"]) for item in found} == RESOURCES
    people.user("wendy", "worker")
    found = (await secured("POST", path, headers=basic("wendy"))).json["items"]
    shown = {Permission(item["resourceType"], each) for item in found for each in item["permissionTypes"]}
    assert shown == BUILT_IN["worker"]


async def test_without_authentication_nobody_has_grants(reader):
    answer = (await reader("POST", "/v2/authentication/me/authorizations/search")).json
    assert (answer["items"], answer["authorizationsEnabled"]) == ([], False)


# ------------------------------------------------------------------------------------------------------- the setup


async def test_the_first_administrator_over_the_api(reader, rows):
    body = {"username": "root", "password": PASSWORD, "name": "R"}
    rows.put("users", username="taken", password_hash="x")
    assert (await reader("POST", "/v2/setup/user", body | {"username": "taken"})).status == 409
    assert (await reader("POST", "/v2/setup/user", {"username": "root"})).status == 400
    made = await reader("POST", "/v2/setup/user", body)
    assert (made.status, made.json) == (201, {"username": "root", "name": "R", "email": None})
    members = rows.execute("SELECT container_id, member_id FROM members").fetchall()
    assert members == [("admin", "root")]
    again = await reader("POST", "/v2/setup/user", body | {"username": "second"})
    assert (again.status, again.problem["title"]) == (403, "FORBIDDEN")
    assert rows.execute("SELECT count(*) FROM members").fetchone() == (1,)


async def test_with_authentication_no_stranger_becomes_an_administrator(secured, rows):
    answer = await secured("POST", "/v2/setup/user", {"username": "root", "password": PASSWORD})
    assert answer.status == 403
    assert rows.execute("SELECT count(*) FROM users").fetchone() == (0,)


# -------------------------------------------------------------------------------------------------- the own password

NEW = "another password"


async def test_a_user_changes_its_own_password(people, secured, rows, authenticator):
    people.user("ann")
    rows.put("sessions", sha256=b"x", username="ann", provider="PASSWORD", expires_at="2200-01-01T00:00:00Z")
    path, body = "/v2/authentication/me/password", {"currentPassword": PASSWORD, "newPassword": NEW}
    for change, status in (
        ({"currentPassword": "wrong one"}, 403),
        ({"newPassword": "short"}, 400),
        ({"newPassword": None}, 400),
        ({}, 204),
    ):
        answer = await secured("PUT", path, body | change, basic("ann"))
        assert answer.status == status, answer.body
        assert PASSWORD not in str(answer.body)
    authenticator.forget()  # what the notification does
    assert (await secured("GET", "/v2/authentication/me", headers=basic("ann"))).status == 401
    assert (await secured("GET", "/v2/authentication/me", headers=basic("ann", NEW))).status == 200
    assert rows.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    records = rows.execute("SELECT actor_id, operation, result, entity_key FROM audit_log ORDER BY audit_log_key")
    assert records.fetchall() == [("ann", "UPDATE", "FAIL", ""), ("ann", "UPDATE", "SUCCESS", "ann")]


async def test_current_passwords_cannot_be_guessed(people, secured, monkeypatch):
    people.user("ann")
    assert (await secured("GET", "/v2/authentication/me", headers=basic("ann"))).status == 200
    monkeypatch.setattr("vivero.api.access.passwords.verify", lambda *_: False)
    body = {"currentPassword": "a guess", "newPassword": NEW}
    answers = [await secured("PUT", "/v2/authentication/me/password", body, basic("ann")) for _ in range(12)]
    assert [answer.status for answer in answers] == [403] * 10 + [429] * 2
    assert b"retry-after" in answers[-1].headers


async def test_who_has_no_password_cannot_change_it(people, secured, provider, reader):
    body = {"currentPassword": PASSWORD, "newPassword": NEW}
    people.user("worker")
    token = bearer(people.token("worker", "admin"))
    for answer in (
        await secured("PUT", "/v2/authentication/me/password", body, token),
        await secured("PUT", "/v2/authentication/me/password", body, bearer(provider.token(sub="joe"))),
        await reader("PUT", "/v2/authentication/me/password", body),
    ):
        assert (answer.status, answer.problem["title"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        *((method, "/users/a%20b", "username") for method in ("GET", "PUT", "DELETE")),
        ("GET", "/roles/a|b", "roleId"),
        ("GET", "/tenants/a@b", "tenantId"),
        ("GET", "/mapping-rules/ä", "mappingRuleId"),
        ("GET", "/users/" + "a" * 257, "username"),
        ("GET", "/users/a%20b/sessions", "username"),
        ("DELETE", "/users/a%20b/sessions", "username"),
        ("POST", "/groups/a%20b/users/search", "groupId"),
        ("DELETE", "/groups/g/users/a%20b", "username"),
        ("PUT", "/roles/r/clients/a%20b", "clientId"),
        ("GET", "/global-task-listeners/a%20b", "id"),
        ("DELETE", "/global-task-listeners/a%20b", "id"),
    ],
)
async def test_an_id_that_nothing_can_have_is_400(admin, method, path, name):
    body = {"name": "x"} if method == "PUT" and path.startswith("/users") else None
    answer = await admin(method, path, body, 400)
    assert answer.problem["title"] == "INVALID_ARGUMENT"
    assert f"The {name} '" in answer.problem["detail"]
