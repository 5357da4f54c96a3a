"""The tools: their schemas, the requests that they make, and what agents see of the answers."""

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import msgspec
import pytest
import trio
from structlog.testing import capture_logs

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.held_compute import HeldCompute
from tests.api.mcp.conftest import Agent
from tests.api.routes.test_deployments import TYPE as MULTIPART
from tests.api.routes.test_deployments import body as multipart
from tests.api.routes.test_deployments import part
from tests.api.rows import KEY
from tests.core.models import end, process, start, task
from tests.engine.dry_runs.here import Here
from tests.eventually import eventually
from vivero.api import app as api_app
from vivero.api.commands.inner_requests import InnerRequest, InnerRequests
from vivero.api.http.problems import Problem
from vivero.api.http.request import RELEASE, Request
from vivero.api.http.response import Response
from vivero.api.mcp import server
from vivero.api.mcp.cluster_tools import CLUSTER_TOOLS
from vivero.api.mcp.own_tools import OWN_TOOLS
from vivero.api.mcp.tools import Call, Place, composed
from vivero.api.routes import ROUTES
from vivero.core.records.instances import ResolveIncident
from vivero.core.records.jobs import UpdateJob
from vivero.library.simulation import run as simulate
from vivero.storage.postgres.errors import ConnectionLost

CAMUNDA = (
    *("getClusterStatus", "getTopology", "searchIncidents", "getIncident", "resolveIncident"),
    *("searchProcessDefinitions", "getProcessDefinition", "getProcessDefinitionXml", "searchProcessInstances"),
    *("getProcessInstance", "createProcessInstance", "searchUserTasks", "getUserTask", "completeUserTask"),
    *("assignUserTask", "searchUserTaskVariables", "searchVariables", "getVariable"),
)
MODEL = process(start(), task("work"), end(), "start > work > end").decode()
LONG_MODEL = (MODEL + "<!-- long -->" * 500).encode()
"""Too long to be read on the event loop."""
TASK = {"userTaskKey": str(KEY)}
BY_NAME = {tool.name: tool for tool in (*CLUSTER_TOOLS, *OWN_TOOLS)}


def request_of(tool, **arguments):
    return composed(BY_NAME[tool], {name: msgspec.Raw(json.dumps(each).encode()) for name, each in arguments.items()})


def test_the_tools_have_camundas_names():
    assert tuple(tool.name for tool in CLUSTER_TOOLS) == CAMUNDA


@pytest.mark.parametrize("tool", BY_NAME.values(), ids=lambda tool: tool.name)
def test_each_tool_is_a_route_and_says_what_it_takes(tool):
    routes = {(route.method, route.path): route for route in ROUTES}
    route = routes[tool.route]
    in_path = {each.name for each in tool.parameters if each.place is Place.PATH}
    assert all(f"{{{name}}}" in route.path for name in in_path)
    assert route.path.count("{") == len(in_path)
    document = tool.document()
    assert document["description"]
    assert document["annotations"]["readOnlyHint"] is not tool.changes
    assert set(document["inputSchema"].get("required", ())) <= document["inputSchema"]["properties"].keys()


def test_a_call_becomes_a_request():
    inner = request_of("completeUserTask", userTaskKey="5", variables={"price": 0.1}, action="ok")
    assert (inner.method, inner.path, inner.query) == ("POST", "/v2/user-tasks/5/completion", "")
    assert inner.body == b'{"variables":{"price": 0.1},"action":"ok"}'
    inner = request_of("searchUserTaskVariables", userTaskKey=5, truncateValues=False)
    assert (inner.path, inner.query) == ("/v2/user-tasks/5/variables/search", "truncateValues=false")


def test_a_part_of_a_path_stays_one_part():
    assert request_of("getIncident", incidentKey="../users?x=1#").path == "/v2/incidents/..%2Fusers%3Fx%3D1%23"
    with pytest.raises(Problem):
        request_of("getIncident", incidentKey=["1"])


async def test_a_search_shows_twenty_unless_more_are_wanted(reader, rows):
    for n in range(45):
        rows.instance(key=KEY + n)
    found, failed = await Agent(reader).use("searchProcessInstances", filter={"state": "ACTIVE"})
    assert (len(found["items"]), failed) == (20, False)
    for size in (20, 5):
        found, _ = await Agent(reader).use("searchProcessInstances", page={"after": found["page"]["endCursor"]})
        assert len(found["items"]) == size
    for page, size in ((None, 20), ({"limit": 30}, 30)):
        found, _ = await Agent(reader).use("searchProcessInstances", page=page)
        assert len(found["items"]) == size
    found, failed = await Agent(reader).use("searchProcessInstances", page=[])
    assert failed
    assert "'page'" in found["detail"]
    found, failed = await Agent(reader).use("searchProcessInstances", filter={"colour": 1})
    assert failed
    assert "colour" in found["detail"]


async def test_a_job_without_retries_gets_one_before_its_incident_is_resolved(reader, rows, engine):
    rows.instance()
    rows.job(retries=0)
    rows.incident(job_key=KEY + 3)
    job = (await reader("POST", "/v2/jobs/search", {})).json["items"][0]["jobKey"]
    incident = (await reader("POST", "/v2/incidents/search", {})).json["items"][0]
    assert incident["jobKey"] == job
    done, failed = await Agent(reader).use("resolveIncident", incidentKey=incident["incidentKey"])
    assert (done, failed) == ({"status": "done"}, False)
    update, resolution = (item.command for item in engine.appended)
    assert isinstance(update, UpdateJob)
    assert (update.key, update.retries) == (int(job), 1)
    assert isinstance(resolution, ResolveIncident)
    rows.execute("UPDATE jobs SET retries = 2")
    await Agent(reader).use("resolveIncident", incidentKey=incident["incidentKey"])
    assert [type(item.command) for item in engine.appended[2:]] == [ResolveIncident]


async def test_a_tool_ends_when_its_agent_leaves(client, services, engine, nursery, monkeypatch):
    monkeypatch.setattr("vivero.api.commands.submission.UNWATCHED_S", 0)
    client.app = api_app.build(changed(services, settings=replace(services.settings, response_timeout_s=3600)))
    engine.silent = True
    answers = []

    async def complete():
        answers.append(await Agent(client).send("tools/call", {"name": "completeUserTask", "arguments": TASK}))

    nursery.start_soon(complete)
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert (answers, len(engine.appended)) == ([], 1)
    client.gone.set()
    await eventually(lambda: answers)
    assert answers == [None]


async def test_a_call_that_waits_lets_its_body_go():
    sent, inner = [], InnerRequests()

    async def send(message):
        sent.append(message)

    async def answer(scope, receive, send):
        assert RELEASE in scope["extensions"]
        assert (await receive())["body"] == b"{}"
        await send({"type": RELEASE})
        return Response(200)

    inner.connect(answer)
    outer = Request("POST", "/mcp/cluster", [], b"x" * 100, send=send)
    call = Call("t", {"a": msgspec.Raw(b"1")}, outer, SimpleNamespace(inner=inner))
    request = InnerRequest("POST", "/v2/process-instances", b"{}")
    assert (await call.send(request)).status == 200
    assert sent == [{"type": RELEASE}]
    assert (outer.body, call.arguments, request.body) == (b"", {}, b"")


async def test_a_bug_in_a_tool_is_an_error_of_the_protocol_and_logged(agent, monkeypatch):
    def checked(*_arguments):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(server, "checked", checked)
    with capture_logs() as lines:
        answer = await agent.send("tools/call", {"name": "getTopology"})
    text = "A bug stopped the tool 'getTopology'; the log has it"
    assert (answer.status, answer.json["error"]) == (200, {"code": -32603, "message": text})
    (line,) = [line for line in lines if line["log_level"] == "error"]
    assert (line["event"], line["tool"]) == ("a tool failed", "getTopology")


async def test_an_outage_of_a_tool_is_the_servers(agent, monkeypatch):
    def checked(*_arguments):
        raise ConnectionLost("gone")

    monkeypatch.setattr(server, "checked", checked)
    answer = await agent.send("tools/call", {"name": "getTopology"})
    assert answer.status == 503


@pytest.fixture
def designer(services):
    """An agent of a server that computes here."""
    return Agent(Client(api_app.build(changed(services, compute=Here(), simulate=simulate))))


async def test_files_are_checked_without_being_deployed(designer, engine):
    files = [{"name": "a.bpmn", "content": MODEL}]
    found, failed = await designer.use("validateResources", resources=files)
    assert (found, failed) == ({"valid": True, "problems": [], "warnings": []}, False)
    files = [{"name": "a.bpmn", "content": MODEL.replace("sourceRef", "sourceref", 1)}]
    found, failed = await designer.use("validateResources", resources=files)
    assert (found["valid"], failed) == (False, False)
    assert found["problems"][0].startswith("'a.bpmn'")
    assert engine.appended == []
    for wrong in ([], [{"name": "", "content": ""}], [{"name": "a.bpmn"}], "a.bpmn"):
        _, failed = await designer.use("validateResources", resources=wrong)
        assert failed


async def test_a_tool_with_a_wrong_name_is_a_warning(designer):
    named = '<zeebe:properties><zeebe:property name="io.camunda.tool:name" value="order pizza"/></zeebe:properties>'
    plain = '<startEvent id="start">'
    content = MODEL.replace(plain, f"{plain}<extensionElements>{named}</extensionElements>")
    assert content != MODEL
    found, _ = await designer.use("validateResources", resources=[{"name": "a.bpmn", "content": content}])
    assert "its name 'order pizza'" in found["warnings"][0]


async def test_a_deployment_asks_first(designer, engine):
    files = [{"name": 'a"b.bpmn', "content": MODEL}]
    asked, failed = await designer.use("deployResources", resources=files)
    assert (asked["deployed"], asked["valid"], failed) == (False, True, False)
    other = [{"name": "b.bpmn", "content": MODEL}]
    refused, failed = await designer.use("deployResources", resources=other, confirmation=asked["confirmation"])
    assert failed
    assert "other files" in refused["detail"]
    assert engine.appended == []


async def test_deployed_files_keep_their_names(stored, engine):
    designer = Agent(Client(api_app.build(changed(stored, compute=Here()))))
    names = ['a"b.bpmn', "100%25.bpmn", "größe; x=\\.bpmn", "=?utf-8?q?a?=.bpmn"]
    models = [process(start(), end(), "start > end", id=f"p{n}").decode() for n in range(len(names))]
    files = [{"name": name, "content": model} for name, model in zip(names, models, strict=True)]
    asked, _ = await designer.use("deployResources", resources=files)
    await designer.use("deployResources", resources=files, confirmation=asked["confirmation"])
    (item,) = engine.appended
    assert [resource.name for resource in item.command.resources] == names


async def test_a_model_is_simulated(designer):
    files = [{"name": "a.bpmn", "content": MODEL}]
    report, failed = await designer.use("simulateProcess", resources=files, jobs={"work": {"variables": {"ok": True}}})
    assert (report["state"], report["variables"], failed) == ("COMPLETED", {"ok": True}, False)
    problem, failed = await designer.use("simulateProcess", resources=[{"name": "a.bpmn", "content": "<a/>"}])
    assert failed
    assert "a.bpmn" in problem["detail"]


@pytest.mark.parametrize(
    ("tool", "path", "body", "headers"),
    [
        ("validateResources", "/v2/deployments/validation", multipart(part(LONG_MODEL)), [MULTIPART]),
        ("deployResources", "/v2/deployments/validation", multipart(part(LONG_MODEL)), [MULTIPART]),
        ("simulateProcess", "/v2/simulations", {"resources": [{"name": "a.bpmn", "content": MODEL}]}, []),
    ],
)
async def test_an_agent_and_the_rest_api_share_the_turn_of_a_client(services, tool, path, body, headers):
    """Otherwise an agent could fill the queue of the compute processes."""
    held = HeldCompute()
    client = Client(api_app.build(changed(services, compute=held, simulate=simulate)))
    files = [{"name": "a.bpmn", "content": LONG_MODEL.decode()}]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(Agent(client).use, tool, resources=files))
        await eventually(lambda: held.kinds)
        assert (await client("POST", path, body, headers)).status == 429
        problem, failed = await Agent(client).use(tool, resources=files)
        assert (problem["status"], failed) == (429, True)
        held.free.set()
    assert len(held.kinds) == 1
    assert (await client("POST", path, body, headers)).status == 200


async def test_test_data_is_nested_no_deeper_than_that_of_an_instance(designer):
    for levels in (40, 100):
        deep = json.loads("[" * levels + "]" * levels)
        files = [{"name": "a.bpmn", "content": MODEL}]
        found, failed = await designer.use("simulateProcess", resources=files, variables={"deep": deep})
        assert failed is (levels > 64)
    assert "nested deeper than 64 levels" in found["detail"]


async def test_a_server_without_simulation_says_so(agent):
    problem, failed = await agent.use("simulateProcess", resources=[{"name": "a.bpmn", "content": MODEL}])
    assert (problem["status"], failed) == (501, True)
