"""Every writing route with keys of another tenant: the answer is that for an unknown key.

The core runs behind the API, without a database. A new route with a key in its path needs a body here.
"""

import re
from typing import Any

import msgspec
import pytest
import trio

from tests.api.access import test_comments
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import NOW_MS
from tests.core.decision_models import one
from vivero.api import app as api_app
from vivero.api.access.scopes import OWNERS
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import ROUTES
from vivero.core.memory import MemoryEngine
from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import FailJob
from vivero.engine.appender.calls import pending_command
from vivero.engine.outcomes.completions import Completions
from vivero.storage.log.command_log import Appended, CommandOutcome

OTHERS = [("b",), ("b", "c"), ()]
"""The tenants of callers. The instances belong to tenant `a`."""
UNKNOWN = 1_000_000
"""The distance of an unknown key from one that exists."""

MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="p" isExecutable="true">
  <startEvent id="s"/>
  <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  <serviceTask id="fails"><extensionElements><zeebe:taskDefinition type="fails"/></extensionElements></serviceTask>
  <userTask id="task"><extensionElements><zeebe:userTask/></extensionElements></userTask>
  <intermediateCatchEvent id="wait"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>
  </intermediateCatchEvent>
  <adHocSubProcess id="tools"><task id="a"/></adHocSubProcess><sequenceFlow id="f5" sourceRef="s" targetRef="tools"/>
  <sequenceFlow id="f1" sourceRef="s" targetRef="work"/><sequenceFlow id="f2" sourceRef="s" targetRef="fails"/>
  <sequenceFlow id="f3" sourceRef="s" targetRef="task"/><sequenceFlow id="f4" sourceRef="s" targetRef="wait"/>
</process></definitions>"""

BODIES: dict[str, Any] = {
    "POST /v2/resources/{resourceKey}/deletion": b"",
    "POST /v2/resources/{formKey}/deletion": b"",
    "POST /v2/process-instances/{processInstanceKey}/cancellation": b"",
    "POST /v2/process-instances/{processInstanceKey}/suspension": {"reason": "r"},
    "POST /v2/process-instances/{processInstanceKey}/resumption": b"",
    "POST /v2/process-instances/{processInstanceKey}/business-id-assignment": {"businessId": "b"},
    "POST /v2/process-instances/{processInstanceKey}/modification": {"terminateInstructions": [{"elementId": "work"}]},
    "POST /v2/process-instances/{processInstanceKey}/migration": {
        "targetProcessDefinitionKey": "{processDefinitionKey}",
        "mappingInstructions": [
            {"sourceElementId": id, "targetElementId": id} for id in ("work", "fails", "task", "wait", "tools")
        ],
    },
    "PATCH /v2/user-tasks/{userTaskKey}": {"changeset": {"priority": 1}},
    "POST /v2/user-tasks/{userTaskKey}/assignment": {"assignee": "ann"},
    "DELETE /v2/user-tasks/{userTaskKey}/assignee": b"",
    "POST /v2/user-tasks/{userTaskKey}/completion": {"variables": {"a": 1}},
    "PATCH /v2/jobs/{jobKey}": {"changeset": {"retries": 5}},
    "POST /v2/jobs/{jobKey}/completion": {"variables": {"a": 1}},
    "POST /v2/jobs/{jobKey}/failure": {"retries": 0, "errorMessage": "no"},
    "POST /v2/jobs/{jobKey}/error": {"errorCode": "e"},
    "PUT /v2/element-instances/{elementInstanceKey}/variables": {"variables": {"a": 1}},
    "POST /v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation": {
        "elements": [{"elementId": "a"}]
    },
    "POST /v2/incidents/{incidentKey}/resolution": b"",
    "PATCH /v2/timers/{timerKey}": {"dueDate": "2030-01-01T00:00:00Z"},
    "POST /v2/timers/{timerKey}/trigger": b"",
}
"""A body for each route that changes what the key in its path belongs to."""
IN_BODIES: dict[str, Any] = {
    "POST /v2/process-instances": {"processDefinitionKey": "{resourceKey}"},
    "POST /v2/decision-definitions/evaluation": {"decisionDefinitionKey": "{decisionDefinitionKey}"},
    "POST /v2/conditionals/evaluation": {"processDefinitionKey": "{resourceKey}", "variables": {"a": 1}},
}
"""Routes that name keys in their bodies, with a tenant of the caller."""
BATCHES = {
    "POST /v2/process-instances/{processInstanceKey}/incident-resolution",
    "POST /v2/process-instances/{processInstanceKey}/deletion",
    "POST /v2/process-definitions/{processDefinitionKey}/instance-suspension",
    "POST /v2/process-definitions/{processDefinitionKey}/instance-resumption",
    "POST /v2/process-instances/{processInstanceKey}/undo",
}
"""They read the database first: tests/api/access/test_batches.py, tests/api/routes/test_deletion.py, test_undos.py."""
FORM = "POST /v2/resources/{formKey}/deletion"
"""The route for resources, with the key of a form."""
READING = re.compile(r"/(search|statistics/[a-z-]+|migration-plan)$")


async def nowhere():
    raise AssertionError("nobody should connect")


class Core:
    """Appender and completions in front of the core itself."""

    def __init__(self) -> None:
        self.memory = MemoryEngine()
        self.outcomes: dict[int, CommandOutcome] = {}

    def admits_new(self):
        return True

    def begin_append(self, item, replies, outcomes=None):
        pending = pending_command(item, replies)
        pending.queued, pending.outcomes = True, outcomes
        handled = self.memory.run(item.command, item.tenant)
        response = None if handled.response is None else msgspec.json.encode(handled.response)
        position = (1 << PARTITION_SHIFT) + len(self.outcomes) + 1
        self.outcomes[position] = CommandOutcome(position, handled.rejection, response)
        pending.finish(Appended(position, at_ms=NOW_MS), trio.current_time())
        return pending

    def register(self, partition, position, send, number=0, appended=None):
        waiter = Completions(nowhere).register(partition, position, send, number, appended)
        waiter.tell(self.outcomes[position])
        return waiter


class As:
    def __init__(self, *tenants) -> None:
        self.caller = Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset(tenants))

    async def authenticate(self, headers, address):
        return self.caller


@pytest.fixture
def core():
    """An instance of tenant `a` with something of every kind."""
    core = Core()
    core.memory.deploy(MODEL, tenant="a")
    core.memory.deploy(one("D", "1"), "d.dmn", "a")
    core.memory.deploy(b'{"id": "ask", "components": []}', "ask.form", "a")
    core.memory.deploy(b"a", "note.md", "a")
    assert core.memory.run(CreateInstance("p"), "a").rejection is None
    fails = next(job for job in core.memory.state.jobs.values() if job.type == "fails")
    assert core.memory.run(FailJob(fails.key, 0), "a").rejection is None
    return core


def keys(core):
    """A key of each kind."""
    state = core.memory.state
    (instance,) = state.trees
    (incident,), (timer,), (task,), (definition,), (form,), (decision,) = (
        state.incidents,
        state.timers,
        state.user_tasks,
        state.catalogue.definitions,
        state.catalogue.forms,
        state.catalogue.decisions,
    )
    return {
        "processDefinitionKey": definition,
        "resourceKey": definition,
        "formKey": form,
        "decisionDefinitionKey": decision,
        "processInstanceKey": instance,
        "elementInstanceKey": next(key for key, element in state.elements.items() if element.element == "work"),
        "adHocSubProcessInstanceKey": next(key for key, one in state.elements.items() if one.element == "tools"),
        "jobKey": next(key for key, job in state.jobs.items() if job.type == "work"),
        "incidentKey": incident,
        "timerKey": timer,
        "userTaskKey": task,
    }


@pytest.fixture
def client_of(services, core):
    def make(*tenants):
        return Client(
            api_app.build(changed(services, appender=core, completions=core, multi_tenancy=True, access=As(*tenants)))
        )

    return make


def filled(text, core, distance=0):
    """The text with keys in the place of their names."""
    return re.sub(r"\{(\w+)\}", lambda name: str(keys(core)[name[1]] + distance), text)


async def ask(client, core, route, tenant, distance=0, headers=()):
    method, path = route.split(" ")
    body = BODIES[route] if route in BODIES else IN_BODIES[route] | {"tenantId": tenant}
    if not isinstance(body, bytes):
        body = {
            name: filled(value, core, distance) if isinstance(value, str) else value for name, value in body.items()
        }
    return await client(method, filled(path, core, distance), body, headers)


def shown(answer, core, distance):
    """The answer without the key that the client sent and without the position in the log."""
    position = answer.json.get("commandPosition", "no position")
    text = answer.body.decode()
    for key in keys(core).values():
        text = text.replace(str(key + distance), "KEY")
    headers = [(name, value.replace(position.encode(), b"POSITION")) for name, value in answer.headers.items()]
    return answer.status, text.replace(position, "POSITION"), headers


def test_every_route_with_a_key_has_a_body():
    writing = {
        f"{route.method} {route.path}"
        for route in ROUTES
        if route.method != "GET" and any(f"{{{name}}}" in route.path for name in OWNERS)
    }
    assert {route for route in writing if not READING.search(route)} - BATCHES - test_comments.ROUTES == set(BODIES) - {
        FORM
    }


CONDITIONAL = {f"{route.method} {route.path}" for route in ROUTES if route.is_conditional}
TRIED = [pytest.param(route, (), id=f"{route}-plain") for route in BODIES]
TRIED += [
    pytest.param(route, ((b"if-match", b'"1"'),), id=f"{route}-if-match") for route in BODIES if route in CONDITIONAL
]


@pytest.mark.parametrize("tenants", OTHERS, ids=str)
@pytest.mark.parametrize(("route", "headers"), TRIED)
async def test_a_foreign_key_is_an_unknown_key(client_of, core, route, headers, tenants):
    client = client_of(*tenants)
    foreign = await ask(client, core, route, "b", headers=headers)
    unknown = await ask(client, core, route, "b", UNKNOWN, headers)
    assert foreign.status == 404
    assert shown(foreign, core, 0) == shown(unknown, core, UNKNOWN)


@pytest.mark.parametrize("route", IN_BODIES)
async def test_a_foreign_key_in_a_body_is_an_unknown_key(client_of, core, route):
    foreign, unknown = [await ask(client_of("b"), core, route, "b", distance) for distance in (0, UNKNOWN)]
    assert foreign.status == 404
    assert shown(foreign, core, 0) == shown(unknown, core, UNKNOWN)


@pytest.mark.parametrize("route", BODIES)
async def test_the_same_request_is_done_for_a_caller_with_the_tenant(client_of, core, route):
    answer = await ask(client_of("a", "b"), core, route, "a")
    if "incidents" in route or "resumption" in route:  # its job has no retries left; it is not suspended
        assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    else:
        assert answer.status in (200, 204), answer.body


async def test_a_definition_of_the_tenant_can_be_started_by_key(client_of, core):
    assert (await ask(client_of("a"), core, "POST /v2/process-instances", "a")).status == 200
