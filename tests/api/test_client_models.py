"""Answers as the official Python client decodes them: it raises for a missing field and for an unknown value."""

from importlib import import_module

import pytest

from tests import client_code
from tests.api.official import decode
from vivero.client.typed.queries import RecordQuery
from vivero.core.dispatch import ELEMENTS
from vivero.core.records.catalogue import DeployedProcess, DeploymentReply
from vivero.core.records.instances import InstanceReply
from vivero.storage.search.element_instances import API_TYPES

KEY = 2251799813685249
PROCESS = b"""<?xml version="1.0"?><definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
<process id="order" isExecutable="true"><startEvent id="s"/></process></definitions>"""


@pytest.fixture
def everything(rows):
    """One row of everything, with as many nulls as there can be."""
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('aa', '<xml/>')")
    rows.definition()
    rows.instance()
    rows.element()
    rows.variable()
    rows.job()
    rows.incident()


OURS = {
    "IncidentResult": {"causeHashCode"},
    "ProcessDefinitionResult": {"deploymentKey", "deploymentDate"},
    "ProcessInstanceResult": {"dueDate", "lateDate", "suspensionReason"},
}
"""Fields that only Vivero has (docs/rest-api.md). Clients keep them aside."""


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v2/topology", "TopologyResponse"),
        ("/v2/license", "LicenseResponse"),
        ("/v2/authentication/me", "CamundaUserResult"),
        (f"/v2/process-definitions/{KEY}", "ProcessDefinitionResult"),
        (f"/v2/process-instances/{KEY}", "ProcessInstanceResult"),
        (f"/v2/element-instances/{KEY + 1}", "ElementInstanceResult"),
        (f"/v2/variables/{KEY + 2}", "VariableResult"),
        (f"/v2/incidents/{KEY + 4}", "IncidentResult"),
    ],
)
async def test_what_is_read(everything, reader, path, model):
    answer = await reader("GET", path)
    assert answer.status == 200, answer.body
    decoded = decode(model, answer.json)
    assert set(getattr(decoded, "additional_properties", ())) == OURS.get(model, set())


@pytest.mark.parametrize(
    ("path", "model", "item"),
    [
        ("/v2/process-definitions/search", "ProcessDefinitionSearchQueryResult", "ProcessDefinitionResult"),
        ("/v2/process-instances/search", "ProcessInstanceSearchQueryResult", "ProcessInstanceResult"),
        ("/v2/element-instances/search", "ElementInstanceSearchQueryResult", "ElementInstanceResult"),
        ("/v2/variables/search", "VariableSearchQueryResult", "VariableSearchResult"),
        ("/v2/jobs/search", "JobSearchQueryResult", "JobSearchResult"),
        ("/v2/incidents/search", "IncidentSearchQueryResult", "IncidentResult"),
        (f"/v2/process-instances/{KEY}/incidents/search", "IncidentSearchQueryResult", "IncidentResult"),
        (f"/v2/element-instances/{KEY + 1}/incidents/search", "IncidentSearchQueryResult", "IncidentResult"),
    ],
)
async def test_what_is_searched(everything, reader, path, model, item):
    answer = await reader("POST", path)
    assert answer.status == 200, answer.body
    document = answer.json
    assert len(decode(model, document).items) == 1
    decode(item, document["items"][0])
    page = document["page"]
    assert page["startCursor"] == page["endCursor"] is not None
    assert (page["totalItems"], page["hasMoreTotalItems"]) == (1, False)


@pytest.mark.parametrize("search", client_code.searches(), ids=lambda one: one.method)
async def test_what_our_own_client_finds(everything, reader, search):
    """Its records are strict about nulls, as type checkers tell their users."""
    record = getattr(import_module(f"vivero.client.records.{search.module}"), f"{search.name}Record")
    query = RecordQuery(f"{search.path}/search", record, {})
    answer = await reader("POST", query.path, query.request().body)
    found = query.page(answer.body)
    assert len(found.items) == answer.json["page"]["totalItems"]
    if search.method in ("instances", "elements", "variables", "jobs", "incidents", "definitions"):
        assert len(found.items) == 1


async def test_what_is_activated(everything, reader):
    answer = await reader(
        "POST", "/v2/jobs/activation", {"type": "work", "timeout": 1000, "maxJobsToActivate": 1, "withLease": True}
    )
    (job,) = decode("JobActivationResult", answer.json).jobs
    assert job.job_key == str(KEY + 3)
    decode("ActivatedJobResult", answer.json["jobs"][0])


async def test_what_is_created(client, engine):
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 1, "<default>", (), None)
    answer = await client("POST", "/v2/process-instances", {"processDefinitionId": "order"})
    assert decode("CreateProcessInstanceResult", answer.json).process_instance_key == str(KEY + 1)


async def test_what_is_deployed(reader, engine):
    engine.reply = DeploymentReply(KEY, "<default>", (DeployedProcess("order", 1, "a.bpmn", "<default>", KEY + 1),))
    body = (
        b'--b\r\nContent-Disposition: form-data; name="resources"; filename="a.bpmn"\r\n\r\n'
        + PROCESS
        + b"\r\n--b--\r\n"
    )
    answer = await reader("POST", "/v2/deployments", body, [(b"content-type", b"multipart/form-data; boundary=b")])
    assert answer.status == 200, answer.body
    (deployed,) = decode("DeploymentResult", answer.json).deployments
    assert deployed.process_definition.process_definition_key == str(KEY + 1)


async def test_what_is_evaluated(reader):
    answer = await reader("POST", "/v2/expression/evaluation", {"expression": "=x + y", "variables": {"x": 1, "y": 2}})
    assert decode("ExpressionEvaluationResult", answer.json).result == 3


async def test_what_goes_wrong(client):
    answer = await client("GET", "/v2/process-instances/meow")
    decoded = decode("ProblemDetail", answer.json)
    assert (decoded.status, decoded.title) == (400, "Bad Request")
    assert decoded.detail == "Failed to convert 'processInstanceKey' with value: 'meow'"


@pytest.mark.parametrize("type_", ELEMENTS)
async def test_every_type_of_an_element_is_one_that_the_client_knows(rows, reader, type_):
    rows.element(element_type=type_)
    answer = await reader("GET", f"/v2/element-instances/{KEY + 1}")
    assert str(decode("ElementInstanceResult", answer.json).type_) == API_TYPES.get(type_, type_)
