"""A secret that one call uses appears in no place where people look, and a reference to it in data stays as it is."""

import gzip
import json

import psycopg
import pytest
import structlog

from tests.api.access.test_canaries import forms_of, written
from tests.engine.connectors.programs import program
from tests.eventually import eventually
from vivero.config.sections import Config
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.tracing.settings import TracingSettings

SECRET = "canary/51bd-secret"
REFERENCE = "{{secrets.KEY}}"
MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="p" isExecutable="true">
  <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="ask"/>
  <userTask id="ask"><extensionElements><zeebe:userTask/></extensionElements></userTask>
  <sequenceFlow id="b" sourceRef="ask" targetRef="decide"/>
  <businessRuleTask id="decide"><extensionElements>
    <zeebe:calledDecision decisionId="echo" resultVariable="decided"/></extensionElements></businessRuleTask>
  <sequenceFlow id="c" sourceRef="decide" targetRef="call"/>
  <serviceTask id="call"><extensionElements><zeebe:taskDefinition type="io.camunda:http-json:1" retries="1"/>
    <zeebe:ioMapping><zeebe:input source="POST" target="method"/>
      <zeebe:input source="=service + path" target="url"/>
      <zeebe:input source="bearer" target="authentication.type"/>
      <zeebe:input source="{{secrets.KEY}}" target="authentication.token"/>
      <zeebe:input source="={note: note, decided: decided}" target="body"/></zeebe:ioMapping>
    <zeebe:taskHeaders><zeebe:header key="resultExpression" value="={echoed: response}"/></zeebe:taskHeaders>
  </extensionElements></serviceTask></process></definitions>"""
DECISIONS = b"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">
  <inputData id="note" name="note"><variable name="note" typeRef="string"/></inputData>
  <decision id="echo" name="echo"><variable name="echo" typeRef="string"/>
  <informationRequirement><requiredInput href="#note"/></informationRequirement>
  <literalExpression><text>note</text></literalExpression>
  </decision></definitions>"""
SEARCHES = (
    *("audit-logs", "batch-operations", "decision-instances", "element-instances", "incidents", "jobs", "messages"),
    *("process-definitions", "process-instances", "resources", "user-tasks", "variables"),
)


@pytest.fixture
async def running(migrated, server, other, tmp_path, monkeypatch):
    """A client of a program with a secret, an archive in a directory, and a collector of traces."""
    monkeypatch.setenv("VIVERO_SECRET_KEY", SECRET)
    server.answer = lambda got: (500 if got.target == "/fails" else 200, {"X-Given": got.headers["authorization"]}, {
        "given": got.headers["authorization"], "sent": got.json,
    })  # fmt: skip
    more = {
        "roles": Config().roles,
        "retention": RetentionSettings(archive=str(tmp_path / "archive")),
        "tracing": TracingSettings(otlp_endpoint=f"{other.url}/v1/traces", sample_ratio=1.0),
    }
    async with program(migrated, others=[more]) as (client, _, _):
        files = [("resources", ("p.bpmn", MODEL)), ("resources", ("d.dmn", DECISIONS))]
        (await client.post("/v2/deployments", files=files)).raise_for_status()
        yield client


async def run(client, server, path):
    """An instance whose person writes the reference; its key when its call was answered."""
    body = {"processDefinitionId": "p", "variables": {"service": server.url, "path": path}}
    key = (await client.post("/v2/process-instances", json=body)).json()["processInstanceKey"]
    asked = {"filter": {"processInstanceKey": key}}
    (task,) = await eventually(lambda: found(client, "user-tasks", asked))
    form = {"variables": {"note": REFERENCE}}
    (await client.post(f"/v2/user-tasks/{task['userTaskKey']}/completion", json=form)).raise_for_status()
    return key


async def found(client, what, body):
    answer = await client.post(f"/v2/{what}/search", json=body)
    answer.raise_for_status()
    return answer.json()["items"]


async def shown(client, key):
    """The answers that people, agents and other programs can read."""
    paths = ("snapshot", "events", "trace", "sequence-flows", "compensations")
    for path in ("/metrics", "/console", "/v2/commands", *(f"/v2/process-instances/{key}/{path}" for path in paths)):
        yield path, (await client.get(path, follow_redirects=True)).text
    for what in SEARCHES:
        yield what, json.dumps(await found(client, what, {}))
    arguments = {
        "searchVariables": {"filter": {"processInstanceKey": key}},
        "explainProcessInstance": {"processInstanceKey": key},
    }
    for name, given in arguments.items():
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        answer = (await client.post("/mcp/cluster", json=call)).json()["result"]
        assert not answer["isError"], answer
        yield name, json.dumps(answer)


@pytest.mark.long
async def test_a_secret_appears_nowhere_and_replaces_nothing(running, migrated, server, other, tmp_path):
    with structlog.testing.capture_logs() as logged:
        ended, failed = await run(running, server, "/works"), await run(running, server, "/fails")
        state = {"filter": {"processInstanceKey": ended, "state": "COMPLETED"}}
        await eventually(lambda: found(running, "process-instances", state))
        (incident,) = await eventually(lambda: found(running, "incidents", {"filter": {"processInstanceKey": failed}}))
        of_both = {f"{place} of {key}": text for key in (ended, failed) async for place, text in shown(running, key)}
        told = {place: text async for place, text in shown(running, ended)}
        (await running.post(f"/v2/process-instances/{ended}/deletion")).raise_for_status()
        files = await eventually(lambda: list((tmp_path / "archive").rglob("*.gz")))
        await eventually(lambda: other.received, "spans arrive")
    assert {got.headers["authorization"] for got in server.received} == {f"Bearer {SECRET}"}
    assert [got.json for got in server.received] == [{"note": REFERENCE, "decided": REFERENCE}] * 2
    assert incident["errorMessage"]
    archived = "".join(gzip.decompress(file.read_bytes()).decode() for file in files)
    told |= of_both | {
        "the archive": archived,
        "the log": str(logged),
        "spans": str([got.body for got in other.received]),
    }
    for text in (told["variables"], told["decision-instances"], archived, told["searchVariables"]):
        assert REFERENCE in text
    assert "***" in told["variables"], "the answer of the other system is masked"
    assert [place for place, text in told.items() if any(form in text for form in forms_of(SECRET))] == []
    with psycopg.connect(migrated, autocommit=True) as rows:
        assert written(rows, SECRET) == []
