"""The process definition cache, and the statements below it."""

import hashlib
import random
from contextlib import asynccontextmanager
from threading import Event

import pytest
import trio
import trio.testing

from tests.engine.consumer.serial_runs import beat
from tests.eventually import GUARD_S, eventually
from vivero.core.bpmn.parser import Parsed, parse
from vivero.core.dmn import ReadDecisions, read_decisions
from vivero.engine.compute.problems import TooCostly
from vivero.engine.definitions.cache import DefinitionCache, DefinitionSettings, UnreadableResource
from vivero.engine.definitions.decisions import COMPILE_S
from vivero.engine.definitions.single_flight import SingleFlight
from vivero.engine.definitions.warm_up import WarmUp
from vivero.storage.state import definitions

BPMN = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="{id}" isExecutable="true">
    <startEvent id="start"/><endEvent id="end"/><sequenceFlow id="go" sourceRef="start" targetRef="end"/>
  </process>
</definitions>"""


ONE_SCRIPT = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="p{number}" isExecutable="true">
    <startEvent id="start"/>
    <scriptTask id="task"><extensionElements><zeebe:script expression="={expression}" resultVariable="r"/>
    </extensionElements></scriptTask>
    <sequenceFlow id="go" sourceRef="start" targetRef="task"/>
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

    async def __call__(self, content: bytes, name: str, urgent: bool) -> Parsed:
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
    process = await cache.process("t", 5)
    assert (process.id, sorted(process.nodes)) == ("order", ["end", "order", "start"])
    for _ in range(999):
        assert await cache.process("t", 5) is process
    assert len(counting.parsed) == 1
    assert (cache.stats.hits, cache.stats.misses) == (999, 1)
    assert cache.stats.hit_rate > 0.99


async def test_a_definition_belongs_to_its_tenant(cache, connection):
    await deploy(connection, 5)
    assert await cache.process("u", 5) is None
    assert await cache.process("t", 6) is None


async def test_tenants_and_versions_share_the_model_of_a_file(cache, connection, counting):
    for key, tenant, version in [(5, "t", 1), (6, "t", 2), (7, "u", 1)]:
        await deploy(connection, key, tenant=tenant, version=version)
    found = [await cache.process(tenant, key) for tenant, key in [("t", 5), ("t", 6), ("u", 7)]]
    assert len({id(process) for process in found}) == 1
    assert len(counting.parsed) == 1


@pytest.mark.parametrize("state", ["DRAINING", "DELETED"])
async def test_running_instances_find_the_model_of_a_definition_that_has_gone(cache, connection, state):
    await deploy(connection, 5, state=state)
    assert (await cache.process("t", 5)).id == "order"


async def test_what_the_api_parsed_is_not_parsed_again(cache, connection, counting):
    sha256, content = file()
    assert cache.resource_nowait(sha256) is None
    cache.put(sha256, parse(content, "order.bpmn"))
    assert sorted(cache.resource_nowait(sha256)) == ["order"]
    await deploy(connection, 5)
    assert (await cache.process("t", 5)) is cache.resource_nowait(sha256)["order"]
    assert counting.parsed == []


async def test_files_with_problems_are_not_kept(cache):
    cache.put("x", parse(b"<nonsense/>", "nonsense.bpmn"))
    assert cache.resource_nowait("x") is None


async def test_a_file_that_cannot_be_read_any_more_says_why(cache, connection):
    await definitions.store_resources(connection, [("x", b"<nonsense/>")])
    with pytest.raises(UnreadableResource, match="nonsense"):
        await cache.resource("x")


async def test_many_who_ask_at_once_cause_one_load(cache, connection, counting):
    await deploy(connection, 5)
    found = []

    async def ask():
        found.append(await cache.process("t", 5))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
    assert len(found) == 50
    assert len({id(process) for process in found}) == 1
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
        with trio.fail_after(GUARD_S):
            assert sorted(await cache.resource(sha256, connection)) == ["order"]
        nursery.cancel_scope.cancel()
    assert cache.resource_nowait(sha256) is not None
    assert await cache.resource("0" * 64, connection) is None


async def test_consumers_that_need_one_file_at_once_parse_it_once(cache, connection, counting):
    await deploy(connection, 5)
    sha256, _ = file()
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(cache.resource, sha256, connection)
    assert len(counting.parsed) == 1


async def test_the_least_recently_used_model_goes(acquire, connection):
    cache = DefinitionCache(acquire, DefinitionSettings(entries=2))
    for number, process_id in enumerate(["a", "b", "c"]):
        await deploy(connection, number, process_id)
    for key in (0, 1, 0, 2):
        await cache.process("t", key)
    assert [cache.resource_nowait(file(process_id)[0]) is not None for process_id in "abc"] == [True, False, True]
    assert (cache.stats.size, cache.stats.evictions) == (2, 1)
    assert (await cache.process("t", 1)).id == "b"


def parsed_file(number, expression="1"):
    """A file with a script task, parsed."""
    content = ONE_SCRIPT.format(number=number, expression=expression).encode()
    return hashlib.sha256(content).hexdigest(), parse(content, "script.bpmn")


def test_the_memory_of_models_is_bounded_whatever_their_expressions_are(seed):
    choose, limit = random.Random(seed), 200_000
    cache = DefinitionCache(None, DefinitionSettings(bytes=limit))
    kept = []
    for number in range(200):
        sha256, parsed = parsed_file(number, "+".join(["a"] * choose.choice([1, 10, 100])))
        assert not parsed.problems
        cache.put(sha256, parsed)
        kept.append((sha256, parsed.memory))
        assert cache.stats.bytes <= limit
    assert cache.stats.size + cache.stats.evictions == 200
    newest = kept[-cache.stats.size :]
    assert sum(memory for _, memory in newest) == cache.stats.bytes
    assert sum(memory for _, memory in kept[-cache.stats.size - 1 :]) > limit, "the cache is as full as it may be"


def test_a_file_that_takes_more_than_all_of_the_cache_is_kept_alone():
    small, large = parsed_file(0), parsed_file(1, "+".join(["a"] * 1000))
    cache = DefinitionCache(None, DefinitionSettings(bytes=large[1].memory // 2))
    cache.put(*small)
    cache.put(*large)
    assert [cache.resource_nowait(each[0]) is not None for each in (small, large)] == [False, True]
    cache.put(*small)
    assert [cache.resource_nowait(each[0]) is not None for each in (small, large)] == [True, False]


def test_a_file_that_is_deployed_again_takes_its_place_once():
    cache = DefinitionCache(None, DefinitionSettings(entries=2))
    one, two = parsed_file(1), parsed_file(2)
    for each in (one, two, one, two):
        cache.put(*each)
    assert (cache.stats.size, cache.stats.evictions) == (2, 0)
    assert cache.stats.bytes == one[1].memory + two[1].memory


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
    assert cache.stats.bytes == sum(parse(file(name)[1], name).memory for name in "ab")
    assert (cache.stats.hits, cache.stats.misses) == (1, 0), "loading ahead is no look-up"


@pytest.mark.parametrize(
    ("settings", "loaded"),
    [(DefinitionSettings(warm_up=0), 0), (DefinitionSettings(warm_up=3), 3), (DefinitionSettings(entries=2), 2)],
)
async def test_the_warm_up_loads_so_many_and_never_more_than_there_is_room_for(acquire, connection, settings, loaded):
    for key, process_id in enumerate("abcd"):
        await deploy(connection, key, process_id)
    cache = DefinitionCache(acquire, settings)
    warm_up = WarmUp(cache)
    await warm_up.run_once(beat())
    assert (warm_up.loaded, cache.stats.size, cache.stats.evictions) == (loaded, loaded, 0)


async def test_the_warm_up_loads_what_another_node_deploys(cache, connection, counting):
    told = []
    warm_up = WarmUp(cache, lambda: told.append(warm_up.done))
    await deploy(connection, 5, "a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(warm_up.run, beat())
        await eventually(lambda: told)
        await deploy(connection, 6, "b")
        warm_up.deployed()
        await eventually(lambda: warm_up.loaded, accept=lambda loaded: loaded >= 2)
        nursery.cancel_scope.cancel()
    assert counting.parsed == [file("a")[0], file("b")[0]]
    assert told == [True]


# Decisions

TABLE = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="{id}" name="f" namespace="n">
<decision id="{id}" name="{id}"><literalExpression><text>{value}</text></literalExpression></decision></definitions>"""


def decision_file(id, value="1"):
    content = TABLE.format(id=id, value=value).encode()
    return hashlib.sha256(content).hexdigest(), content


class CountingDecisions:
    """The reader of decisions, counting what it compiled."""

    def __init__(self) -> None:
        self.read = []

    def __call__(self, contents) -> ReadDecisions:
        self.read.append(tuple(contents))
        return read_decisions(contents)


async def deploy_decision(connection, key, id, imports=(), state="ACTIVE", value="1"):
    sha256, content = decision_file(id, value)
    await definitions.store_resources(connection, [(sha256, content)])
    await connection.execute(
        "INSERT INTO decision_requirements VALUES ($1, 1, 't', $2, 1, 'n', 'f.dmn', $3, $4, now())",
        (key, id, sha256, state),
    )
    await connection.execute(
        "INSERT INTO decision_definitions VALUES ($1, 1, 't', $2, 1, 'n', NULL, $3, $4, CAST($5 AS text[]), $6, now())",
        (key + 1, id, key, sha256, "{" + ",".join(imports) + "}", state),
    )
    return (sha256, *imports)


async def test_the_warm_up_loads_the_newest_decisions_and_survives_a_broken_one(acquire, connection):
    counting = CountingDecisions()
    cache = DefinitionCache(acquire, read_decisions=counting)
    first = await deploy_decision(connection, 11, "first")
    imported = decision_file("imported")
    await definitions.store_resources(connection, [imported])
    second = await deploy_decision(connection, 21, "second", [imported[0]])
    broken = await deploy_decision(connection, 31, "broken", value="1 +")
    await deploy_decision(connection, 41, "deleted", state="DELETED")
    warm_up = WarmUp(cache)
    for _ in range(2):
        await warm_up.run_once(beat())
    assert counting.read == [broken, second, first]
    assert warm_up.loaded == 2
    assert cache.decisions.find_nowait(second).find("imported") is not None
    assert await cache.decisions.find(first, connection) is cache.decisions.find_nowait(first)
    assert len(counting.read) == 3


async def test_decisions_of_a_deployment_are_compiled_once_before_they_are_needed():
    counting = CountingDecisions()
    cache = DefinitionCache(None, read_decisions=counting)
    contents = dict([decision_file("d", "1" + " + 1" * 4_500)])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cache.prepare_decisions, contents)
        nursery.start_soon(cache.prepare_decisions, contents)
    assert counting.read == [tuple(contents)]
    assert cache.decisions.find_nowait(tuple(contents)).find("d") is not None


async def test_a_compilation_that_takes_too_long_is_abandoned(autojump_clock):
    """Its thread ends by itself, and the file can be compiled again."""
    release, large = Event(), dict([decision_file("d", "1" + " + 1" * 4_500)])

    def slow(contents):
        assert release.wait(60)
        return read_decisions(contents)

    cache = DefinitionCache(None, read_decisions=slow)
    began = trio.current_time()
    try:
        with pytest.raises(TooCostly, match="compiling its decisions takes more than 60 s"):
            await cache.prepare_decisions(large)
        assert trio.current_time() - began == COMPILE_S
        assert cache.decisions.find_nowait(tuple(large)) is None
    finally:
        release.set()
    autojump_clock.autojump_threshold = float("inf")
    await cache.prepare_decisions(large)
    assert cache.decisions.find_nowait(tuple(large)) is not None


async def test_a_node_without_an_engine_compiles_no_decisions():
    cache = DefinitionCache(None, read_decisions=CountingDecisions(), evaluates=False)
    contents = dict([decision_file("d")])
    await cache.prepare_decisions(contents)
    assert cache.decisions.find_nowait(tuple(contents)) is None


async def test_models_and_decisions_share_one_budget():
    cache = DefinitionCache(None, DefinitionSettings(entries=2))
    cache.put(*parsed_file(1))
    for id in ("a", "b"):
        await cache.prepare_decisions(dict([decision_file(id)]))
    assert (cache.stats.size, cache.stats.evictions) == (2, 1)
    assert cache.resource_nowait(parsed_file(1)[0]) is None


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
