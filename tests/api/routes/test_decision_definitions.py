"""Decisions and decision requirements over HTTP: search, by key, XML; and who may delete them."""

from itertools import pairwise

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.routes.test_forms import Granted
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.core.records.catalogue import DeleteResource

FIRST, SECOND, OTHER = KEY + 17, KEY + 27, KEY + 37
XML = b'<?xml version="1.0"?><definitions/>'


@pytest.fixture
def decisions(rows):
    """Two versions of a decision, and another one of another tenant."""
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('dd', %s)", [XML])
    rows.decision(FIRST, version_tag="v1")
    rows.decision(SECOND, version=2)
    rows.decision(OTHER, decision_id="other", tenant_id="t")
    return rows


def definition(key, version, tag):
    return {
        "decisionDefinitionId": "rate",
        "name": "Rate",
        "version": version,
        "versionTag": tag,
        "decisionRequirementsId": "rate",
        "tenantId": "<default>",
        "decisionDefinitionKey": str(key),
        "decisionRequirementsKey": str(key + 1),
        "decisionRequirementsName": "Rates",
        "decisionRequirementsVersion": version,
    }


async def test_a_decision_by_key(decisions, reader):
    assert (await reader("GET", f"/v2/decision-definitions/{FIRST}")).json == definition(FIRST, 1, "v1")
    assert (await reader("GET", f"/v2/decision-definitions/{FIRST + 1}")).status == 404


async def test_decision_requirements_by_key(decisions, reader):
    assert (await reader("GET", f"/v2/decision-requirements/{SECOND + 1}")).json == {
        "decisionRequirementsName": "Rates",
        "decisionRequirementsId": "rate",
        "decisionRequirementsKey": str(SECOND + 1),
        "version": 2,
        "tenantId": "<default>",
        "resourceName": "rate.dmn",
    }
    assert (await reader("GET", f"/v2/decision-requirements/{SECOND}")).status == 404


@pytest.mark.parametrize("path", [f"decision-definitions/{FIRST}", f"decision-requirements/{FIRST + 1}"])
async def test_the_xml_is_the_deployed_file(decisions, reader, path):
    answer = await reader("GET", f"/v2/{path}/xml")
    assert (answer.status, answer.body, answer.headers[b"content-type"]) == (200, XML, b"text/xml")


@pytest.mark.parametrize(
    "path",
    [f"{kind}/{FIRST + place}{end}" for kind, place in (("decision-definitions", 0), ("decision-requirements", 1))
     for end in ("", "/xml")],
)  # fmt: skip
async def test_what_is_deleted_is_404(decisions, reader, path):
    decisions.execute("UPDATE decision_definitions SET state = 'DELETED'")
    decisions.execute("UPDATE decision_requirements SET state = 'DELETED'")
    assert (await reader("GET", f"/v2/{path}")).problem["title"] == "NOT_FOUND"
    kind = path.partition("/")[0]
    assert (await reader("POST", f"/v2/{kind}/search")).json["items"] == []


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({}, [FIRST, SECOND, OTHER]),
        ({"decisionDefinitionId": "rate"}, [FIRST, SECOND]),
        ({"isLatestVersion": True}, [SECOND, OTHER]),
        ({"isLatestVersion": False}, [FIRST]),
        ({"version": 2}, [SECOND]),
        ({"name": "Rate", "decisionRequirementsVersion": 1}, [FIRST, OTHER]),
        ({"decisionRequirementsName": "Rates", "tenantId": "t"}, [OTHER]),
        ({"decisionRequirementsId": "other"}, [OTHER]),
        ({"decisionDefinitionKey": str(FIRST)}, [FIRST]),
        ({"decisionRequirementsKey": str(SECOND + 1)}, [SECOND]),
    ],
)
async def test_filters_of_decisions(decisions, reader, filter, found):
    body = {"filter": filter, "sort": [{"field": "decisionDefinitionKey"}]}
    answer = await reader("POST", "/v2/decision-definitions/search", body)
    assert [item["decisionDefinitionKey"] for item in answer.json["items"]] == list(map(str, found))


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"decisionRequirementsId": "rate"}, [FIRST, SECOND]),
        ({"decisionRequirementsName": "Rates", "version": 1}, [FIRST, OTHER]),
        ({"resourceName": "rate.dmn", "tenantId": "t"}, [OTHER]),
        ({"decisionRequirementsKey": str(SECOND + 1)}, [SECOND]),
    ],
)
async def test_filters_of_decision_requirements(decisions, reader, filter, found):
    body = {"filter": filter, "sort": [{"field": "decisionRequirementsKey"}]}
    answer = await reader("POST", "/v2/decision-requirements/search", body)
    assert [item["decisionRequirementsKey"] for item in answer.json["items"]] == [str(key + 1) for key in found]


DEFINITION_SORTS = (
    *("decisionDefinitionKey", "decisionDefinitionId", "name", "version", "decisionRequirementsId"),
    *("decisionRequirementsKey", "decisionRequirementsName", "decisionRequirementsVersion", "tenantId"),
)
REQUIREMENTS_SORTS = (
    "decisionRequirementsKey",
    "decisionRequirementsName",
    "version",
    "decisionRequirementsId",
    "tenantId",
)


@pytest.mark.parametrize(
    ("path", "field"),
    [("decision-definitions", field) for field in DEFINITION_SORTS]
    + [("decision-requirements", field) for field in REQUIREMENTS_SORTS],
)
async def test_sorts_in_pages(decisions, reader, path, field):
    found, after = [], {}
    while True:
        body = {"sort": [{"field": field, "order": "DESC"}], "page": {"limit": 2} | after}
        answer = (await reader("POST", f"/v2/{path}/search", body)).json
        if not answer["items"]:
            break
        found += [item[field] for item in answer["items"]]
        after = {"after": answer["page"]["endCursor"]}
    assert len(found) == 3
    assert all(one >= other for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("access", "allowed"),
    [
        (Granted("DELETE_DRD"), True),
        (Granted("DELETE_DRD", id="rate"), True),
        (Granted("DELETE_DRD", id="other"), False),
        (Granted("DELETE_PROCESS", "DELETE_FORM"), False),
        (Granted("DELETE_PROCESS", "DELETE_FORM", "DELETE_DRD"), True),
    ],
    ids=["all", "this one", "another one", "processes and forms", "everything"],
)
async def test_a_permission_of_its_own_deletes_decisions(decisions, stored, engine, access, allowed):
    client = Client(api_app.build(changed(stored, access=access)))
    answer = await client("POST", f"/v2/resources/{FIRST + 1}/deletion")
    assert answer.status == (200 if allowed else 403)
    assert [item.command for item in engine.appended] == [DeleteResource(FIRST + 1)] * allowed
