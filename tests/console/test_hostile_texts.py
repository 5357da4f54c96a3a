"""Texts of users that would run as scripts, wherever users can write some, on every page that shows them.

Nothing executes: no dialog opens, no error is reported, and the browser refuses nothing (a violation of the content
security policy is an error of the console). The texts are shown as they were written.
"""

import json
import re
from xml.sax.saxutils import escape, quoteattr

import psycopg
import pytest
from playwright.sync_api import expect

from tests.console.conftest import ORDER
from tests.eventually import eventually_sync

pytestmark = pytest.mark.process

ATTACK = "<img src=x onerror=alert(1)>'\"</script><script>alert(2)</script>{{7*7}}"
LINK = "javascript:alert(3)"
SHOWN = "onerror=alert(1)"
MODEL = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="m" name={quoteattr(ATTACK)}><extensionElements>
    <zeebe:subscription correlationKey="=key" /></extensionElements></message>
  <process id="hostile" name={quoteattr(ATTACK)} isExecutable="true">
    <documentation>{escape(ATTACK)}</documentation>
    <startEvent id="start" name={quoteattr(ATTACK)} />
    <sequenceFlow id="a" sourceRef="start" targetRef="fork" />
    <parallelGateway id="fork" />
    <sequenceFlow id="b" sourceRef="fork" targetRef="task" name={quoteattr(ATTACK)} />
    <sequenceFlow id="c" sourceRef="fork" targetRef="wait" />
    <sequenceFlow id="d" sourceRef="fork" targetRef="job" />
    <sequenceFlow id="e" sourceRef="fork" targetRef="agent" />
    <userTask id="task" name={quoteattr(ATTACK)}><extensionElements><zeebe:userTask /></extensionElements></userTask>
    <receiveTask id="wait" name={quoteattr(ATTACK)} messageRef="m" />
    <serviceTask id="job" name={quoteattr(ATTACK)}><extensionElements>
      <zeebe:taskDefinition type={quoteattr(ATTACK)} /></extensionElements></serviceTask>
    <serviceTask id="agent" name={quoteattr(ATTACK)}><extensionElements>
      <zeebe:taskDefinition type="io.camunda.agenticai:aiagent:1" /></extensionElements></serviceTask>
  </process>
</definitions>"""

CALL = """INSERT INTO agent_calls (job_key, call_id, process_instance_key, element_instance_key, process_id, element_id,
    tenant_id, ended_at, turn, cause, duration_ms, provider, model, outcome, request_digest, cost, currency,
    tools_offered, tools_called)
SELECT %s, 'c', %s, 1, 'hostile', 'agent', '<default>', clock_timestamp(), 1, 'PROMPT', 1, 'openai', %s, %s, 'd', 1, %s,
    '{}', %s"""
CONNECTOR = """INSERT INTO inbound_connectors (process_definition_key, element_id, tenant_id, process_id, type, state,
    waiting, events, errors, error_at, error, node, updated_at)
SELECT %s, 'start', '<default>', 'hostile', %s, 'FAILING', 0, 0, 1, clock_timestamp(), %s, 'n', clock_timestamp()"""


@pytest.fixture
def hostile(api, dsn):
    """The key of an instance and of its task, whose every text is an attack; and entries of access like it.

    The call of a model and the inbound connector are rows that nobody works here: connectors are disabled."""
    api.deploy("hostile.bpmn", MODEL.encode())
    variables = {ATTACK: ATTACK, "key": ATTACK, "link": LINK}
    body = {"processDefinitionId": "hostile", "businessId": ATTACK, "variables": variables}
    key = api.post("/process-instances", body)["processInstanceKey"]
    lease = {"type": ATTACK, "timeout": 60_000, "maxJobsToActivate": 1, "worker": ATTACK}
    [job] = api.post("/jobs/activation", lease)["jobs"]
    api.post(f"/jobs/{job['jobKey']}/failure", {"retries": 0, "errorMessage": ATTACK})
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    [agent] = api.post("/jobs/search", {"filter": {"processInstanceKey": key, "elementId": "agent"}})["items"]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(CALL, (agent["jobKey"], key, ATTACK, ATTACK, ATTACK, [ATTACK]))
        connection.execute(CONNECTOR, (agent["processDefinitionKey"], ATTACK, ATTACK))
    api.post(f"/user-tasks/{task['userTaskKey']}/assignment", {"assignee": ATTACK})
    api.post(f"/user-tasks/{task['userTaskKey']}/comments", {"text": ATTACK})
    api.post(
        "/messages/publication", {"name": ATTACK, "correlationKey": "b", "messageId": ATTACK, "timeToLive": 60_000}
    )
    api.post("/users", {"username": "x", "name": ATTACK, "email": ATTACK, "password": "p" * 12})
    for kind, id in (("groups", "groupId"), ("roles", "roleId"), ("tenants", "tenantId")):
        api.post(f"/{kind}", {id: "x", "name": ATTACK, "description": ATTACK})
    api.post("/mapping-rules", {"mappingRuleId": "x", "name": ATTACK, "claimName": ATTACK, "claimValue": ATTACK})
    grant = {"ownerType": "USER", "ownerId": ATTACK, "resourceType": "PROCESS_DEFINITION"}
    api.post("/authorizations", grant | {"resourceId": ATTACK.replace("*", ""), "permissionTypes": ["READ_USER_TASK"]})
    return key, task["userTaskKey"]


@pytest.mark.long
def test_what_users_write_is_never_code(console, hostile):
    key, task = hostile
    pages = (
        "/", "/processes", "/processes/hostile", "/instances?state=all", f"/instances/{key}",
        f"/instances/{key}?element=job", f"/instances/{key}?element=agent",
        "/figures?process=hostile", "/inbound-connectors",
        f"/instances/{key}?element=wait", "/incidents", "/tasks", f"/tasks/{task}", "/messages", "/messages/buffered",
        "/jobs?state=failed",
        "/access/users", "/access/users/x", "/access/groups", "/access/groups/x", "/access/roles/x", "/access/tenants",
        "/access/mapping-rules/x", "/access/authorizations",
    )  # fmt: skip
    console.open("/about")
    for path in pages:
        console.go(path)
        expect(console.page.get_by_text(SHOWN).first).to_be_attached()
        if path in (f"/instances/{key}?element=agent", "/figures?process=hostile", "/inbound-connectors"):
            expect(console.page.locator("main table").get_by_text(SHOWN).first).to_be_visible()
            assert console.violations() == []
    assert console.page.evaluate("document.querySelectorAll('img[src=x], a[href^=\"javascript:\"]').length") == 0


def test_text_in_an_address_is_never_code(console):
    console.open("/about")
    for path in (
        f"/instances/{ATTACK}",
        f"/processes/{ATTACK}",
        f"/access/users/{ATTACK}",
        f"/{ATTACK}",
        f"/messages/match?name={ATTACK}",
    ):
        console.page.goto(f"{console.address}/console{path.replace('/script', '%2Fscript')}")
        console.settle()
    assert console.page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
    assert all("status of 4" in error for error in console.errors), console.errors
    console.errors.clear()


def test_a_file_that_is_rejected_is_never_code(console):
    broken = ORDER.read_text().replace("=inStock", escape(f"=inStock + {ATTACK}"))
    console.open("/deploy")
    name = f"{ATTACK.replace('/', '')}.bpmn"
    console.page.get_by_label("Choose files").set_input_files(
        files=[{"name": name, "mimeType": "application/xml", "buffer": broken.encode()}]
    )
    expect(console.page.get_by_text("Nothing was deployed")).to_be_visible()
    expect(console.page.get_by_text(re.compile("onerror=alert.1.")).first).to_be_visible()
    assert all("400" in error for error in console.errors), console.errors
    console.errors.clear()


def test_the_tests_here_would_see_a_script(console):
    """An injected image and an inline script: the policy refuses both, and the page's errors say so."""
    console.open("/about")
    console.page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')"
    )
    eventually_sync(lambda: console.page.evaluate("document.querySelector('img[src=x]').complete"))
    console.page.evaluate("document.head.append(Object.assign(document.createElement('script'), {text: 'alert(2)'}))")
    seen = []
    while len([error for error in seen if "Content Security Policy" in error]) < 2:
        seen.append(console.next_error())
    assert not [error for error in (*seen, *console.errors) if error.startswith("dialog")]
    console.errors.clear()


def test_a_form_is_never_code(console, api):
    """Neither what its author writes, nor the values that it shows.

    The library for forms removes what could run. The browser refuses it as well, already while the library reads it.
    """
    html = {"type": "html", "id": "h", "content": f"{ATTACK}<p>Drawn</p><a href='{LINK}'>x</a>={{{{told}}}}"}
    text = {"type": "text", "id": "t", "text": f'=told + " [x]({LINK})"'}
    field = {"type": "textfield", "id": "f", "key": "told", "label": ATTACK, "description": ATTACK}
    form = {"id": "hostile", "schemaVersion": 19, "components": [html, text, field]}
    api.deploy("hostile.form", json.dumps(form).encode())
    reference = '<zeebe:userTask /><zeebe:formDefinition formId="hostile" />'
    api.deploy("hostile.bpmn", MODEL.replace("<zeebe:userTask />", reference).encode())
    body = {"processDefinitionId": "hostile", "variables": {"told": ATTACK, "key": "k"}}
    key = api.post("/process-instances", body)["processInstanceKey"]
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    console.open(f"/tasks/{task['userTaskKey']}")
    expect(console.page.get_by_text("Drawn")).to_be_visible()
    expect(console.page.locator(".fjs-input")).to_have_value(ATTACK)
    found = "document.querySelectorAll('[onerror], .fjs-container script, a[href^=\"javascript:\"]').length"
    assert console.page.evaluate(found) == 0
    assert {error.partition(" violates")[0] for error in console.errors} == {"Executing inline event handler"}
    console.errors.clear()
