"""Grants that a newer version has written, during a rolling upgrade: what this version does not know gives nothing."""

import pytest

from tests.api.access.conftest import bearer
from tests.api.access.test_matrix import target
from vivero.api.callers.permissions import RESOURCES, Permission
from vivero.api.routes import ROUTES

KNOWN = {"resource_type": "PROCESS_DEFINITION", "resource_id": "*", "permission_types": ["READ_PROCESS_INSTANCE"]}
OF_TASKS = {"resource_type": "USER_TASK", "resource_id": None, "permission_types": sorted(RESOURCES["USER_TASK"])}
SEARCH = "/v2/process-instances/search"
PROTECTED = [route for route in ROUTES if isinstance(route.needs, Permission)]
UNKNOWN = {
    "type": KNOWN | {"resource_type": "MOON"},
    "action": KNOWN | {"permission_types": ["FLY"]},
    "action of another type": KNOWN | {"permission_types": ["DELETE_PROCESS"]},
    "property": OF_TASKS | {"resource_property_name": "owner"},
    "property of another type": KNOWN | {"resource_id": None, "resource_property_name": "assignee"},
    "condition": KNOWN | {"only_if": "weekday"},
}


@pytest.fixture
def newer(rows):
    """The schema of a newer version, whose grants may have a condition."""
    rows.execute("ALTER TABLE authorizations ADD COLUMN only_if text, ADD COLUMN note text")
    return rows


@pytest.mark.parametrize("unknown", UNKNOWN)
async def test_what_is_unknown_gives_nothing(newer, people, secured, unknown):
    token = people.token("worker", "reader")
    newer.put("roles", role_id="reader", name="Reader")
    newer.put("authorizations", owner_type="ROLE", owner_id="reader", **UNKNOWN[unknown])
    for route in PROTECTED:
        answer = await secured(route.method, target(route), b"{", bearer(token))
        assert answer.status == 403, route


async def test_a_known_grant_beside_it_counts(newer, people, secured):
    token = people.token("worker", "reader")
    newer.put("roles", role_id="reader", name="Reader")
    for grant in (*UNKNOWN.values(), KNOWN):
        newer.put("authorizations", owner_type="ROLE", owner_id="reader", **grant)
    assert (await secured("POST", SEARCH, headers=bearer(token))).status == 200


async def test_a_column_without_a_value_takes_nothing_away(newer, people, secured):
    token = people.token("worker", "reader")
    newer.put("roles", role_id="reader", name="Reader")
    newer.put("authorizations", owner_type="ROLE", owner_id="reader", **KNOWN)
    assert (await secured("POST", SEARCH, headers=bearer(token))).status == 200
