"""The process definition cache, and the statements below it."""

import hashlib
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from tests.runtime.consumer.bench import beat
from vivero.engine.bpmn.parser import Parsed, parse
from vivero.engine.runtime.definitions import CacheSettings, DefinitionCache, UnreadableResource
from vivero.engine.runtime.single_flight import SingleFlight
from vivero.engine.runtime.warm_up import WarmUp
from vivero.storage.state import definitions

BPMN = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="{id}" isExecutable="true">
    <startEvent id="start"/><endEvent id="end"/><sequenceFlow id="go" sourceRef="start" targetRef="end"/>
  </process>
</definitions>"""


def file(process_id="order"):
    content = BPMN.format(id=process_id).encode()
    return hashlib.sha256(content).hexdigest(), content


@pytest.fixture
def acquire(connection):
    """Lends the test's connection, one at a time."""
    lock = trio.Lock()

    @asynccontextmanager
    async def acquire():
        async with lock:
            yield connection

    return acquire


class Counting:
    """The parser, counting what it parsed."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def __call__(self, content: bytes, name: str) -> Parsed:
        self.parsed.append(name)
        return parse(content, name)


@pytest.fixture
def counting():
    return Counting()


@pytest.fixture
def cache(acquire, counting):
    return DefinitionCache(acquire, read=counting)


async def deploy(connection, key, process_id="order", version=1, tenant="t", state="ACTIVE"):
    sha256, content = file(process_id)
    await definitions.store_resources(connection, [(sha256, content)])
    await connection.execute(
        "INSERT INTO process_definitions VALUES ($1, 1, $2, $3, $4, NULL, NULL, 'order.bpmn', $5, $6, now())",
        (key, tenant, process_id, version, sha256, state),
    )


# Storage


async def test_resources_are_stored_by_content(connection):
    one, two = file("one"), file("two")
    await definitions.store_resources(connection, [one, two, one])
    await definitions.store_resources(connection, [two])
    assert await definitions.resource(connection, one[0]) == one[1]
    assert await definitions.resource(connection, two[0]) == two[1]
    assert await definitions.resource(connection, "0" * 64) is None
    assert (await connection.execute("SELECT count(*) FROM resources")).rows == [(2,)]


async def test_any_bytes_can_be_stored(connection):
    content = bytes(range(256)) * 100
    await definitions.store_resources(connection, [("x", content), ("empty", b"")])
    assert await definitions.resource(connection, "x") == content
    assert await definitions.resource(connection, "empty") == b""


# The cache


async def test_a_definition_is_parsed_once(cache, connection, counting):
    await deploy(connection, 5)
    found = await cache.get("t", 5)
    assert (found.row.key, found.row.version, found.row.state) == (5, 1, "ACTIVE")
    assert (found.process.id, sorted(found.process.nodes)) == ("order", ["end", "order", "start"])
    for _ in range(999):
        assert await cache.get("t", 5) == found
    assert len(counting.parsed) == 1
    assert cache.stats.hits == 999
    assert cache.stats.misses == 1
    assert cache.stats.hit_rate > 0.99


async def test_a_definition_belongs_to_its_tenant(cache, connection):
    await deploy(connection, 5)
    assert await cache.get("u", 5) is None
    assert await cache.get("t", 6) is None
    assert await cache.latest("u", "order") is None


async def test_what_the_api_parsed_is_not_parsed_again(cache, connection, counting):
    sha256, content = file()
    assert cache.resource_nowait(sha256) is None
    cache.put(sha256, parse(content, "order.bpmn"), len(content))
    assert sorted(cache.resource_nowait(sha256)) == ["order"]
    await deploy(connection, 5)
    assert (await cache.get("t", 5)).process is cache.resource_nowait(sha256)["order"]
    assert counting.parsed == []


async def test_files_with_problems_are_not_kept(cache):
    cache.put("x", parse(b"<nonsense/>", "nonsense.bpmn"), 11)
    assert cache.resource_nowait("x") is None


async def test_a_file_that_cannot_be_read_any_more_says_why(cache, connection):
    await definitions.store_resources(connection, [("x", b"<nonsense/>")])
    with pytest.raises(UnreadableResource, match="nonsense"):
        await cache.resource("x")


async def test_many_who_ask_at_once_cause_one_load(cache, connection, counting):
    await deploy(connection, 5)
    found = []

    async def ask():
        found.append(await cache.get("t", 5))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
    assert len(found) == 50
    assert {id(each.process) for each in found} == {id(found[0].process)}
    assert len(counting.parsed) == 1


async def test_a_reader_with_its_own_connection_waits_for_nobody(connection, counting):
    """All connections of the API are in use, and somebody waits for one to read the same file."""
    await deploy(connection, 5)
    sha256, _ = file()

    @asynccontextmanager
    async def never():
        await trio.sleep_forever()
        yield connection

    cache = DefinitionCache(never, read=counting)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cache.resource, sha256)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(10):
            assert sorted(await cache.resource(sha256, connection)) == ["order"]
        nursery.cancel_scope.cancel()
    assert cache.resource_nowait(sha256) is not None
    assert await cache.resource("0" * 64, connection) is None


async def test_the_least_recently_used_model_goes(acquire, connection):
    cache = DefinitionCache(acquire, CacheSettings(models=2))
    for number, process_id in enumerate(["a", "b", "c"]):
        await deploy(connection, number, process_id)
    await cache.get("t", 0)
    await cache.get("t", 1)
    await cache.get("t", 0)
    await cache.get("t", 2)
    assert [cache.resource_nowait(file(process_id)[0]) is not None for process_id in "abc"] == [True, False, True]
    assert (cache.stats.size, cache.stats.evictions) == (2, 1)
    assert (await cache.get("t", 1)).process.id == "b"


async def test_latest_is_the_highest_active_version(cache, connection):
    await deploy(connection, 5, version=1)
    await deploy(connection, 6, version=2)
    await deploy(connection, 7, version=3, state="DRAINING")
    assert (await cache.latest("t", "order")).row.key == 6
    assert (await cache.latest("t", "other")) is None


async def test_a_deployment_moves_latest_and_leaves_the_old_version(cache, connection, counting):
    await deploy(connection, 5)
    assert (await cache.latest("t", "order")).row.version == 1
    await deploy(connection, 6, version=2)
    assert (await cache.latest("t", "order")).row.version == 1  # until somebody says so
    cache.changed('{"tenant":"t","processId":"order","key":6}')
    assert (await cache.latest("t", "order")).row.version == 2
    assert (await cache.get("t", 5)).row.version == 1
    assert len(counting.parsed) == 1


async def test_latest_is_asked_for_again_after_its_time(acquire, connection):
    cache = DefinitionCache(acquire, CacheSettings(latest_ttl_s=0.0))
    await deploy(connection, 5)
    assert (await cache.latest("t", "order")).row.version == 1
    await deploy(connection, 6, version=2)
    assert (await cache.latest("t", "order")).row.version == 2


async def test_a_deleted_definition_is_seen_as_such_and_keeps_its_model(cache, connection):
    await deploy(connection, 5)
    assert (await cache.get("t", 5)).row.state == "ACTIVE"
    assert (await cache.latest("t", "order")).row.key == 5
    await connection.script("UPDATE process_definitions SET state = 'DRAINING'")
    cache.invalidate("t", 5)
    assert (await cache.get("t", 5)).row.state == "DRAINING"
    assert await cache.latest("t", "order") is None
    assert cache.resource_nowait(file()[0]) is not None


@pytest.mark.parametrize("payload", ["", "{", '{"tenant":1}'])
async def test_an_unreadable_notification_forgets_what_can_change(cache, connection, payload):
    await deploy(connection, 5)
    await cache.latest("t", "order")
    await connection.script("UPDATE process_definitions SET state = 'DRAINING'")
    cache.changed(payload)
    assert (await cache.get("t", 5)).row.state == "DRAINING"
    assert await cache.latest("t", "order") is None


@pytest.mark.parametrize(("look_up", "what", "state"), [("latest", "order", None), ("get", 5, "DRAINING")])
async def test_what_was_read_before_an_invalidation_is_not_kept(connection, look_up, what, state):
    """The row is read, then the definition deleted and invalidated, and only then the reader comes to keep it."""
    await deploy(connection, 5)
    sha256, content = file()

    @asynccontextmanager
    async def acquire():
        yield connection
        await connection.script("UPDATE process_definitions SET state = 'DRAINING'")
        known.invalidate("t", 5)

    known = DefinitionCache(acquire)
    known.put(sha256, parse(content, "order.bpmn"), len(content))
    assert (await getattr(known, look_up)("t", what)).row.state == "ACTIVE"
    again = await getattr(known, look_up)("t", what)
    assert (again and again.row.state) == state


async def test_the_warm_up_loads_what_runs_and_survives_what_is_broken(cache, connection, counting):
    for key, process_id in [(5, "a"), (6, "b"), (7, "c"), (8, "d")]:
        await deploy(connection, key, process_id)
    await connection.script(
        "INSERT INTO element_counts VALUES (1, 5, '', 3, 0, 0), (2, 5, '', 1, 2, 3), (1, 6, '', 0, 9, 9), "
        "(1, 7, '', 5, 0, 0), (1, 7, 'task', 9, 9, 9);"
        "UPDATE process_definitions SET state = 'DELETED' WHERE process_id = 'd'"
    )
    await connection.script("UPDATE resources SET bytes = 'nonsense' WHERE sha256 = '" + file("c")[0] + "'")
    warm_up = WarmUp(cache)
    await warm_up.run_once(beat())
    assert counting.parsed == [file(name)[0] for name in "cab"]
    assert warm_up.loaded == 2
    assert cache.resource_nowait(file("a")[0]) is not None
    assert cache.stats.bytes == sum(len(file(name)[1]) for name in "ab")


async def test_the_warm_up_loads_what_another_node_deploys(cache, connection, counting):
    told = []
    warm_up = WarmUp(cache, lambda: told.append(warm_up.done))
    await deploy(connection, 5, "a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(warm_up.run, beat())
        with trio.fail_after(20):
            while not told:
                await trio.lowlevel.checkpoint()
            await deploy(connection, 6, "b")
            warm_up.deployed()
            while warm_up.loaded < 2:
                await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert counting.parsed == [file("a")[0], file("b")[0]]
    assert told == [True]


# One load at a time


async def test_an_abandoned_load_is_taken_over():
    flights, begun = SingleFlight(), []
    finish = trio.Event()

    async def load():
        begun.append(trio.current_time())
        await finish.wait()
        return 42

    got = []

    async def ask():
        got.append(await flights.get("k", load))

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as first:
                first.start_soon(ask)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(ask)
                nursery.start_soon(ask)
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert len(begun) == 2
        finish.set()
    assert got == [42, 42]


async def test_a_failed_load_fails_for_all_and_is_tried_again():
    flights, begun = SingleFlight(), []
    outcome = trio.Event()

    async def load():
        begun.append(1)
        await outcome.wait()
        raise ValueError("no")

    failed = []

    async def ask():
        with pytest.raises(ValueError, match="no"):
            await flights.get("k", load)
        failed.append(1)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        outcome.set()
    assert (len(failed), len(begun)) == (3, 1)
    await ask()
    assert len(begun) == 2
