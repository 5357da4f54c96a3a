"""No route ignores a dry run, a condition or a parameter that its client relies on (api/routes/modifiers.py)."""

import re
from collections import defaultdict

import pytest

from tests.api.routes.test_snapshots import CHANGES as CONDITIONAL
from tests.api.rows import KEY
from vivero.api.routes import ROUTES

PATHS = defaultdict(lambda: str(KEY))
OWN = [one for one in ROUTES if not one.owns_query]
CHANGES = [one for one in OWN if one.changes]
READS = [one for one in OWN if not one.changes]


@pytest.fixture
def refused(client, engine):
    async def ask(route, query, headers=()):
        """The detail of the 400 that a request gets, which has no effect."""
        answer = await client(route.method, f"{route.path.format_map(PATHS)}{query}", b"{}", list(headers))
        assert (answer.status, engine.appended) == (400, [])
        return answer.problem["detail"]

    return ask


async def test_changes_refuse_what_they_would_ignore(refused):
    """Each of these would happen otherwise. No route has any storage here: the refusal comes first."""
    for route in CHANGES:
        for name in ("dryrun", "dry_run", "x"):
            unknown = f"This operation has no query parameter '{name}'. Nothing has happened."
            assert await refused(route, f"?{name}=1") == unknown, route
        assert await refused(route, "?wait=true&wait=true") == "The query parameter 'wait' is given 2 times", route
        assert await refused(route, "?wait=soon") == "Failed to convert 'wait' with value: 'soon'", route
        if not route.has_dry_run:
            assert await refused(route, "?dryRun=true") == "This operation has no dry run. Nothing has happened.", route
        for name in ("If-None-Match",) if route.is_conditional else ("If-Match", "If-None-Match"):
            for value in (b'"7"', b"*"):
                detail = await refused(route, "", [(name.lower().encode(), value)])
                assert detail == f"This operation has no condition {name}. Nothing has happened.", route


async def test_routes_that_read_refuse_repeated_parameters(refused):
    """Another program on the way may have read another value. They ignore unknown parameters, as Camunda does."""
    for route in READS:
        detail = await refused(route, "?timeout=30&timeout=40s&x=1")
        assert detail == "The query parameter 'timeout' is given 2 times", route


def test_each_conditional_route_is_tried():
    """`test_every_change_can_be_conditional` sees that their commands have the condition; test_undos has the undo, and
    test_model_drafts the versions of drafts."""
    tried = {(method, re.sub("[0-9]{2,}|7", "{}", path)) for method, path, _ in CONDITIONAL}
    tried |= {("POST", "/v2/process-instances/{}/undo"), ("PUT", "/v2/model-drafts/{}")}
    assert tried == {(one.method, re.sub(r"\{\w+\}", "{}", one.path)) for one in ROUTES if one.is_conditional}


async def test_the_lease_of_a_job_has_no_condition(client, engine):
    """A lease is no part of its tree: its end would move whatever the version is."""
    body = {"changeset": {"timeout": 1000, "retries": 3}}
    answer = await client("PATCH", f"/v2/jobs/{KEY}", body, [(b"if-match", b'"7"')])
    assert (answer.status, engine.appended) == (400, [])
    assert answer.problem["detail"] == "The timeout of a job has no condition If-Match. Nothing has happened."
