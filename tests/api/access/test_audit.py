"""Audit lines of administrative changes."""

import pytest
import structlog

from tests.api.access.conftest import PASSWORD, basic
from vivero.api.access.permissions import Permission
from vivero.api.routes import ROUTES

ADMINISTRATIVE = ("AUTHORIZATION", "GROUP", "MAPPING_RULE", "ROLE", "TENANT", "USER")


async def test_a_change_names_who_made_it(people, secured):
    people.user("root", "admin")
    body = {"username": "ann", "password": PASSWORD}
    with structlog.testing.capture_logs() as logged:
        assert (await secured("POST", "/v2/users", body, basic("root"))).status == 201
        assert (await secured("PUT", "/v2/roles/viewer/users/ann", headers=basic("root"))).status == 204
        assert (await secured("PUT", "/v2/roles/viewer/users/ann", headers=basic("root"))).status == 409
        assert (await secured("GET", "/v2/users/ann", headers=basic("root"))).status == 200
    lines = [entry for entry in logged if entry["event"] == "administrative change"]
    assert [(line["actor"], line["method"], line["path"]) for line in lines] == [
        ("root", "POST", "/v2/users"),
        ("root", "PUT", "/v2/roles/viewer/users/ann"),
    ]
    assert PASSWORD not in str(logged)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_administrative_change_is_audited(route):
    administrative = isinstance(route.needs, Permission) and route.needs.resource in ADMINISTRATIVE
    changes = administrative and route.needs.action != "READ"
    assert (route.handler.__qualname__ == "audited.<locals>.handle") == changes
