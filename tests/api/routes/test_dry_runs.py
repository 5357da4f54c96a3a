"""Dry runs over HTTP: nothing is appended, and the answer says what would happen."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY, NOW
from tests.core.models import end, process, start, task
from tests.engine.dry_runs.here import Here
from tests.two_tenants import decision_instance
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import rights
from vivero.core.records.codec import encode_events
from vivero.core.records.instances import ElementActivated, ElementActivating
from vivero.core.records.jobs import JobCreated
from vivero.core.records.modifications import InstanceModified
from vivero.engine.batch_operations import forecast
from vivero.engine.compute.problems import Busy
from vivero.storage.access.identities import Grant
from vivero.storage.state import snapshots

MODEL = process(start(), task("task"), task("more"), end(), "start > task > more > end", id="order")
ROUTES = {
    "modification": {"activateInstructions": [{"elementId": "more"}], "terminateInstructions": [{"elementId": "task"}]},
    "migration": {
        "targetProcessDefinitionKey": str(KEY),
        "mappingInstructions": [{"sourceElementId": "task", "targetElementId": "task"}],
    },
    "suspension": {"reason": "price list"},
    "resumption": {},
    "business-id-assignment": {"businessId": "order-7"},
    "cancellation": {},
}


def path(operation, key=KEY):
    return f"/v2/process-instances/{key}/{operation}?dryRun=true"


@pytest.fixture
def tree(rows):
    """An instance at its task, which a worker may take."""
    rows.definition(sha256="model")
    rows.put("resources", sha256="model", bytes=MODEL)
    rows.instance(version=7, part_key=KEY, live=1, tokens='{"task": 1}')
    rows.element(part_key=KEY, element_type="SERVICE_TASK")
    rows.job(part_key=KEY)


@pytest.fixture
def asked(stored, tree):
    """A client of the whole database, or of a caller with these grants."""

    def make(*grants):
        services = changed(stored, compute=Here())
        if grants:
            services = changed(services, access=OneCaller(Caller("USER", "ann", rights((), grants))))
        return Client(api_app.build(services))

    return make


@pytest.mark.parametrize("operation", [one for one in ROUTES if one != "resumption"])
async def test_the_answer_has_the_version_of_the_snapshot(asked, engine, operation):
    answer = await asked()("POST", path(operation), ROUTES[operation])
    assert answer.status == 200, answer.body
    assert (answer.headers[b"etag"], answer.json["version"]) == (b'"7"', 7)
    assert (answer.json["problems"], answer.json["refusal"]) == ([], None)
    assert answer.json["lineCount"] == len(answer.json["lines"]) > 0
    assert engine.appended == []


async def test_it_says_whether_the_modification_can_be_undone(asked, rows):
    async def undo(body):
        return (await asked()("POST", path("modification"), body)).json["undo"]

    assert await undo(ROUTES["modification"]) == {"offered": True, "reason": None}
    rows.execute("UPDATE jobs SET worker = 'w'")
    reason = f"a worker had got job '{KEY + 3}', which it has terminated, and may still work"
    assert await undo(ROUTES["modification"]) == {"offered": False, "reason": reason}
    assert await undo({"activateInstructions": [{"elementId": "more"}]}) == {"offered": True, "reason": None}
    text = await undo({"activateInstructions": [{"elementId": "end"}]})
    assert text["reason"].startswith("it has led to more than can be taken back")
    assert "undo" not in (await asked()("POST", path("suspension"), {})).json


async def test_the_undo_of_a_modification_shows_its_effects(asked, rows, engine):
    events = [
        InstanceModified(KEY, ("task",)),
        ElementActivating(KEY + 1, KEY, "task", "SERVICE_TASK"),
        ElementActivated(KEY + 1),
        JobCreated(KEY + 3, KEY + 1, "work", 3, 0, {}),
    ]
    rows.execute("""UPDATE process_instances SET live = 2, tokens = '{"task": 1, "more": 1}'""")
    rows.element(key=KEY + 5, part_key=KEY, element_type="SERVICE_TASK", element_id="more")
    place = {"partition_id": 1, "position": 7, "seq": 0, "root_key": KEY, "version": 1, "processed_at": NOW}
    rows.put("event_log", **place, events=encode_events(events).decode())
    answer = await asked()("POST", path("undo"))
    assert answer.status == 200, answer.body
    assert answer.json["effects"]["counts"]["jobs"] == {"opens": 0, "closes": 1, "stays": 0}
    assert answer.json["undo"]["offered"] is True
    assert engine.appended == []


async def test_what_opens_and_closes(asked):
    answer = await asked()("POST", path("modification"), ROUTES["modification"])
    effects = answer.json["effects"]
    assert effects["counts"]["jobs"] == {"opens": 1, "closes": 1, "stays": 0}
    closed = next(one for one in effects["items"] if (one["effect"], one["kind"]) == ("CLOSES", "JOB"))
    assert closed == {
        "effect": "CLOSES",
        "kind": "JOB",
        "elementId": "task",
        "formerElementId": None,
        "elementInstanceKey": str(KEY + 1),
        "processInstanceKey": str(KEY),
        "key": str(KEY + 3),
        "detail": "type work",
    }
    opened = next(one for one in effects["items"] if (one["effect"], one["kind"]) == ("OPENS", "JOB"))
    assert (opened["elementId"], opened["key"], opened["elementInstanceKey"]) == ("more", None, None)


async def test_a_refused_command_is_an_answer(asked, engine):
    body = {"activateInstructions": [{"elementId": "start"}, {"elementId": "nowhere"}]}
    answer = await asked()("POST", path("modification"), body)
    assert answer.status == 200
    assert answer.json["refusal"] == {"status": 400, "title": "INVALID_ARGUMENT"}
    assert [one["elementId"] for one in answer.json["problems"]] == ["nowhere", "start"]
    assert answer.json["lines"] == []
    answer = await asked()("POST", path("resumption"))
    assert answer.json["refusal"] == {"status": 409, "title": "INVALID_STATE"}
    assert [one["message"].rpartition(", ")[2] for one in answer.json["problems"]] == ["but it is not suspended"]
    answer = await asked()("POST", path("suspension"), headers=[(b"if-match", b'"6"')])
    assert answer.json["refusal"] == {"status": 412, "title": "PRECONDITION_FAILED"}
    assert engine.appended == []


@pytest.mark.parametrize("operation", ROUTES)
async def test_errors_of_the_request_stay_errors(asked, operation):
    client = asked()
    assert (await client("POST", path(operation, KEY + 77), ROUTES[operation])).status == 404
    assert (await client("POST", path(operation), {"none": 1})).status == 400
    assert (await client("POST", path(operation).replace("true", "yes"), ROUTES[operation])).status == 400


async def test_a_tree_that_is_too_large(asked, monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_ELEMENTS", 0)
    answer = await asked()("POST", path("suspension"))
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert answer.problem["detail"].endswith("but it has more than 0 live elements")


DOES = Grant("PROCESS_DEFINITION", "order", ("SUSPEND_PROCESS_INSTANCE",))
READS = Grant("PROCESS_DEFINITION", "order", ("READ_PROCESS_INSTANCE",))


@pytest.mark.parametrize(("grants", "status"), [((DOES, READS), 200), ((DOES,), 403), ((READS,), 403)])
async def test_it_needs_the_permission_of_the_operation_and_to_read(asked, grants, status):
    assert (await asked(*grants)("POST", path("suspension"))).status == status


async def test_a_tree_with_a_process_that_the_caller_may_not_read(asked, rows):
    """A called process, whose lines the answer would show."""
    rows.definition(KEY + 50, process_id="secret", sha256="secret")
    rows.put("resources", sha256="secret", bytes=MODEL.replace(b'id="order"', b'id="secret"'))
    called = {"process_id": "secret", "process_definition_key": KEY + 50, "root_key": KEY, "part_key": KEY}
    rows.instance(KEY + 60, **called, parent_element_instance_key=KEY + 1, parent_process_instance_key=KEY)
    assert (await asked(DOES, READS)("POST", path("suspension"))).status == 403
    assert (await asked()("POST", path("suspension"))).status == 200


# ---- forecasts of batches

BATCHES: dict[str, dict[str, object]] = {
    "cancellation": {},
    "modification": {"moveInstructions": [{"sourceElementId": "task", "targetElementId": "more"}]},
    "migration": {"migrationPlan": ROUTES["migration"]},
    "suspension": {},
    "resumption": {},
}
VERBS = dict(zip(BATCHES, ("CANCEL", "MODIFY", "MIGRATE", "SUSPEND", "RESUME"), strict=True))
FILTER: dict[str, object] = {"filter": {"processDefinitionId": "order"}}


@pytest.mark.parametrize("operation", BATCHES)
async def test_the_forecast_of_a_batch(asked, rows, operation):
    answer = await asked()("POST", f"/v2/process-instances/{operation}?dryRun=true", FILTER | BATCHES[operation])
    assert answer.status == 200, answer.body
    count = 0 if operation == "resumption" else 1  # no instance is suspended
    assert answer.json == {
        "batchOperationType": f"{VERBS[operation]}_PROCESS_INSTANCE",
        "total": count,
        "wouldSucceed": count,
        "wouldSkip": [],
        "wouldFail": [],
        "notTried": [],
        "stoppedAt": None,
    }
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)
    assert rows.execute("SELECT count(*) FROM audit_log").fetchone() == (0,)


async def test_the_forecast_names_reasons_and_its_bound(asked, monkeypatch):
    monkeypatch.setattr(forecast, "MOST_INSTANCES", 1)
    monkeypatch.setattr(forecast, "PORTION", 1)
    body = FILTER | {"moveInstructions": [{"sourceElementId": "task", "targetElementId": "nowhere"}]}
    answer = await asked()("POST", "/v2/process-instances/modification?dryRun=true", body)
    (reason,) = answer.json["wouldFail"]
    assert (reason["count"], reason["exampleKeys"]) == (1, [str(KEY)])
    assert reason["reason"].endswith("an element that could not be found: 'nowhere'")
    assert answer.json["stoppedAt"] == {"bound": "INSTANCES", "value": 1}


async def test_a_forecast_that_cannot_be_made(asked):
    client = asked()
    for body, status in (({}, 400), ({"filter": {"nothing": 1}}, 400), ({"filter": {"state": "GONE"}}, 400)):
        assert (await client("POST", "/v2/process-instances/suspension?dryRun=true", body)).status == status


async def test_the_forecast_of_deletions(asked, rows):
    """A start lock keeps a tree. No reader of a tenant sees it."""
    for number in (1, 2):
        rows.instance(KEY + 100 * number, state="COMPLETED", ended_at="2026-01-02T03:04:05Z")
    rows.execute(f"INSERT INTO start_locks VALUES ({KEY + 200}, default, '<default>', 'k', 'p')")
    body = {"filter": {"tenantId": "<default>"}}
    answer = await asked()("POST", "/v2/process-instances/deletion?dryRun=true", body)
    (reason,) = answer.json["wouldFail"]
    assert (answer.json["total"], answer.json["wouldSucceed"], reason["exampleKeys"]) == (2, 1, [str(KEY + 200)])
    assert reason["reason"].endswith("a start lock still refers to it. Try again later.")
    decision_instance(rows, KEY + 300)
    answer = await asked()("POST", "/v2/decision-instances/deletion?dryRun=true", body)
    assert (answer.json["total"], answer.json["wouldSucceed"]) == (1, 1)
    for table in ("batch_operations", "deleted_trees", "audit_log"):
        assert rows.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_the_forecast_of_an_update_of_jobs(asked, rows):
    body = {"filter": {"type": "work"}, "changeset": {"retries": 2}}
    answer = await asked()("POST", "/v2/jobs/batch-update?dryRun=true", body)
    assert (answer.status, answer.json["total"], answer.json["wouldSucceed"]) == (200, 1, 1), answer.body
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


async def test_a_forecast_while_others_are_computed(stored, tree):
    client = Client(api_app.build(changed(stored, compute=_Occupied())))
    answer = await client("POST", "/v2/process-instances/suspension?dryRun=true", FILTER)
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")


class _Occupied:
    async def call(self, *_given, patience_s):
        raise Busy("10 tasks wait for a compute process already")

    async def close(self):
        """Nothing is open."""


CREATES = Grant("BATCH", "*", ("CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE",))


@pytest.mark.parametrize(
    ("grants", "status", "total"),
    [
        ((CREATES, DOES, READS), 200, 1),
        ((CREATES, DOES), 403, 0),
        ((CREATES, READS), 403, 0),
        ((DOES, READS), 403, 0),
        (
            (CREATES, Grant("PROCESS_DEFINITION", "x", ("READ_PROCESS_INSTANCE", "SUSPEND_PROCESS_INSTANCE"))),
            200,
            0,
        ),
    ],
)
async def test_a_forecast_needs_the_permissions_of_the_batch(asked, grants, status, total):
    answer = await asked(*grants)("POST", "/v2/process-instances/suspension?dryRun=true", FILTER)
    assert answer.status == status
    assert answer.json.get("total", 0) == total
