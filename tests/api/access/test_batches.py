"""Permissions for batch operations: to create, see and change them, and for their items."""

import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from tests.api.access.conftest import basic, bearer
from tests.api.access.test_tenant_reads import separated
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY
from tests.databases import Databases
from tests.server_objects import new_database
from tests.two_tenants import OFFSETS, OTHER, fill
from vivero.api import app as api_app
from vivero.api.access.creators import PresentRights
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, rights
from vivero.engine.batch_operations.items import NEEDED
from vivero.storage.access import row_security
from vivero.storage.access.identities import Grant
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool
from vivero.storage.work.batch_operations import CANCEL_PROCESS_INSTANCE, RESOLVE_INCIDENT, CallerBounds, Creator

WITH_MORE = [f"/v2/process-instances/{each}" for each in ("migration", "modification", "suspension", "resumption")]
CREATING = (
    "/v2/process-instances/cancellation",
    "/v2/process-instances/deletion",
    "/v2/process-instances/incident-resolution",
    "/v2/incidents/resolution",
    "/v2/decision-instances/deletion",
)
CHANGES = ("suspension", "resumption", "cancellation")
ROUTES = {
    *(f"POST {path}" for path in (*CREATING, *WITH_MORE)),
    *(f"POST /v2/batch-operations/{{batchOperationKey}}/{change}" for change in CHANGES),
    "POST /v2/process-instances/{processInstanceKey}/incident-resolution",
    "POST /v2/jobs/batch-update",
    *(
        f"POST /v2/process-definitions/{{processDefinitionKey}}/instance-{each}"
        for each in ("suspension", "resumption")
    ),
}
"""The routes whose callers with other tenants are tried here."""
FILTER = {"filter": {"tenantId": "a"}}


@pytest.fixture(scope="session")
def databases(administration, postgres_dsn, template_database, reuse):
    """Databases under row-level security: one of them is emptied for the next test, as its tables do not change."""
    with new_database(postgres_dsn, "template", f"TEMPLATE {template_database} STRATEGY file_copy") as template:
        trio.run(separated, template)
        name = conninfo_to_dict(template)["dbname"]
        made = Databases(administration, postgres_dsn, name, reuse, "SELECT make_log_partitions(0)")
        yield made
        made.close()


@pytest.fixture
async def client_of(rows, stored, database):
    """A client of an application with multi-tenancy and its second role; there are batches of tenants `a` and `b`."""
    for key, tenant in ((KEY, "a"), (OTHER, "b")):
        fill(rows, key, tenant)
    reader = row_security.reader_of(database)
    pool = Pool(lambda deadline: driver.connect(reader, name="vivero test", deadline=deadline), 2)

    def make(tenants, allowed=ALL_RIGHTS):
        ann = Caller("USER", "ann", allowed, tenants=None if tenants is None else frozenset(tenants))
        services = changed(stored, readers=pool, multi_tenancy=True, access=OneCaller(ann))
        return Client(api_app.build(services))

    yield make
    pool.close()


async def test_a_batch_is_bounded_by_the_tenants_of_its_creator(client_of, rows):
    for tenants in ("a", "ab", None):
        for path in CREATING:
            assert (await client_of(tenants)("POST", path, FILTER)).status == 200
    found = rows.execute(
        "SELECT DISTINCT tenants, processes FROM batch_operations WHERE filter::text <> '{}'"
    ).fetchall()
    assert sorted(found, key=str) == [(None, None), (["a", "b"], None), (["a"], None)]


@pytest.mark.parametrize("change", CHANGES)
async def test_only_readers_of_all_tenants_of_a_batch_change_it(client_of, change):
    own, foreign, unknown = (key + OFFSETS["batchOperationKey"] for key in (KEY, OTHER, KEY + 5000))
    client = client_of("a")
    answers = [await client("POST", f"/v2/batch-operations/{key}/{change}") for key in (own, foreign, unknown)]
    assert [answer.status for answer in answers] == [204, 404, 404]
    assert answers[1].problem["detail"].replace(str(foreign), "") == answers[2].problem["detail"].replace(
        str(unknown), ""
    )
    assert (await client_of(None)("POST", f"/v2/batch-operations/{foreign}/{change}")).status == 204


async def test_a_batch_of_several_tenants_is_seen_by_those_who_have_them_all(client_of):
    made = (await client_of("ab")("POST", CREATING[0], FILTER)).json["batchOperationKey"]
    for tenants, status in (("a", 404), ("ab", 200), ("abc", 200), (None, 200)):
        client = client_of(tenants)
        assert (await client("GET", f"/v2/batch-operations/{made}")).status == status
        found = (await client("POST", "/v2/batch-operations/search")).json["items"]
        assert (made in [item["batchOperationKey"] for item in found]) == (status == 200)


async def test_the_incidents_of_a_foreign_instance_are_those_of_an_unknown_one(client_of):
    statuses = [
        (await client_of("a")("POST", f"/v2/process-instances/{key}/incident-resolution")).status
        for key in (KEY, OTHER, KEY + 5000)
    ]
    assert statuses == [200, 404, 404]


@pytest.mark.parametrize(
    ("grants", "statuses"),
    [
        ([("BATCH", "*", "CREATE")], [403] * 5),
        ([("BATCH", "*", "CREATE"), ("PROCESS_DEFINITION", "*", "READ_PROCESS_INSTANCE")], [403] * 5),
        (
            [("BATCH", "*", "CREATE"), ("PROCESS_DEFINITION", "p", "READ_PROCESS_INSTANCE", "DELETE_PROCESS_INSTANCE")],
            [403, 200, 403, 403, 403],
        ),
        (
            [("BATCH", "*", "CREATE"), ("PROCESS_DEFINITION", "p", "READ_PROCESS_INSTANCE", "CANCEL_PROCESS_INSTANCE")],
            [200, 403, 403, 403, 403],
        ),
        (
            [
                ("BATCH", "*", "CREATE_BATCH_OPERATION_RESOLVE_INCIDENT"),
                ("PROCESS_DEFINITION", "*", "READ_PROCESS_INSTANCE", "CANCEL_PROCESS_INSTANCE"),
                ("PROCESS_DEFINITION", "p", "UPDATE_PROCESS_INSTANCE"),
            ],
            [403, 403, 200, 200, 403],
        ),
        (
            [
                ("BATCH", "*", "CREATE_BATCH_OPERATION_DELETE_DECISION_INSTANCE"),
                ("DECISION_DEFINITION", "d", "READ_DECISION_INSTANCE", "DELETE_DECISION_INSTANCE"),
            ],
            [403, 403, 403, 403, 200],
        ),
        ([("BATCH", "*", "CREATE"), ("DECISION_DEFINITION", "d", "DELETE_DECISION_INSTANCE")], [403] * 5),
        (
            [
                ("BATCH", "7", "CREATE"),
                ("PROCESS_DEFINITION", "*", *(each.action for each in NEEDED.values()), "READ_PROCESS_INSTANCE"),
            ],
            [403] * 5,
        ),
    ],
)
async def test_a_creator_needs_the_type_and_the_processes(client_of, grants, statuses):
    allowed = rights((), [Grant(resource, id, tuple(actions)) for resource, id, *actions in grants])
    client = client_of("a", allowed)
    assert [(await client("POST", path, FILTER)).status for path in CREATING] == statuses


MODIFICATION = {"filter": {"state": "ACTIVE"}, "moveInstructions": [{"sourceElementId": "a", "targetElementId": "b"}]}
OWN = {
    "MODIFY_PROCESS_INSTANCE": ("/v2/process-instances/modification", MODIFICATION, "MODIFY_PROCESS_INSTANCE"),
    "UPDATE_JOB": (
        *("/v2/jobs/batch-update", {"filter": {"type": "work"}, "changeset": {"retries": 1}}),
        "UPDATE_PROCESS_INSTANCE",
    ),
}
"""Type of a batch → the route that creates it, a body, and the permission for its items."""


@pytest.mark.parametrize("general", [True, False])
@pytest.mark.parametrize("type", OWN)
async def test_each_type_needs_its_own_permissions(client_of, type, general):
    path, body, action = OWN[type]
    batch = Grant("BATCH", "*", ("CREATE" if general else f"CREATE_BATCH_OPERATION_{type}",))
    other_batch = Grant("BATCH", "*", ("CREATE_BATCH_OPERATION_RESOLVE_INCIDENT",))
    others = tuple(sorted({needed.action for needed in NEEDED.values()} - {action}))
    for first, actions, status in ((batch, (action,), 200), (batch, others, 403), (other_batch, (action,), 403)):
        grants = [first, Grant("PROCESS_DEFINITION", "p", ("READ_PROCESS_INSTANCE", *actions))]
        assert (await client_of("a", rights((), grants))("POST", path, body)).status == status


@pytest.mark.parametrize("verb", ["suspension", "resumption"])
async def test_the_definition_of_suspended_instances_is_one_that_the_caller_may_use(client_of, verb):
    """The tenants `a` and `b` have one definition each; the processes are `process-of-a` and `process-of-b`."""
    both = ("READ_PROCESS_INSTANCE", "SUSPEND_PROCESS_INSTANCE")
    for process, actions, key, status in (
        ("process-of-a", both, KEY, 200),
        ("process-of-a", both, OTHER, 404),
        ("process-of-a", both, KEY + 5000, 404),
        ("another", both, KEY, 403),
        ("process-of-a", both[:1], KEY, 403),
    ):
        grants = [Grant("BATCH", "*", ("CREATE",)), Grant("PROCESS_DEFINITION", process, actions)]
        client = client_of("a", rights((), grants))
        path = f"/v2/process-definitions/{key + OFFSETS['processDefinitionKey']}/instance-{verb}"
        assert (await client("POST", path)).status == status, (process, actions, key)


async def test_a_batch_is_bounded_by_the_processes_that_its_creator_sees_and_changes(client_of, rows):
    grants = [
        Grant("BATCH", "*", ("CREATE",)),
        Grant("PROCESS_DEFINITION", "p", ("READ_PROCESS_INSTANCE", "CANCEL_PROCESS_INSTANCE")),
        Grant("PROCESS_DEFINITION", "seen", ("READ_PROCESS_INSTANCE",)),
        Grant("PROCESS_DEFINITION", "blind", ("CANCEL_PROCESS_INSTANCE",)),
    ]
    assert (await client_of("a", rights((), grants))("POST", CREATING[0], FILTER)).status == 200
    assert rows.execute("SELECT processes FROM batch_operations WHERE processes IS NOT NULL").fetchall() == [(["p"],)]


# -- the rights that a creator has when an item is sent


@pytest.fixture
async def present(stored):
    """The present rights of a creator."""
    present = PresentRights(authentication=True, multi_tenancy=True)

    async def ask(kind, id, *rules, type=CANCEL_PROCESS_INSTANCE):
        async with stored.reads.pool.connection() as connection:
            return await present(connection, Creator(kind, id, rules), type)

    return ask


NOTHING = CallerBounds((), ())


async def test_rights_are_those_of_now(present, people, rows):
    people.user("ann", "operator")
    assert await present("USER", "ann") == CallerBounds((), None), "without tenants"
    people.member("TENANT", "<default>", "USER", "ann")
    assert await present("USER", "ann") == CallerBounds(("<default>",), None)
    rows.execute("DELETE FROM members WHERE container_id = 'operator'")
    assert await present("USER", "ann") == CallerBounds(("<default>",), ())
    people.grant("USER", "ann", "PROCESS_DEFINITION", "p", "READ_PROCESS_INSTANCE", "UPDATE_PROCESS_INSTANCE")
    assert await present("USER", "ann", type=RESOLVE_INCIDENT) == CallerBounds(("<default>",), ("p",))
    assert await present("USER", "ann") == CallerBounds(("<default>",), ())


async def test_a_token_has_rights_until_it_is_revoked(present, people, rows):
    people.token("nightly", "operator")
    assert await present("TOKEN", "nightly") == CallerBounds(("<default>",), None)
    rows.execute("UPDATE api_tokens SET expires_at = now() - interval '1 second'")
    assert await present("TOKEN", "nightly") == NOTHING
    rows.execute("DELETE FROM api_tokens")
    assert await present("TOKEN", "nightly") == NOTHING


async def test_a_client_of_an_identity_provider_has_what_its_mapping_rules_give(present, people):
    people.member("ROLE", "operator", "MAPPING_RULE", "staff")
    assert await present("CLIENT", "shop", "staff") == CallerBounds((), None)
    assert await present("CLIENT", "shop") == CallerBounds((), ())


async def test_a_user_of_the_provider_has_none_when_a_local_user_gets_the_name(stored, people):
    people.member("ROLE", "operator", "USER", "ann")
    present = PresentRights(authentication=True, multi_tenancy=False)
    shared = PresentRights(authentication=True, multi_tenancy=False, shared_names=["ann"])
    ann = Creator("USER", "ann", (), "OIDC")
    async with stored.reads.pool.connection() as connection:
        assert await present(connection, ann, CANCEL_PROCESS_INSTANCE) == CallerBounds()
        people.user("ann")
        assert await present(connection, ann, CANCEL_PROCESS_INSTANCE) == NOTHING
        assert await shared(connection, ann, CANCEL_PROCESS_INSTANCE) == CallerBounds()
        for provider in ("PASSWORD", None):
            creator = Creator("USER", "ann", (), provider)
            assert await present(connection, creator, CANCEL_PROCESS_INSTANCE) == CallerBounds()


async def test_nobody_has_rights_once_authentication_is_required(present, stored):
    assert await present("ANONYMOUS", "anonymous") == NOTHING
    open_server = PresentRights(authentication=False, multi_tenancy=False)
    async with stored.reads.pool.connection() as connection:
        assert (
            await open_server(connection, Creator("ANONYMOUS", "anonymous"), CANCEL_PROCESS_INSTANCE) == CallerBounds()
        )


async def test_the_creator_of_a_batch_is_kept_with_its_mapping_rules(people, secured, rows):
    people.user("root", "admin")
    token = people.token("nightly", "admin")
    for headers in (basic("root"), bearer(token)):
        assert (await secured("POST", CREATING[0], FILTER, headers)).status == 200
    found = rows.execute(
        "SELECT actor_kind, actor_id, mapping_rules, actor_provider FROM batch_operations ORDER BY 2"
    ).fetchall()
    assert found == [("TOKEN", "nightly", [], "TOKEN"), ("USER", "root", [], "PASSWORD")]
