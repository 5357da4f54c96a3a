"""Alert rules over HTTP: who may make them for what, what is refused, and other tenants."""

import pytest

from tests.api.access.conftest import basic
from tests.api.access.test_saved_views import As
from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app as api_app
from vivero.api.routes import alert_rules as routes

PATH = "/v2/alert-rules"
BY_KEY = f"{PATH}/{{alertRuleKey}}"
ROUTES = {f"POST {PATH}", f"PATCH {BY_KEY}", f"DELETE {BY_KEY}", f"POST {BY_KEY}/test"}
NAME = "<img src=x onerror=alert(1)> \u202e ñ"
RULE = {"name": NAME, "metric": "INCIDENTS", "threshold": 5, "url": "https://example.org/hook?a=1"}


async def found(client, who=None):
    return (await client("POST", f"{PATH}/search", {}, basic(who) if who else ())).json["items"]


async def test_a_rule_is_saved_replaced_muted_tested_and_deleted(reader, rows):
    made = await reader("POST", PATH, RULE)
    more = {"processDefinitionId": "order", "clearsAt": 2, "interval": "PT1M", "secret": "ALERTS"}
    again = await reader("POST", PATH, RULE | more)
    assert (made.status, again.json) == (200, made.json)
    key = made.json["alertRuleKey"]
    [rule] = await found(reader)
    expected = RULE | {"processDefinitionId": "order", "clearsAt": 2, "everySeconds": 60, "secret": "ALERTS"}
    expected |= {"alertRuleKey": key, "isRaised": False, "value": None, "error": None, "mutedUntil": None}
    assert {name: rule[name] for name in expected} == expected
    until = "2030-01-01T00:00:00.000Z"
    assert (await reader("PATCH", f"{PATH}/{key}", {"mutedUntil": until})).status == 204
    assert [(await reader("POST", f"{PATH}/{key}/test")).status for _ in range(2)] == [204, 409]
    [rule] = await found(reader)
    assert (rule["mutedUntil"], rule["deliveryKind"], rule["deliveryState"]) == (until, "TEST", "PENDING")
    assert (await reader("PATCH", f"{PATH}/{key}", {"mutedUntil": None})).status == 204
    assert (await found(reader))[0]["mutedUntil"] is None
    assert [(await reader("DELETE", f"{PATH}/{key}")).status for _ in range(2)] == [204, 404]
    assert await found(reader) == []
    assert (await reader("POST", PATH, RULE | {"url": None, "toOutbox": True})).status == 200
    [rule] = await found(reader)
    assert (rule["url"], rule["toOutbox"]) == (None, True)


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"name": " "}, "No name provided"),
        ({"name": "x" * 101}, "must not be longer than 100"),
        ({"metric": "LOAD"}, "metric"),
        ({"threshold": None}, "No threshold provided"),
        ({"threshold": -1}, "threshold"),
        ({"threshold": 10**12}, "threshold"),
        ({"clearsAt": 6}, "clearsAt"),
        ({"interval": "PT59S"}, "between PT1M and P1D"),
        ({"interval": "P1M"}, "years or months"),
        ({"interval": "soon"}, "interval"),
        *(
            ({"url": url}, "url")
            for url in (
                *("", "ftp://example.org", "https://", "//example.org", "https://a:b@example.org", "javascript:1"),
                *("https://exa mple.org", "https://example.org\r\nX: y", "https://example.org:99999", "x" * 2001),
            )
        ),
        ({"secret": "x" * 101}, "must not be longer than 100"),
        ({"tenantId": "a"}, "multi-tenancy is disabled"),
        ({"every": 5}, "every"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_is_refused_names_the_field(reader, more, detail):
    answer = await reader("POST", PATH, RULE | more)
    assert (answer.status, detail in answer.problem["detail"]) == (400, True), answer.body


@pytest.mark.parametrize("body", [{}, {"mutedUntil": "later"}])
async def test_a_mute_needs_a_time(reader, body):
    key = (await reader("POST", PATH, RULE)).json["alertRuleKey"]
    answer = await reader("PATCH", f"{PATH}/{key}", body)
    assert (answer.status, "mutedUntil" in answer.problem["detail"]) == (400, True)


async def test_rules_are_for_people_who_may_deploy_and_read_the_figure(secured, people, rows):
    """A rule calls a URL, as a deployed model may, and it tells a figure."""
    for name, role in (("ada", "developer"), ("vera", "viewer")):
        people.user(name, role)
    people.user("dora")
    people.grant("USER", "dora", "RESOURCE", "*", "CREATE")
    people.grant("USER", "dora", "PROCESS_DEFINITION", "order", "READ_PROCESS_INSTANCE")
    order, pay = (
        RULE | {"processDefinitionId": "order", "name": "o"},
        RULE | {"processDefinitionId": "pay", "name": "p"},
    )
    statuses = {
        who: [(await secured("POST", PATH, body, basic(who))).status for body in (order, pay, RULE)]
        for who in ("vera", "dora", "ada")
    }
    assert statuses == {"vera": [403] * 3, "dora": [200, 403, 403], "ada": [200] * 3}
    replaced = [
        (await secured("POST", PATH, order | {"name": name}, basic("dora"))).status for name in ("p", NAME, "o")
    ]
    assert replaced == [403, 403, 200], "a rule that one may not delete cannot be replaced"
    processes = rows.execute("SELECT process_id FROM alert_rules ORDER BY process_id").fetchall()
    assert processes == [("",), ("order",), ("pay",)]
    keys = {rule["name"]: rule["alertRuleKey"] for rule in await found(secured, "vera")}
    assert sorted(keys) == sorted(["o", "p", NAME])
    for who, key, status in (("vera", "o", 403), ("dora", "p", 403), ("dora", NAME, 403), ("dora", "o", 204)):
        path = f"{PATH}/{keys[key]}"
        for method, rest, body in (("PATCH", "", {"mutedUntil": None}), ("POST", "/test", None), ("DELETE", "", None)):
            assert (await secured(method, path + rest, body, basic(who))).status == status, (who, key, method)
    records = str(rows.execute("SELECT a::text FROM audit_log a").fetchall())
    assert f"POST {PATH}" in records
    assert "example.org" not in records


async def test_their_number_is_limited(reader, monkeypatch):
    monkeypatch.setattr(routes, "MOST_RULES", 2)
    statuses = [(await reader("POST", PATH, RULE | {"name": name})).status for name in "abcab"]
    assert statuses == [200, 200, 409, 200, 200]


async def test_a_rule_of_another_tenant_is_an_unknown_rule(stored, rows):
    both, one = (
        Client(api_app.build(changed(stored, access=As(*tenants), multi_tenancy=True))) for tenants in ("ab", "b")
    )
    assert (await both("POST", PATH, RULE | {"tenantId": "a"})).status == 409, "the tenant is not there"
    for tenant in "ab":
        rows.put("tenants", tenant_id=tenant, name=tenant)
    keys = [(await both("POST", PATH, RULE | {"tenantId": tenant})).json["alertRuleKey"] for tenant in "ab"]
    assert [(await one("POST", PATH, RULE | more)).status for more in ({"tenantId": "a"}, {})] == [403, 400]
    for method, rest, body in (("PATCH", "", {"mutedUntil": None}), ("POST", "/test", None), ("DELETE", "", None)):
        answers = [(await one(method, f"{PATH}/{key}{rest}", body)).status for key in keys]
        assert answers == [404, 204], method
    assert rows.execute("SELECT tenant_id FROM alert_rules").fetchall() == [("a",)]
