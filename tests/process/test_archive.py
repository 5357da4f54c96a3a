"""Whole programs are killed while they write to an S3-compatible store: every tree is in the tables or in one file."""

import json
from collections import Counter
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import psycopg
import pytest
import trio
from click.testing import CliRunner

from tests.engine.jobs import object_store
from tests.engine.jobs.object_store import InBucket
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from vivero.cli import main
from vivero.engine.retention.archive.compression import summed

ROUNDS, TREES = 4, 20
LARGE = 4_000
"""Bytes of a variable: a file has many packets."""
MOST_PACKETS = 8
"""The packets of one file, there and back: a program is killed behind one of them, the first time behind the first."""
HOUR_MS = 3_600_000
ENVIRONMENT = {
    "VIVERO_CONTROL_CLOCK": "true",
    "VIVERO_RETENTION_INSTANCES": "PT1H",
    "VIVERO_RETENTION_EVERY_S": "0.05",
    "VIVERO_RETENTION_CATCH_UP": "1000000",
    "VIVERO_RETENTION_ARCHIVE": f"s3://{object_store.BUCKET}/of/vivero",
    "VIVERO_RETENTION_ARCHIVE_REGION": "us-east-1",
    "VIVERO_RETENTION_ARCHIVE_ACCESS_KEY": object_store.KEYS[0],
    "VIVERO_RETENTION_ARCHIVE_SECRET": object_store.KEYS[1],
}
DELETED = "SELECT count(*) FROM deleted_trees"
LEFT_OVER = "SELECT count(*) FROM archive_files WHERE state <> 'COMPLETE'"
COMPLETE = "SELECT name, sha256, bytes, trees FROM archive_files WHERE state = 'COMPLETE'"


class Way:
    """The way to the store, on which the program is killed behind some packets."""

    def __init__(self, endpoint) -> None:
        at = urlsplit(endpoint)
        self._store = at.hostname, at.port
        self.left, self.kill = 0, lambda: None

    @asynccontextmanager
    async def open(self):
        """The address for the program, while the block runs."""
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(partial(trio.serve_tcp, self._pass_on, 0, host="127.0.0.1"))
            yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            nursery.cancel_scope.cancel()

    async def _pass_on(self, client):
        async with client, await trio.open_tcp_stream(*self._store) as store, trio.open_nursery() as nursery:
            nursery.start_soon(self._pump, client, store, nursery.cancel_scope)
            nursery.start_soon(self._pump, store, client, nursery.cancel_scope)

    async def _pump(self, source, target, scope):
        try:
            async for packet in source:
                self.left -= 1
                if self.left == 0:
                    self.kill()
                await target.send_all(packet)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # its program was killed
        scope.cancel()


async def create(caller, count, text):
    """Instances that end at once; their keys."""
    keys = set()
    for _ in range(count):
        document = {"processDefinitionId": "straight", "variables": {"text": text()}}
        answer = await caller.call("POST", "/v2/process-instances", document)
        assert answer.status == 200
        keys.add(int(answer.json["processInstanceKey"]))
    return keys


def in_files(kept, names):
    """Root → in how many of these files it is, by their lines."""
    lines = [json.loads(line) for name in names for line in kept.content(name).splitlines()]
    assert all(len(line["process_instances"]) == 1 and line["variables"] for line in lines)
    return Counter(int(line["rootKey"]) for line in lines)


def check(connection, kept, created):
    """Every tree is in the tables, or in one complete file; what the database says of a file is true."""
    rows = connection.execute(COMPLETE).fetchall()
    for name, sha256, size, _ in rows:
        assert summed([kept.stored(name)]) == (sha256, size)
    archived = in_files(kept, [row[0] for row in rows])
    assert sum(row[3] for row in rows) == sum(archived.values())
    assert set(archived.values()) <= {1}, "a tree is in two files that count"
    present = {key for (key,) in connection.execute("SELECT process_instance_key FROM process_instances")}
    assert present | archived.keys() == created, "a tree was deleted that is in no file"
    return len(created) - len(present)


@pytest.mark.long
async def test_kills_during_uploads_lose_and_double_no_tree(make_program, database, unsafe, random_faults):
    def text():
        return random_faults.randbytes(LARGE // 2).hex()

    with object_store.serving() as endpoint, psycopg.connect(database, autocommit=True) as connection:
        kept, way = InBucket(endpoint), Way(endpoint)
        async with way.open() as address:
            environment = unsafe | ENVIRONMENT | {"VIVERO_RETENTION_ARCHIVE_ENDPOINT": address}
            program = make_program("--database-url", database, environment=environment)
            way.kill = partial(program.signal, 9)
            await program.restart()
            await deploy(program.port, "straight.bpmn")
            created, seen = set(), []
            (begin_ms,) = connection.execute("SELECT to_epoch_ms(clock_now() + interval '2 hours')").fetchone()

            async def killed_or_done():
                return not program.running or connection.execute(DELETED).fetchone()[0] == len(created)

            async def delete_orphans():
                return connection.execute(LEFT_OVER).fetchone() == (0,)

            for number in range(ROUNDS):
                async with Caller(program.port) as caller:
                    created |= await create(caller, TREES, text)
                    at = {"timestamp": begin_ms + 2 * number * HOUR_MS}
                    assert (await caller.call("PUT", "/v2/clock", at)).status == 204
                    way.left = random_faults.randint(1, MOST_PACKETS) if number else 1
                await eventually(killed_or_done, "retention archives, or is killed", within_s=60)
                way.left = 0
                if not program.running:
                    seen.append(check(connection, kept, created))
                    await program.restart()
            await eventually(killed_or_done, "everything is archived and deleted", within_s=60)
            assert check(connection, kept, created) == len(created)
            assert seen, "no program was killed"
            connection.execute("UPDATE archive_files SET begun_at = begun_at - interval '3 hours'")
            await eventually(delete_orphans, "what killed programs left behind is deleted", within_s=60)
            await program.kill()
            assert sorted(kept.names()) == sorted(row[0] for row in connection.execute(COMPLETE))
            environment |= {"VIVERO_DATABASE_URL": database, "VIVERO_RETENTION_ARCHIVE_ENDPOINT": endpoint}
            await trio.to_thread.run_sync(people_look, environment, created)
            print(f"deleted at each kill: {seen}")
        kept.close()


def people_look(environment, created):
    """`vivero archive check` and `show` find everything, each tree once."""
    checked = CliRunner().invoke(main, ["archive", "check"], env=environment)
    assert (checked.exit_code, ", 0 faults" in checked.stdout) == (0, True), checked.output
    for key in sorted(created)[:: ROUNDS * 2]:
        shown = CliRunner().invoke(main, ["archive", "show", str(key)], env=environment)
        assert [int(json.loads(line)["rootKey"]) for line in shown.stdout.splitlines()] == [key]
