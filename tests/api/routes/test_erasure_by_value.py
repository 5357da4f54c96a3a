"""An erasure reaches what belongs to no instance: the trial writes a person everywhere, and searches all columns."""

import json
from typing import get_args, get_type_hints
from urllib.parse import quote

import msgspec
import pytest

from tests.api.access.test_saved_views import As
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.chaos import replayed
from tests.core.decision_models import file
from tests.core.dmn.models import decision, literal, table
from tests.core.event_models import together
from tests.core.message_models import message, model
from tests.core.models import ONE_TASK, task
from tests.engine.whole_engine import TENANT, WholeEngine
from tests.storage.personal_data import ESCAPED, PERSON, erase, places_of
from tests.storage.schemas.running_instances import MODELS
from vivero.api import app as api_app
from vivero.api import erasure_pages
from vivero.api.routes import erasures
from vivero.core.records.codec import INTENTS
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.instances import CancelInstance, CreateInstance, SetVariables
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.engine.appender.calls import Append
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool
from vivero.storage.retention import erasure_by_value, history


def variables(**more):
    """A value that a client has spelled with escapes, and in an object."""
    known = {
        "email": msgspec.Raw(ESCAPED.encode()),
        "customer": msgspec.Raw(json.dumps({"mail": f"To: {PERSON}!"}).encode()),
    }
    return known | {name: msgspec.Raw(json.dumps(value).encode()) for name, value in more.items()}


def with_person(kind):
    """A value of this type that has the person wherever there is room; None if there is none."""
    if kind is str:
        return PERSON
    if kind == dict[str, msgspec.Raw]:
        return variables()
    if kind == dict[str, str]:
        return {"email": ESCAPED, PERSON: "1"}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return filled(kind)
    if getattr(kind, "__total__", None) is False:  # a TypedDict of changes
        return {"assignee": PERSON, "candidate_groups": (PERSON,)}
    for argument in get_args(kind):
        if argument is not Ellipsis and (found := with_person(argument)) is not None:
            return (found,) if getattr(kind, "__origin__", None) is tuple else found
    return None


def filled(record):
    """A record with the person in every field that has room, and 1 where there must be something else."""
    hints = {name: hint for name, hint in get_type_hints(record).items() if name in record.__struct_fields__}
    values = {name: found for name, hint in hints.items() if (found := with_person(hint)) is not None}
    required = {field.name for field in msgspec.structs.fields(record) if field.required}
    return record(**dict.fromkeys(required, 1) | values) if values else None


COMMANDS = {
    intent: filled(command) for intent, command in INTENTS.items() if command is not ChangeIfMatch and filled(command)
}
CONDITIONAL = ChangeIfMatch(
    1, (1,), SetVariables.intent, msgspec.Raw(msgspec.json.encode(SetVariables(1, variables())))
)


def test_every_command_with_texts_is_sent():
    assert len(COMMANDS) >= 25
    assert not {"MESSAGE:PUBLISH", "SIGNAL:BROADCAST", "USER_TASK:UPDATE", "JOB:FAIL"} - COMMANDS.keys()


ECHO = file(
    decision("Seen", table(["email"], ["seen"], [("-", "customer")])),
    decision("Echo", literal("email"), decisions=["Seen"]),
)
"""Decisions whose inputs, outputs and results have the person."""


DEFINITIONS = "".join(f'<messageEventDefinition messageRef="{name}"/>' for name in ("one", "two"))
TOGETHER = model(
    together(f'<startEvent id="s">{DEFINITIONS}</startEvent>'),
    task("t"),
    "s > t",
    id="together",
    roots=(message("one", None, "one"), message("two", None, "two")),
)


(WAITING,) = (model for model in MODELS if b'id="waiting"' in model)


@pytest.fixture
async def engine(migrated):
    """An engine with the two processes that most tests start."""
    made = WholeEngine(migrated)
    async with made.running():
        await made.deploy(ONE_TASK, WAITING)
        yield made


@pytest.fixture
async def client(services, migrated, engine, monkeypatch):
    monkeypatch.setattr(erasures, "LOGS_S", 0.0)
    monkeypatch.setattr(erasure_by_value, "ROWS", 7)

    async def connect(deadline):
        return await driver.connect(migrated, name="vivero test", deadline=deadline)

    pool = Pool(connect, 2)
    monkeypatch.setattr(erasure_pages, "submit_internal", lambda _services, command, *_: engine.run(command))
    yield Client(api_app.build(changed(services, pool=pool)))
    pool.close()


async def send(engine, command, key=None):
    sent = Append(command, TENANT) if key is None else Append(command, TENANT, idempotency=key)
    appended = await engine.appender.append(sent, deadline_s=10)
    await engine.until(lambda: appended.position in engine.answers)
    return engine.answers[appended.position]


COMMENT = """INSERT INTO user_task_comments
    (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)
VALUES (7, 7, 7, $1, $2, now(), $3)"""


VIEW = """INSERT INTO saved_views
    (tenant_id, owner_type, owner_id, owner_provider, resource, name, query, is_shared, created_at, updated_at)
VALUES ($1, 'USER', $2, '', 'user-tasks', $3, $4, true, now(), now())"""


QUEUED = """INSERT INTO transaction_inbox
    (target_partition, id, tenant_id, intent, payload, size, audit, role_name)
VALUES (2, 1, '<default>', 'X:Y', convert_to(json_build_object('x', $1::text)::text, 'UTF8'), 9, '', 'r')"""
"""It waits in a partition without a leader."""


DRAFT = """INSERT INTO model_drafts
    (tenant_id, name, content, version, created_by, created_at, updated_by, updated_at)
VALUES ($1, $2, $3, 1, $4, now(), $5, now())"""


RULE = """INSERT INTO alert_rules (tenant_id, name, process_id, metric, threshold, clears_at, every_s, url, made_by,
    created_at, updated_at, next_at, since)
VALUES ($1, $2, '', 'RUNNING', 1, 1, 60, $3, $4, now(), now(), 'infinity', now())"""


NOTICES = """INSERT INTO alert_deliveries (alert_rule_key, revision, kind, state, made_at, due_at, error)
SELECT alert_rule_key, 1, 'RAISED', 'FAILED', now(), now(), CASE WHEN name = 'other' THEN $1 ELSE 'HTTP status 500' END
FROM alert_rules"""


async def write_everywhere(engine):
    await engine.deploy(*(model for model in MODELS if model != WAITING))
    await engine.deploy_together({"echo.dmn": ECHO})
    for command in (*COMMANDS.values(), CONDITIONAL):
        await engine.run(command)
    given = variables()
    await engine.run(BroadcastSignal("nobody waits", given))
    await engine.run(EvaluateConditionals(given))
    for id in ("Seen", "Echo"):
        assert (await engine.run(EvaluateDecision(id, variables=given))).rejection is None
    await engine.run(PublishMessage("nobody waits", "k", message_id=PERSON, variables=given, business_id=PERSON))
    await engine.run(PublishMessage("later", PERSON, 3_600_000, PERSON, given, business_id=PERSON))
    await engine.run(CorrelateMessage("hello", PERSON, given))
    await engine.run(CreateInstance("nosuch", variables=given, business_id=PERSON))
    await engine.run(CreateInstance("waiting", variables=variables(k=PERSON), tags=(PERSON,)))
    await engine.run(PublishMessage("hello", PERSON, variables=given))
    await engine.deploy(TOGETHER)
    await engine.run(PublishMessage("one", PERSON, variables=given, business_id=PERSON))
    await engine.run(PublishMessage("one", "somebody", variables=given))
    await engine.run(CreateInstance("p", variables=given))
    for author, text in ((PERSON, "mine"), ("bob", f"call {PERSON} first")):
        await engine.rows(COMMENT, TENANT, author, text)
    for owner, name, query in (
        (PERSON, "mine", ""),
        ("bob", PERSON, ""),
        ("bob", "hers", f"value={quote(json.dumps(PERSON))}"),
        ("bob", "names", f"{quote(PERSON)}=&x=1"),
        ("bob", "others", "value=1"),
    ):
        await engine.rows(VIEW, TENANT, owner, name, query)
    for name, content, *authors in (
        (f"{PERSON}.bpmn", "<x/>", "bob", "bob"),
        ("inside", f'<task name="{"".join(f"&#{ord(c)};" for c in PERSON)}"/>', "bob", "bob"),
        ("first", "<x/>", PERSON, "bob"),
        ("last", "<x/>", "bob", PERSON),
        ("other", "<x/>", "bob", "bob"),
    ):
        await engine.rows(DRAFT, TENANT, name, content, *authors)
    for name, url, maker in (
        (PERSON, "https://example.org", "bob"),
        ("told", f"https://example.org/{PERSON}", PERSON),
        ("made", "https://example.org", PERSON),
        ("other", "https://example.org", "bob"),
    ):
        await engine.rows(RULE, TENANT, name, url, maker)
    await engine.rows(NOTICES, f"no answer from {PERSON}")
    await engine.rows(QUEUED, PERSON)
    for (key,) in await engine.rows("SELECT process_instance_key FROM process_instances WHERE ended_at IS NULL"):
        await engine.run(CancelInstance(key))


async def rows_of_logs(engine):
    return [
        await engine.rows("SELECT position FROM command_log ORDER BY 1"),
        await engine.rows("SELECT position, seq FROM event_log ORDER BY 1, 2"),
    ]


OF_VARIABLE = {"variable": {"name": "email", "value": ESCAPED}}


@pytest.mark.parametrize(
    "subject",
    [pytest.param({"values": [PERSON]}, marks=pytest.mark.long), OF_VARIABLE],
    ids=["text", "variable"],
)
async def test_nothing_is_left_in_any_column_whatever_way_the_person_came_in(engine, client, migrated, subject):
    await engine.run(CreateInstance("p", variables={"email": msgspec.Raw(b'"bob@example.org"')}))
    await write_everywhere(engine)
    before = await rows_of_logs(engine)
    assert {"command_log_1_0.payload", "event_log_1_0.events", "event_log_1_0.rejection"} <= places_of(migrated)
    _, kept, counts = await erase(client, **subject)
    assert places_of(migrated) == set(), (kept, counts)
    assert (counts["queuedCommands"], await engine.value("SELECT count(*) FROM transaction_inbox")) == (1, 0)
    assert (counts["comments"], await engine.value("SELECT count(*) FROM user_task_comments")) == (2, 2)
    assert (counts["savedViews"], await engine.rows("SELECT name FROM saved_views")) == (4, [("others",)])
    left = [("first", "erased", "bob"), ("last", "bob", "erased"), ("other", "bob", "bob")]
    found = await engine.rows("SELECT name, created_by, updated_by FROM model_drafts ORDER BY draft_key")
    assert (counts["modelDrafts"], found) == (4, left)
    found = await engine.rows("SELECT name, url, made_by FROM alert_rules ORDER BY alert_rule_key")
    named = (f" erased {await engine.value('SELECT min(alert_rule_key) FROM alert_rules')}", "made", "other")
    left = list(zip(named, ["https://example.org"] * 3, ("bob", "erased", "bob"), strict=True))
    assert (counts["alertRules"], found) == (3, left)
    errors = await engine.rows("SELECT error FROM alert_deliveries ORDER BY alert_rule_key")
    assert (counts["alertDeliveries"], errors) == (1, [(each,) for each in ("HTTP status 500",) * 2 + ("erased",)])
    for rows, known in zip(await rows_of_logs(engine), before, strict=True):
        assert rows[: len(known)] == known, "the rows stay"
    assert await engine.value("SELECT count(*) FROM command_log WHERE payload LIKE '%bob@example.org%'::bytea") == 1
    assert await erase(client, **subject) == ([], {}, dict.fromkeys(counts, 0)), "nothing is left to do"
    assert await replayed.check(migrated) > 0


@pytest.mark.long
async def test_an_erasure_may_be_killed_after_any_page_while_others_work(engine, client, migrated):
    """The log can be replayed at each moment. The same request from the beginning goes on."""
    await write_everywhere(engine)
    after, pages = {}, 0
    while after is not None:
        answer = await client("POST", "/v2/erasures", OF_VARIABLE | after)
        after = None if answer.json["next"] is None else {"after": answer.json["next"]}
        pages += 1
        if pages % 9 == 0:
            await engine.run(CreateInstance("p", business_id="bob"))
            assert await replayed.check(migrated) > 0
    assert pages > 12
    assert places_of(migrated) == set()


async def test_a_dry_run_counts_and_changes_nothing(engine, client, migrated):
    await write_everywhere(engine)
    before = places_of(migrated), await engine.rows("SELECT * FROM deleted_trees")
    erased, _, counts = await erase(client, **OF_VARIABLE, dryRun=True)
    assert (places_of(migrated), await engine.rows("SELECT * FROM deleted_trees")) == before
    assert len(erased) >= 2
    assert counts["commands"] > 20
    assert counts["events"] > 3
    assert await erase(client, **OF_VARIABLE) != ([], {}, dict.fromkeys(counts, 0))


async def test_texts_take_trees_that_had_them_once_and_keep_what_runs(engine, client, migrated):
    overwritten = await created(engine, "p", email=PERSON)
    await engine.run(SetVariables(overwritten, {"email": msgspec.Raw(b'""'), "customer": msgspec.Raw(b"null")}))
    running = await created(engine, "p", note=PERSON)
    await engine.run(CancelInstance(overwritten))
    assert (await erase(client, **OF_VARIABLE))[:2] == ([], {}), "it has another value now"
    erased, kept, _ = await erase(client, values=[PERSON])
    assert (erased, list(kept)) == ([str(overwritten)], [str(running)])
    await engine.run(CancelInstance(running))
    assert (await erase(client, values=[PERSON]))[0] == [str(running)]
    assert places_of(migrated) == set()


async def created(engine, process, **more):
    values = {name: msgspec.Raw(json.dumps(value).encode()) for name, value in more.items()}
    outcome = await engine.run(CreateInstance(process, variables=values))
    return int(msgspec.json.decode(outcome.response)["processInstanceKey"])


@pytest.mark.long
async def test_the_events_of_a_tree_that_was_deleted_before_are_emptied(engine, client, migrated):
    key = await created(engine, "p", email=PERSON)
    await engine.run(CancelInstance(key))
    async with engine.connection.transaction():
        await history.delete_trees(engine.connection, [key], history.REQUEST)
    erased, _, _ = await erase(client, **OF_VARIABLE)
    assert (erased, places_of(migrated)) == ([str(key)], set())
    assert await engine.value("SELECT reason FROM deleted_trees") == "ERASURE"
    await created(engine, "p")
    assert await replayed.check(migrated) > 0


@pytest.mark.long
async def test_a_message_that_is_buffered_expires_and_nobody_gets_it(engine, client, migrated):
    """The engine has it in memory, and could deliver it after its row is gone."""
    for key, known in ((PERSON, "1"), ("bob", ESCAPED), ("bob", '"bob"')):
        await engine.run(PublishMessage("hello", key, 60_000, variables={"email": msgspec.Raw(known.encode())}))
    assert (await erase(client, **OF_VARIABLE, dryRun=True))[2]["messages"] == 2
    assert await engine.value("SELECT count(*) FROM messages") == 3
    _, _, counts = await erase(client, **OF_VARIABLE)
    assert (counts["messages"], counts["inUse"], places_of(migrated)) == (2, 0, set())
    waiting = await created(engine, "waiting", k=PERSON)
    await created(engine, "waiting", k="bob")
    states = await engine.rows("SELECT process_instance_key, state FROM process_instances ORDER BY 1")
    assert [state for _, state in states] == ["ACTIVATED", "COMPLETED"]
    assert states[0][0] == waiting


@pytest.mark.long
async def test_messages_that_wait_for_others_to_start_an_instance_expire(engine, client, migrated):
    await engine.deploy(TOGETHER)
    for key, known in ((PERSON, "1"), ("eve", ESCAPED), ("bob", '"bob"')):
        await engine.run(PublishMessage("one", key, variables={"email": msgspec.Raw(known.encode())}))
    assert (await erase(client, **OF_VARIABLE, dryRun=True))[2]["pendingStarts"] == 2
    assert await engine.value("SELECT count(*) FROM start_locks") == 3
    _, _, counts = await erase(client, **OF_VARIABLE)
    assert (counts["pendingStarts"], counts["inUse"], places_of(migrated)) == (2, 0, set())
    for key in (PERSON, "bob", "eve"):
        await engine.run(PublishMessage("two", key))
    assert await engine.rows("SELECT process_id FROM process_instances") == [("together",)], "that of bob"
    assert await replayed.check(migrated) > 0


async def test_pending_starts_are_searched_in_pages(engine, client, monkeypatch):
    await engine.deploy(TOGETHER)
    for number in range(20):
        await engine.run(PublishMessage("one", f"{number % 2 and PERSON} {number}"))
    assert (await erase(client, values=[PERSON]))[2]["pendingStarts"] == 10
    assert await engine.value("SELECT count(*) FROM start_locks") == 10


@pytest.mark.long
async def test_what_a_running_instance_waits_for_is_in_use_until_it_ends(engine, client, migrated):
    waiting = await created(engine, "waiting", k=PERSON)
    _, kept, counts = await erase(client, values=[PERSON])
    assert (list(kept), counts["inUse"]) == ([str(waiting)], 1)
    await engine.run(CancelInstance(waiting))
    erased, _, counts = await erase(client, values=[PERSON])
    assert (erased, counts["inUse"], places_of(migrated)) == ([str(waiting)], 0, set())


async def test_idempotency_keys_go_by_value_and_with_their_instance(engine, client):
    sha = b"x" * 32
    for key, command in ((f"new {PERSON}", CreateInstance("nosuch")), ("bob", CreateInstance("nosuch"))):
        await send(engine, command, (key, sha))
    await send(engine, CreateInstance("p", business_id="to be erased"), ("k", sha))
    await engine.run(CancelInstance(await engine.value("SELECT process_instance_key FROM process_instances")))
    assert (await erase(client, values=[PERSON]))[2]["idempotencyKeys"] == 1
    await erase(client, businessId="to be erased")
    assert await engine.rows("SELECT key FROM idempotency_keys") == [("bob",)]


async def test_filters_of_ended_batch_operations_and_failed_background_jobs_go(engine, client, migrated):
    filter = json.dumps({"variables": [{"name": "email", "value": ESCAPED}]})
    for number, still in ((1, "false"), (2, "true")):
        await engine.connection.execute(
            "INSERT INTO batch_operations"
            " (type, open, resource, filter, actor_kind, actor_id, request_key, body_sha, error)"
            f" VALUES ('CANCEL_PROCESS_INSTANCE', {still}, 'process-instances', $1::json, 'USER', 'u', $2, '', $3)",
            (filter, str(number), f"cannot cancel that of {PERSON}" if number == 1 else None),
        )
    await engine.connection.execute(
        "INSERT INTO batch_operation_items (batch_operation_key, item_key, type, process_id, tenant_id, error)"
        " SELECT b.batch_operation_key, n, b.type, 'p', 't', CASE n WHEN 1 THEN $1 WHEN 2 THEN 'another' END"
        " FROM batch_operations b, generate_series(1, 3) n",
        (f"that of {PERSON} is gone",),
    )
    for state in ("failed", "pending"):
        await engine.connection.execute(
            "INSERT INTO job_executions (job_type, state, payload) VALUES ('mail', $1, $2::jsonb)", (state, filter)
        )
    _, _, counts = await erase(client, values=[PERSON])
    assert (counts["batchOperations"], counts["batchOperationItems"], counts["jobExecutions"]) == (1, 1, 1)
    errors = await engine.rows(
        "SELECT b.open, i.error FROM batch_operation_items i JOIN batch_operations b USING (batch_operation_key)"
        " WHERE i.error IS NOT NULL ORDER BY 1, i.item_key"
    )
    assert errors == [(False, "erased"), (False, "another"), (True, f"that of {PERSON} is gone"), (True, "another")]
    assert await engine.rows("SELECT filter::text, error FROM batch_operations WHERE NOT open") == [("{}", "erased")]
    assert await engine.rows("SELECT state FROM job_executions") == [("pending",)]


async def test_names_of_workers_go_and_their_sums_stay(engine, client, migrated):
    for period, worker in (("2026-01-01", PERSON), ("2026-01-01", "erased"), ("2026-01-02", PERSON)):
        await engine.connection.execute(
            "INSERT INTO job_counts VALUES ($1::timestamptz, 't', 'mail', 'COMPLETED', $2, 1, 3, now())",
            (period, worker),
        )
    await engine.connection.execute(
        "INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)"
        " VALUES (1, 't', 'mail', $1, 'FAILED', 1, now())",
        (PERSON,),
    )
    assert (await erase(client, values=[PERSON]))[2]["workers"] == 1
    assert places_of(migrated) == set()
    assert await engine.rows("SELECT worker, jobs::int FROM job_counts ORDER BY period") == [
        ("erased", 6),
        ("erased", 3),
    ]


async def test_what_was_erased_is_recorded_without_the_value(engine, client, migrated):
    await engine.run(CreateInstance("nosuch", business_id=PERSON))
    await erase(client, businessId=PERSON)
    assert await engine.value("SELECT count(*) FROM audit_log WHERE operation = 'DELETE' AND result = 'SUCCESS'") >= 1
    assert places_of(migrated) == set()


@pytest.mark.parametrize(
    "body",
    [
        {"values": []},
        {"values": ["ann"]},
        {"values": ["x" * 1001]},
        {"values": [PERSON] * 21},
        {"values": [PERSON], "businessId": "a"},
        *(
            {"values": [PERSON], "after": f"{kind}:x"}
            for kind in ("log", "keys", "batches", "items", "executions", "workers", "messages", "other")
        ),
    ],
)
@pytest.mark.harmless
async def test_bad_input(make_client, body):
    assert (await make_client()("POST", "/v2/erasures", body)).status == 400


@pytest.mark.parametrize("kind", ["batches", "items", "executions", "workers"])
async def test_callers_of_some_tenants_cannot_name_a_table_that_has_none(services, kind):
    """Answers do not name it to them, and a guess must not reach the rows of other tenants."""
    client = Client(api_app.build(changed(services, access=As("a"), multi_tenancy=True)))
    answer = await client("POST", "/v2/erasures", {"values": [PERSON], "after": f"{kind}:"})
    assert (answer.status, answer.problem["title"]) == (400, "INVALID_ARGUMENT")
