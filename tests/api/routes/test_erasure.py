"""The erasure of a person's data: nothing of it is left in any table, positions stay, running instances are kept."""

import psycopg
import pytest
import trio

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY, NOW
from tests.chaos import replayed
from tests.core import event_models
from tests.core.models import ONE_TASK, end, process, start
from tests.engine.whole_engine import WholeEngine
from tests.storage.schemas.running_instances import MODELS, values
from tests.two_tenants import OTHER, fill
from vivero.api import app as api_app
from vivero.api.routes import erasures
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.directory import DirectoryStore
from vivero.storage.retention import erasure, history
from vivero.storage.retention.archives import ArchiveProblem
from vivero.storage.retention.erasure import ErasureSubject

SECRET = "ann.smith@example.org"
CALLING = event_models.model(start(), event_models.call("call", "p"), end(), "start > call > end", id="caller")


def places_of(dsn, text):
    """The tables that have the text somewhere."""
    found = set()
    with psycopg.connect(dsn) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            query = f"SELECT count(*) FROM {table} t WHERE to_jsonb(t)::text LIKE %s"
            if table.startswith("command_log_"):
                query = f"SELECT count(*) FROM {table} t WHERE convert_from(payload, 'UTF8') LIKE %s"
            if connection.execute(query, [f"%{text}%"]).fetchone() != (0,):
                found.add(table)
    return found


async def positions(engine):
    query = "SELECT position FROM {} ORDER BY position"
    return [await engine.rows(query.format(table)) for table in ("command_log", "event_log")]


async def erase(engine, subject):
    async with engine.connection.transaction():
        found = await erasure.trees_of(engine.connection, subject, 0, 50)
        verdicts = await history.delete_trees(engine.connection, found, history.ERASURE)
        erased = [root for root in found if verdicts[root] == history.DELETED]
        await erasure.erase_logs(engine.connection, erased)
    return len(found), len(erased)


async def test_nothing_is_left_of_what_has_ended_and_replay_gives_the_rest(migrated):
    engine = WholeEngine(migrated)
    async with engine.running():
        await engine.deploy(ONE_TASK, CALLING, *MODELS)
        given = values(email=SECRET)
        await engine.run(CreateInstance("p", variables=given, business_id=SECRET))
        await engine.run(CreateInstance("caller", variables=given))
        await engine.run(CreateInstance("waiting", variables=values(k="k")))
        await engine.run(PublishMessage("hello", "k", variables=given))
        await engine.run(CreateInstance("p", variables=values(email="bob")))
        running = await engine.rows(
            "SELECT process_instance_key FROM process_instances"
            " WHERE parent_process_instance_key IS NULL AND ended_at IS NULL"
        )
        assert await erase(engine, ErasureSubject(variable="email", value=f'"{SECRET}"')) == (3, 1), (
            "the one with the message has ended"
        )
        for (key,) in running:
            await engine.run(CancelInstance(key))
        before = await positions(engine)
        assert {"command_log_1_0", "event_log_1_0", "variables"} <= places_of(migrated, SECRET)
        assert await erase(engine, ErasureSubject(SECRET)) == (1, 1)
        assert await erase(engine, ErasureSubject(variable="email", value=f'"{SECRET}"')) == (1, 1)
        assert places_of(migrated, SECRET) == set()
        assert await positions(engine) == before
        assert places_of(migrated, "bob") >= {"variables", "event_log_1_0", "command_log_1_0"}
        assert await engine.value("SELECT count(*) FROM deleted_trees WHERE reason = 'ERASURE'") == 3
        await engine.run(CreateInstance("p", variables=values(email="carl")))
    assert await replayed.check(migrated) > 0


async def test_a_large_tree_is_erased_though_that_takes_long(migrated, connection):
    """Its log has as many rows as the tree: the pools' time for reads would never be enough."""
    engine, given = WholeEngine(migrated), []
    async with engine.running():
        await engine.deploy(process(start(), end(), "start > end"))
        await engine.run(CreateInstance("p", variables=values(email=SECRET)))
    await connection.script(
        "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;"
        "CREATE TRIGGER slowly AFTER UPDATE ON event_log FOR EACH STATEMENT EXECUTE FUNCTION slowly();"
        "SET statement_timeout = '200ms'"
    )
    execute = connection.execute

    async def noted(*arguments, deadline=None, **options):
        given.append(deadline)
        return await execute(*arguments, deadline=deadline, **options)

    connection.execute = noted
    ((root,),) = (await execute("SELECT root_key FROM process_instances")).rows
    async with connection.transaction():
        await erasure.erase_logs(connection, [root])
    assert len([each for each in given if each is not None and each > trio.current_time() + 60]) == 5
    assert "event_log_1_0" not in places_of(migrated, SECRET)


async def test_the_answer_names_what_was_erased_and_what_was_kept(reader, rows):
    rows.instance(KEY, business_id="ann", state="COMPLETED", ended_at=NOW)
    rows.instance(KEY + 1, business_id="ann")
    rows.variable(KEY + 2, scope_key=KEY, process_instance_key=KEY, root_key=KEY)
    answer = await reader("POST", "/v2/erasures", {"businessId": "ann"})
    assert answer.status == 200, answer.body
    assert answer.json["erased"] == [str(KEY)]
    (kept,) = answer.json["kept"]
    assert (kept["processInstanceKey"], answer.json["next"]) == (str(KEY + 1), None)
    assert kept["reason"].endswith("it has not ended")
    found = rows.execute("SELECT entity_key, operation, result FROM audit_log").fetchall()
    assert found == [(str(KEY), "DELETE", "SUCCESS")]


async def test_pages_go_on_behind_the_last_root(reader, rows, monkeypatch):
    monkeypatch.setattr(erasures, "TREES", 2)
    for number in range(3):
        rows.instance(KEY + number, business_id="ann")
    first = (await reader("POST", "/v2/erasures", {"businessId": "ann"})).json
    assert first["next"] == str(KEY + 1)
    second = (await reader("POST", "/v2/erasures", {"businessId": "ann", "after": first["next"]})).json
    assert [each["processInstanceKey"] for each in second["kept"]] == [str(KEY + 2)]


async def test_only_the_tenants_of_the_caller(rows, stored, connection):
    for key, tenant in ((KEY, "a"), (OTHER, "b")):
        fill(rows, key, tenant)
    rows.execute("UPDATE process_instances SET business_id = 'ann'")
    for subject in (ErasureSubject("ann"), ErasureSubject(variable="x", value="1")):
        assert await erasure.trees_of(connection, subject, 0, 50, ["a"]) != []
        assert all(key < OTHER for key in await erasure.trees_of(connection, subject, 0, 50, ["a"]))


@pytest.fixture
def archive(tmp_path, stored):
    return Archive(DirectoryStore(tmp_path / "archive"), stored.reads.pool.connection)


def put_ended(rows, key, **columns):
    """An instance that has ended, with an event in the log."""
    rows.instance(key, root_key=key, state="COMPLETED", ended_at=NOW, **columns)
    rows.execute(
        "INSERT INTO event_log (partition_id, position, seq, root_key, events, version, processed_at)"
        " VALUES (0, %s, 0, %s, '[[\"x\"]]', 1, now())",
        (key, key),
    )


async def test_it_reaches_what_only_the_archive_has(rows, stored, archive, monkeypatch):
    """Deleted by retention: erased from the archive and from the logs, file by file, and recorded."""
    monkeypatch.setattr(erasures, "ARCHIVE_S", 0.0)
    client = Client(api_app.build(changed(stored, archive=archive)))
    for number, name in enumerate(("ann", "bob", "ann")):
        put_ended(rows, KEY + number, business_id=name)
        assert await archive.before_deletion([KEY + number]) == [KEY + number]
    rows.execute("DELETE FROM process_instances WHERE process_instance_key <> %s", (KEY + 2,))
    found, after = {"erased": [], "erasedFromArchive": []}, {}
    while after is not None:
        answer = await client("POST", "/v2/erasures", {"businessId": "ann"} | after)
        assert answer.status == 200, answer.body
        for name, keys in found.items():
            keys += answer.json[name]
        after = None if answer.json["next"] is None else {"after": answer.json["next"]}
    assert found["erased"] == [str(KEY + 2)]
    assert sorted(found["erasedFromArchive"]) == [str(KEY), str(KEY + 2)]
    events = rows.execute("SELECT root_key, events FROM event_log ORDER BY 1").fetchall()
    assert events == [(KEY, "[]"), (KEY + 1, '[["x"]]'), (KEY + 2, "[]")]
    recorded = rows.execute("SELECT entity_key FROM audit_log ORDER BY 1").fetchall()
    assert recorded == [(str(KEY),), (str(KEY + 2),), (str(KEY + 2),)]
    assert rows.execute("SELECT root_key, reason FROM archive_erasures ORDER BY 1").fetchall() == [
        (KEY, "ERASURE"),
        (KEY + 2, "ERASURE"),
    ]


async def test_a_damaged_file_is_named_and_the_others_are_searched(rows, stored, archive, tmp_path):
    client = Client(api_app.build(changed(stored, archive=archive)))
    for key in (KEY, KEY + 1):
        put_ended(rows, key, business_id="ann")
        await archive.before_deletion([key])
    file = sorted((tmp_path / "archive").rglob("*.gz"))[0]
    file.write_bytes(b"x")
    answer = await client("POST", "/v2/erasures", {"businessId": "ann", "after": "archive:"})
    assert (answer.status, answer.json["damaged"]) == (200, [str(file.relative_to(tmp_path / "archive"))])
    assert len(answer.json["erasedFromArchive"]) == 1


async def test_while_the_archive_is_away_the_answer_says_so(rows, stored, archive, monkeypatch):
    client = Client(api_app.build(changed(stored, archive=archive)))
    put_ended(rows, KEY, business_id="ann")
    await archive.before_deletion([KEY])

    def away(*_arguments):
        raise ArchiveProblem("the store does not answer")

    monkeypatch.setattr(DirectoryStore, "contents", away)
    answer = await client("POST", "/v2/erasures", {"businessId": "ann", "after": "archive:"})
    assert (answer.status, "does not answer" in answer.problem["detail"]) == (503, True)
    answer = await Client(api_app.build(stored))("POST", "/v2/erasures", {"businessId": "ann", "after": "archive:"})
    assert (answer.status, "there is none" in answer.problem["detail"]) == (400, True)


@pytest.mark.parametrize(
    "body",
    [
        {"businessId": "a", "after": "archiv:x"},
        {},
        {"businessId": "a", "variable": {"name": "x", "value": "1"}},
        {"variable": {"name": "x", "value": "ann"}},
        {"variable": {"name": "x"}},
        {"businessId": 5},
    ],
)
@pytest.mark.harmless
async def test_bad_input(reader, body):
    assert (await reader("POST", "/v2/erasures", body)).status == 400
