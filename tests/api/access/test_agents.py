"""Agents have the permissions of their token, and what they change is in the audit log."""

import json

import pytest
from psycopg.rows import dict_row

from tests.api.access.conftest import basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.mcp.conftest import Agent
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY, NOW
from tests.core.models import end, process, start
from vivero.api import app as api_app
from vivero.api.access.buckets import Buckets
from vivero.api.access.rates import Rates
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, rights
from vivero.api.commands.inner_requests import InnerRequests
from vivero.api.http.response import Response
from vivero.api.mcp import process_tools
from vivero.storage.access.identities import Grant


@pytest.fixture
def agent_with(stored):
    """An agent with these grants."""

    def make(*grants, **more):
        services = changed(stored, access=OneCaller(Caller("CLIENT", "agent", rights((), grants), **more)))
        return Agent(Client(api_app.build(services)))

    return make


READ = Grant("PROCESS_DEFINITION", "order", ("READ_PROCESS_INSTANCE",))


async def test_an_agent_sees_the_tools_that_it_may_use(agent_with):
    seen = set(await agent_with(READ).tools())
    assert seen >= {"getClusterStatus", "getTopology", "searchProcessInstances", "explainProcessInstance"}
    assert not seen & {"createProcessInstance", "deployResources", "simulateProcess", "previewModification"}
    assert "deployResources" in await agent_with(Grant("RESOURCE", "*", ("CREATE",))).tools()


async def test_an_agent_sees_the_instances_that_it_may_see(agent_with, rows):
    rows.instance(key=KEY)
    rows.instance(key=KEY + 50, process_id="secret")
    agent = agent_with(READ)
    found, failed = await agent.use("searchProcessInstances")
    assert ([each["processInstanceKey"] for each in found["items"]], failed) == ([str(KEY)], False)
    _, failed = await agent.use("getProcessInstance", processInstanceKey=str(KEY))
    assert not failed
    problem, failed = await agent.use("getProcessInstance", processInstanceKey=str(KEY + 50))
    assert failed
    assert problem["status"] in (403, 404)


async def test_an_agent_of_another_tenant_finds_nothing(stored, rows):
    rows.instance()
    own = Caller("CLIENT", "agent", ALL_RIGHTS, tenants=frozenset(("other",)))
    services = changed(stored, access=OneCaller(own), multi_tenancy=True, readers=stored.reads.pool)
    agent = Agent(Client(api_app.build(services)))
    assert (await agent.use("searchProcessInstances"))[0]["items"] == []
    for tool in ("getProcessInstance", "explainProcessInstance"):
        problem, failed = await agent.use(tool, processInstanceKey=str(KEY))
        assert (problem["status"], failed) == (404, True)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("createProcessInstance", {"processDefinitionId": "order"}),
        ("resolveIncident", {"incidentKey": str(KEY + 4)}),
        ("previewSuspension", {"processInstanceKey": str(KEY)}),
        ("validateResources", {"resources": [{"name": "a.bpmn", "content": ""}]}),
        ("simulateProcess", {"resources": [{"name": "a.bpmn", "content": ""}]}),
        ("deployResources", {"resources": [{"name": "a.bpmn", "content": ""}], "confirmation": "x"}),
        ("evaluateDecision", {"decisionDefinitionId": "d"}),
    ],
)
async def test_a_tool_without_its_permission_is_refused(agent_with, rows, engine, tool, arguments):
    rows.instance()
    rows.incident()
    problem, failed = await agent_with(READ).use(tool, **arguments)
    assert (problem["status"], problem["title"], failed) == (403, "FORBIDDEN", True)
    assert engine.appended == []


async def test_a_browsers_session_is_refused(agent_with):
    answer = await agent_with(READ, by_session=True).send("tools/list", headers=[(b"x-vivero-csrf", b"1")])
    assert answer.status == 403
    assert "token" in answer.problem["detail"]


async def test_nobody_is_served_without_credentials(secured):
    answer = await Agent(secured).send("tools/list")
    assert (answer.status, answer.headers[b"www-authenticate"][:6]) == (401, b"Bearer")


@pytest.fixture
def recorded(rows):
    def read():
        cursor = rows.execute("SELECT * FROM audit_log ORDER BY audit_log_key")
        cursor.row_factory = dict_row
        return cursor.fetchall()

    return read


async def test_a_change_by_an_agent_names_its_tool(people, secured, recorded, rows, engine):
    people.user("root", "admin")
    rows.instance()
    rows.incident()
    agent = Agent(secured, headers=bearer(people.token("helper", "worker")))
    _, failed = await agent.use("resolveIncident", incidentKey=str(KEY + 4))
    assert not failed
    (item,) = engine.appended
    assert '"tool":"resolveIncident"' in item.audit
    _, failed = await agent.use("deployResources", resources=[{"name": "a.bpmn", "content": ""}], confirmation="x")
    assert failed
    found = await secured("POST", "/v2/audit-logs/search", {}, basic("root"))
    assert found.json["items"] == []
    _, failed = await agent.use("assignUserTask", userTaskKey="1", assignee="ann")
    assert failed
    (record,) = recorded()
    assert (record["tool"], record["actor_id"], record["result"]) == ("assignUserTask", "helper", "FAIL")
    filter = {"filter": {"inboundChannelType": "MCP", "inboundChannelToolName": "assignUserTask"}}
    found = await secured("POST", "/v2/audit-logs/search", filter, basic("root"))
    (shown,) = found.json["items"]
    assert (shown["inboundChannelType"], shown["inboundChannelToolName"]) == ("MCP", "assignUserTask")


async def test_a_deployment_that_is_refused_after_the_question_is_recorded(agent_with, recorded, engine):
    files = [{"name": "a.bpmn", "content": process(start(), end(), "start > end").decode()}]
    asked, _ = await agent_with(Grant("RESOURCE", "*", ("CREATE",))).use("deployResources", resources=files)
    confirmed = {"resources": files, "confirmation": asked["confirmation"]}
    problem, failed = await agent_with(READ).use("deployResources", **confirmed)
    assert (problem["status"], failed, engine.appended) == (403, True, [])
    (record,) = recorded()
    assert (record["tool"], record["actor_id"], record["result"]) == ("deployResources", "agent", "FAIL")


async def test_a_call_counts_once_for_the_limit_of_its_client(stored, rows):
    rows.instance()
    rows.incident(job_key=KEY + 3)
    rows.job(retries=0)
    services = changed(stored, access=OneCaller(Caller("CLIENT", "agent", ALL_RIGHTS)), rates=Rates(Buckets(2, 0.001)))
    agent = Agent(Client(api_app.build(services)))
    _, failed = await agent.use("resolveIncident", incidentKey=str(KEY + 4))  # four requests
    assert not failed
    assert (await agent.send("ping")).status == 200
    assert (await agent.send("ping")).status == 429


@pytest.fixture
def start_event(rows):
    """Puts a process with a message start event that is a tool."""

    def put(key, process, tool, version=1, tenant="<default>"):
        rows.definition(key=key, process_id=process, version=version, tenant_id=tenant)
        rows.put(
            "start_subscriptions",
            subscription_key=key + 1,
            process_definition_key=key,
            opened_at=NOW,
            tenant_id=tenant,
            process_id=process,
            element_id="start",
            kind="MESSAGE",
            name=f"begin {process}",
            properties=json.dumps({"io.camunda.tool:name": tool, "inbound.type": "x"}),
        )

    return put


def processes(agent):
    return Agent(agent.client, "/mcp/processes")


async def test_an_agent_sees_the_processes_that_it_may_see(agent_with, start_event):
    start_event(KEY, "order", "place_order")
    start_event(KEY + 10, "secret", "tell_secret")
    start_event(KEY + 20, "order", "not a name", version=2)
    start_event(KEY + 30, "order", "searchIncidents", version=3)
    agent = processes(agent_with(READ))
    shown = (await agent.send("tools/list")).json["result"]["tools"]
    names = ["getProcessInstance", "place_order", "searchIncidents", "searchVariables"]
    assert sorted(tool["name"] for tool in shown) == names
    problem, failed = await agent.use("place_order")
    assert (problem["status"], failed) == (403, True)
    for tool in ("tell_secret", "not a name", "createProcessInstance"):
        answer = await agent.send("tools/call", {"name": tool, "arguments": {}})
        assert answer.json["error"]["code"] == -32602
    assert set(await processes(agent_with()).tools()) == set()


async def test_a_tool_of_two_processes_is_refused(agent_with, start_event, engine):
    start_event(KEY, "order", "go")
    start_event(KEY + 10, "other", "go")
    everything = Grant("PROCESS_DEFINITION", "*", ("READ_PROCESS_INSTANCE",))
    answer = await processes(agent_with(everything)).send("tools/call", {"name": "go", "arguments": {}})
    assert answer.json["error"]["message"] == "The processes order and other have a tool of the name 'go'"
    assert engine.appended == []


async def test_a_tool_of_two_tenants_is_refused_with_both(agent_with, start_event):
    start_event(KEY, "order", "go")
    start_event(KEY + 10, "order", "go", tenant="other")
    answer = await processes(agent_with(READ)).send("tools/call", {"name": "go", "arguments": {}})
    both = "order of tenant '<default>' and order of tenant 'other'"
    hint = "use the server at /mcp/processes?tenantId=… of one tenant"
    assert answer.json["error"]["message"] == f"The processes {both} have a tool of the name 'go': {hint}"


async def test_the_address_of_a_server_names_its_tenant(agent_with, start_event, engine):
    start_event(KEY, "order", "go")
    start_event(KEY + 10, "order", "go", tenant="other")
    start_event(KEY + 20, "order", "come", version=2)
    agent = agent_with(READ, Grant("MESSAGE", "*", ("CREATE",)))
    own, other, none = (
        Agent(agent.client, f"/mcp/processes?tenantId={each}") for each in ("%3Cdefault%3E", "other", "")
    )
    assert {"go", "come"} <= set(await own.tools())
    assert "come" not in await other.tools()
    assert "go" not in await none.tools()
    await own.use("go")
    (item,) = engine.appended
    assert (item.tenant, item.command.name) == ("<default>", "begin order")


async def test_tools_that_cannot_be_read_are_no_fault_of_the_agent(agent_with, monkeypatch):
    agent = processes(agent_with(READ))

    async def search(*_arguments):
        return Response(503, b'{"detail":"later"}')

    monkeypatch.setattr(InnerRequests, "send", search)
    answer = await agent.send("tools/list")
    assert answer.json["error"] == {"code": -32603, "message": "The tools cannot be listed: later"}


async def test_pages_of_process_tools(agent_with, start_event, monkeypatch):
    monkeypatch.setattr(process_tools, "TOOLS_A_PAGE", 2)
    for n in range(3):
        start_event(KEY + 10 * n, f"p{n}", f"tool{n}")
    agent = processes(agent_with(Grant("PROCESS_DEFINITION", "*", ("READ_PROCESS_INSTANCE",))))
    first = (await agent.send("tools/list")).json["result"]
    second = (await agent.send("tools/list", {"cursor": first["nextCursor"]})).json["result"]
    assert [tool["name"] for tool in second["tools"]] == ["tool2"]
    assert "nextCursor" not in second
    wrong = await agent.send("tools/list", {"cursor": "x"})
    assert wrong.json["error"]["code"] == -32602
