"""The outbox webhook: in order for each instance, at least once, signed, with dead letters."""

import random
from collections import defaultdict

import pytest
import trio
from click.testing import CliRunner
from structlog.testing import capture_logs

from tests.engine.connectors.programs import deploy, program
from tests.engine.connectors.webhook_models import starting
from tests.eventually import eventually
from vivero.cli import main
from vivero.core.records.codec import encode_events
from vivero.core.records.jobs import JobCompleted, JobReleased
from vivero.engine.connectors.http.signed_posts import signature
from vivero.engine.connectors.outbox.deliveries import Outbox
from vivero.engine.connectors.outbox.settings import TYPE, OutboxSettings
from vivero.engine.jobs.definitions import JobRegistry
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.background import outbox
from vivero.storage.background.outbox import EventId
from vivero.storage.postgres.pool import Pool


@pytest.fixture
def pool(connect):
    made = Pool(lambda deadline: connect(deadline=deadline), 4)
    yield made
    made.close()


@pytest.fixture
def dispatcher(connect, pool, server):
    """Makes the dispatcher of a node with the outbox."""

    def make(node="a", **settings):
        given = {
            "url": server.url,
            "events": "JobCompleted",
            "from_start": True,
            "initial_interval": "PT0S",
            **settings,
        }
        job = Outbox(OutboxSettings(**given), lambda: pool.connection).definition()
        return JobDispatcher(
            connect, pool.connection, node, JobRegistry.of([job]), JobSettings(poll_interval="PT0.05S")
        )

    return make


@pytest.fixture
async def log(connection):
    """Appends rows of events of an instance tree to the log."""
    length = [0]

    async def append(root, *numbers, kind=JobCompleted):
        length[0] += 1
        text = encode_events([kind(number) for number in numbers])
        await connection.execute(
            "INSERT INTO event_log (partition_id, position, seq, root_key, events, version, processed_at)"
            " VALUES (1, 1::bigint << 51 | $1::bigint, 0, $2, $3, 1, now())",
            (length[0], root, text if isinstance(text, str) else text.decode()),
        )

    return append


@pytest.fixture
def start(nursery):
    def begin(dispatcher):
        nursery.start_soon(dispatcher.run, Beat(SupervisionSettings()))
        return dispatcher

    return begin


async def delivered_all(connection, server, count):
    async def look():
        return len(server.received) >= count and not await outbox.search(connection)

    await eventually(look)


def numbers(server, root=None):
    return [
        request.json["data"]["key"]
        for request in server.received
        if root is None or request.json["rootProcessInstanceKey"] == str(root)
    ]


async def test_events_of_the_chosen_types_are_delivered_and_signed(connection, server, dispatcher, log, start):
    await log(7, 1)
    await log(7, 2, kind=JobReleased)
    await log(None, 3)
    start(dispatcher(secret="shared"))
    await delivered_all(connection, server, 2)
    first, second = sorted(server.received, key=lambda request: request.json["id"])
    assert (first.method, first.json["type"], first.json["data"], first.json["rootProcessInstanceKey"]) == (
        *("POST", "JobCompleted", {"key": 1}, "7"),
    )
    assert second.json["rootProcessInstanceKey"] is None
    assert first.headers["x-vivero-event-id"] == first.json["id"] == f"{(1 << 51) + 1}-0-0"
    signed = signature("shared", int(first.headers["x-vivero-timestamp"]), first.body)
    assert first.headers["x-vivero-signature"] == f"sha256={signed}"


async def test_each_instance_has_its_order_whatever_fails(connection, server, dispatcher, log, start, seed):
    """Half of the answers are errors. Of each tree, each event is tried until it is delivered, then the next one."""
    draws = random.Random(seed)
    succeeded = defaultdict(list)

    def answer(request):
        if draws.random() < 0.5:
            return draws.choice((500, 302, 429)), {}, b""
        succeeded[request.json["rootProcessInstanceKey"]].append(request.json["data"]["key"])
        return 204, {}, b""

    server.answer = answer
    expected = defaultdict(list)
    for number in range(60):
        root = draws.randrange(1, 6)
        expected[str(root)].append(number)
        await log(root, number)
    start(dispatcher(max_attempts=100, max_interval="PT0S"))
    await delivered_all(connection, server, 60)
    assert succeeded == expected


async def test_a_dead_letter_holds_its_instance_and_no_other(connection, server, dispatcher, log, start):
    server.answer = lambda request: (500 if request.json["data"]["key"] == 1 else 200, {}, b"")
    await log(7, 1, 2, 3)
    await log(8, 4, 5)
    start(dispatcher(max_attempts=2))

    async def dead():
        return [each.state for each in await outbox.search(connection)] == ["dead", "held", "held"]

    await eventually(dead)
    assert sorted(numbers(server)) == [1, 1, 4, 5]
    letter = (await outbox.search(connection, "dead"))[0]
    assert (letter.attempts, letter.error, letter.id) == (2, "HTTP status 500", EventId(1, (1 << 51) + 1, 0, 0))
    assert await outbox.retry(connection, letter.id, letter.attempts)
    await eventually(dead)
    assert numbers(server, 7) == [1, 1, 1, 1]
    assert not await outbox.drop(connection, letter.id, letter.attempts), "it has failed again since it was seen"
    assert await outbox.drop(connection, letter.id, 4)
    await delivered_all(connection, server, 8)
    assert numbers(server, 7) == [1, 1, 1, 1, 2, 3]


async def test_a_slow_delivery_holds_no_free_place_back(connection, server, dispatcher, log, start):
    """The events of another instance are delivered meanwhile one after the other, within the limit."""
    gate, others = trio.Event(), trio.Event()

    async def answer(request):
        if request.json["data"]["key"] == 1:
            await gate.wait()
        elif request.json["data"]["key"] == 5:
            others.set()
        return 200, {}, b""

    server.answer = answer
    await log(7, 1)
    await log(8, 2, 3, 4, 5)
    start(dispatcher(max_concurrent=2))
    with trio.fail_after(20):
        await others.wait()
    gate.set()
    await delivered_all(connection, server, 5)
    assert numbers(server, 8) == [2, 3, 4, 5]


async def test_what_is_delivered_while_a_node_ends_comes_again(connection, server, dispatcher, log):
    """At least once: the answer of the first delivery never arrives."""
    begun = trio.Event()

    async def never(_request):
        begun.set()
        await trio.sleep_forever()

    server.answer = never
    await log(7, 1, 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher().run, Beat(SupervisionSettings()))
        await begun.wait()
        nursery.cancel_scope.cancel()
    server.answer = lambda _: (200, {}, b"")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher().run, Beat(SupervisionSettings()))
        await delivered_all(connection, server, 3)
        nursery.cancel_scope.cancel()
    assert numbers(server) == [1, 1, 2]


async def test_only_so_many_events_wait(connection, server, dispatcher, log, start):
    server.answer = lambda _: (500, {}, b"")
    for number in range(10):
        await log(7, number)
    start(dispatcher(max_waiting=4, max_attempts=2))

    async def full():
        return [each.state for each in await outbox.search(connection)] == ["dead", "held", "held", "held"]

    await eventually(full)
    [letter] = await outbox.search(connection, "dead")
    server.answer = lambda _: (200, {}, b"")
    await outbox.retry(connection, letter.id, letter.attempts)
    await delivered_all(connection, server, 12)
    assert numbers(server) == [0, *range(10)] or numbers(server) == [0, 0, *range(10)]


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "ftp://x", "events": "JobCompleted"},
        {"url": "http://u:p@x", "events": "JobCompleted"},
        {"url": "http://x"},
        {"url": "http://x", "events": "JobComplete"},
        {"url": "http://x", "events": "JobCompleted", "max_attempts": 0},
        {"url": "http://x", "events": "JobCompleted", "timeout": "soon"},
        {"url": "http://x", "events": "JobCompleted", "multiplier": 0.5},
    ],
)
def test_wrong_settings_are_rejected(settings):
    with pytest.raises(ValueError, match=r"."):
        OutboxSettings(**settings)


def test_ids():
    id = EventId(2, (2 << 51) + 5, 1, 3)
    assert EventId.parse(str(id)) == id
    assert [EventId.parse(text) for text in ("", "1", "1-2", "1-2-3-4", "a-b-c", f"{2**63}-0-0", "1-99999-0")] == [
        None
    ] * 7


@pytest.mark.long
async def test_a_program_delivers_and_its_dead_letters_are_seen_and_dropped(migrated, server, monkeypatch):
    server.answer = lambda _: (500, {}, b"")
    settings = OutboxSettings(server.url, "InstanceCreated", initial_interval="PT0S", max_attempts=1)
    async with program(migrated, others=({"roles": "api,engine,jobs", "outbox": settings},)) as (client, _, ports):
        assert (await deploy(client, starting())).status_code == 200

        async def followed():
            return any(each["type"] == TYPE for each in (await client.get("/background-job-types")).json()["items"])

        await eventually(followed)

        async def dead():
            await client.post("/inbound/hook")
            found = (await client.post("/outbox/search", json={"filter": {"state": "dead"}})).json()
            return found["items"] and found["items"][0]

        await eventually(dead)
        [letter, *_] = (await client.post("/outbox/search", json={"filter": {"state": "dead"}})).json()["items"]
        shown = (await client.get(f"/outbox/{letter['eventId']}")).json()
        assert (shown["document"]["type"], shown["error"]) == ("InstanceCreated", "HTTP status 500")
        monkeypatch.setenv("VIVERO_ADDRESS", f"http://127.0.0.1:{ports[0]}")
        with capture_logs():  # the program logs beside the command, which has the standard output of the process
            listed = await trio.to_thread.run_sync(CliRunner().invoke, main, ["outbox", "list", "--state", "dead"])
            assert letter["eventId"] in listed.output
            server.answer = lambda _: (200, {}, b"")
            retried = await trio.to_thread.run_sync(CliRunner().invoke, main, ["outbox", "retry", letter["eventId"]])
        assert retried.output == f"tried again {letter['eventId']}\n"

        async def delivered():
            return (await client.get(f"/outbox/{letter['eventId']}")).status_code == 404

        await eventually(delivered)
        assert (await client.delete(f"/outbox/{letter['eventId']}")).status_code == 404
        assert (await client.post("/outbox/x/retry")).status_code == 400
