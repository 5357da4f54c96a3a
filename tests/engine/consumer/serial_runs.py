"""Helpers of the tests of the log consumer: logs that a serial run in memory has written, observers, tables as text.

The serial run is a `MemoryEngine`: every command a batch of its own, nothing overlapped, nothing ever loaded. Keys are
given out in the order of the log, so that both come to the same rows, byte for byte, as long as the clock is pinned.
"""

from uuid import uuid4

import msgspec
import trio

from tests.core.engine import Engine
from tests.core.randomised.paths import perform
from tests.core.randomised.runs import recorded
from tests.eventually import GUARD_S, Changes, eventually_rows
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.codec import encode_command, encode_events
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.definitions.decisions import DecisionCache
from vivero.engine.definitions.file_cache import FileCache
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.log import command_log
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import Outage, Retry, SteppedDown
from vivero.storage.state import save
from vivero.storage.state.saved_rows import RowsByType

PINNED_MS = 1_795_222_923_000
LEASES = {"ready", "returned", "available_at", "worker", "lease_token", "expiries"}
"""Columns of `jobs` that belong to activation."""
NO_STATE = {
    "appenders",
    "attempts",
    "batches",
    "clock",
    "cluster",
    "command_log",
    "definitions_seq",
    "element_count_changes",
    "element_count_totals",
    "element_counts",
    "event_log",
    "idempotency_keys",
    "inbox",
    "job_count_changes",
    "partitions",
    "resources",
    "schema_migrations",
    "since_recovery",
    "slot_detours",
    "slots",
    "tenant_partitions",
}
"""Tables of the kernel. All others hold what follows from the events."""


class Serial(Engine):
    """The engine of a serial run; `batches` holds, for each command, the statements that save what it changed."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.memory.now = PINNED_MS
        self.memory.before = 1 << 51
        self.batches = []
        self.keys, self.job_keys = [], []
        keep = self.state.begin_batch

        def saved():
            self.batches.append(list(save.statements_of(self.state, RowsByType(self.state), [], [], PINNED_MS)))
            keep()

        self.state.begin_batch = saved

    @property
    def commands(self):
        """The log: (tenant, command)."""
        return [(DEFAULT_TENANT, logged.command) for logged in self.memory.log]

    @property
    def resources(self):
        """The models by the SHA-256 of their files."""
        return self.memory._resources


def mixed_runs(seeds, random, size=8):
    """A serial run of several random processes whose commands are mixed, with some that are rejected.

    Without messages and signals: what follows from these is handled when its rows have been loaded, behind the rest of
    the batch, and a serial run has none.
    """
    runs = [recorded(seed, size, f"p{number}", channels=False) for number, seed in enumerate(seeds)]
    serial = Serial()
    serial.deploy(*(run.model for run in runs))
    keys = [serial.start(run.id, **run.variables) for run in runs]
    left = [list(run.actions) for run in runs]
    while any(left):
        chosen = random.choice([number for number, actions in enumerate(left) if actions])
        perform(serial, keys[chosen], left[chosen].pop(0))
        if random.random() < 0.1:
            serial.cancel(random.randrange(10))
            serial.start(random.choice(runs).id, **dict.fromkeys(run_variables(runs), 0))
    return serial


def run_variables(runs):
    return {name for run in runs for name in run.variables}


def _no_connection():
    raise AssertionError("decisions are read with the connection of the consumer")


class Models:
    """The definition cache, with all there is in it."""

    def __init__(self, resources) -> None:
        self.resources = resources
        self.cold = set()
        """The rows that are not in memory until somebody waits for it."""
        self.hits = 0
        self.decisions = DecisionCache(FileCache(100, 10_000_000), _no_connection)

    async def resource(self, sha256, _connection):
        await trio.lowlevel.checkpoint()
        self.cold.discard(sha256)
        return self.resources.get(sha256)

    def resource_nowait(self, sha256):
        return None if sha256 in self.cold else self.resources.get(sha256)


class RecordingObserver:
    """Hears what a consumer tells; `reached(position)` waits for a watermark."""

    def __init__(self) -> None:
        self.watermark = self.commits = 0
        self.outcomes = {}
        self.received = []
        self.ended = []
        self.jobs = {}
        self.waiting = []
        self.terms = []
        self.inbox_notices = 0
        self.life = None
        """A cancel scope that ends with the first commit."""
        self.wake_consumer = lambda: None
        """Tells the consumer that there are commands, as the appender does."""
        self._changes = Changes()

    def committed(self, partition, watermark, outcomes, ended):
        assert watermark >= self.watermark, "positions never fall"
        self.watermark = watermark
        self.commits += 1
        self.received += [outcome.position for outcome in outcomes]
        self.outcomes |= {outcome.position: outcome for outcome in outcomes}
        self.ended += ended
        self._changes.tell()
        if self.life is not None:
            self.life.cancel()

    def available(self, type, tenant, count):
        self.jobs[type] = self.jobs.get(type, 0) + count

    def lease_new(self, jobs, now_ms):
        return [worker for worker in self.waiting if worker.lease(jobs, now_ms)]

    def inbox_filled(self, partition):
        self.inbox_notices += 1

    def timers(self, partition, changes):
        pass

    timers_changed = timers

    def leads(self, partition, epoch):
        self.terms.append(epoch)
        self._changes.tell()

    async def until(self, condition, within_s=GUARD_S):
        await self._changes.until(condition, within_s=within_s)

    async def reached(self, position):
        await self.until(lambda: self.watermark >= position)


def make_consumer(dsn, resources, node="node-a", connect=None, **settings):
    """A consumer and its observer. `connect(name)` replaces the usual way to make a connection."""
    observer = RecordingObserver()
    settings = ConsumerSettings(**{"poll_s": 0.05} | settings)

    async def usual(name):
        return await driver.connect(dsn, name=name)

    consumer = Consumer(connect or usual, node, Models(resources), observer, settings)
    observer.wake_consumer = consumer.partition_duty.wake
    return consumer, observer


def beat():
    return Beat(SupervisionSettings())


async def keep_leading(consumer, errors=None):
    """Does the supervisor's work: the next term after one that ended for a passing reason."""
    while True:
        try:
            await consumer.run(beat())
        except (Outage, Retry, SteppedDown) as error:  # an outage: its session was ended while it began
            if errors is not None:
                errors.append(error)


async def pin_clock(connection, ms=PINNED_MS):
    await connection.execute("UPDATE clock SET pinned_at = from_epoch_ms($1), revision = revision + 1", (ms,))


async def append(connection, commands, audit=None):
    """Append (tenant, command) pairs, each with this record for the audit log; the last position."""
    entries = [_entry(tenant, command, audit) for tenant, command in commands]
    session, last = await command_log.begin(connection, uuid4(), 1), 0
    for first in range(0, len(entries), 200):
        last = (await command_log.append(connection, session, 1, uuid4(), None, entries[first : first + 200]))[
            -1
        ].position
    return last


def _entry(tenant, command, audit):
    if isinstance(command, Command):
        return command_log.LogEntry(tenant, command.intent, encode_command(command), audit=audit)
    intent, payload = command
    return command_log.LogEntry(tenant, intent, payload)


async def work_off(dsn, connection, serial, **settings):
    """Append the whole log of a serial run and have it worked off; the consumer and its observer."""
    await pin_clock(connection)
    last = await append(connection, serial.commands)
    consumer, observer = make_consumer(dsn, serial.resources, **settings)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    return consumer, observer


async def worked_off_one_by_one(dsn, connection, serial, **settings):
    """The same, each command when everything has been evicted: as if the program began anew before it."""
    await pin_clock(connection)
    settings = {"cache_bytes": 0, "batch_commands": 1, "poll_s": 5} | settings
    consumer, observer = make_consumer(dsn, serial.resources, **settings)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for command in serial.commands:
            await handled(observer, connection, await append(connection, [command]))
        nursery.cancel_scope.cancel()
    return consumer, observer


async def handled(observer, connection, position):
    """Wait until everything that the log has up to this position is done, the pages of large trees, too.

    A serial run does these before its next command; a consumer would take the next one between two of them, and keys
    would be given out in another order.
    """
    observer.wake_consumer()
    await observer.reached(position)
    await eventually_rows(connection, [(0,)], "SELECT count(*) FROM process_instances WHERE work IS NOT NULL")


# ---- tables as text


COUNTED = """
    SELECT json_build_array(process_definition_key, element_id, sum(active), sum(completed), sum(canceled))::text
    FROM counted_elements GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id"""
"""The sums of the counts, however many batches have changed them."""


COLUMNS = """
    SELECT relname::text, relkind = 'p' OR pg_relation_size(oid) > 0, array_agg(attname::text ORDER BY attnum)
    FROM pg_class JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
    GROUP BY oid ORDER BY 1"""
"""The tables, whether they may have rows, and their columns."""


async def dump(connection, *, without=()):
    """Every row of every table of the state but its lease, as text; `without`: further columns to leave out."""
    found = (await connection.execute(COLUMNS)).rows
    assert {name for name, _, _ in found} >= NO_STATE, "a table of the kernel has another name now"
    state = [(name, filled, columns) for name, filled, columns in found if name not in NO_STATE]
    tables = {name: [] for name, _, _ in state} | {"counted_elements": []}
    queries = {name: _all_rows(name, columns, LEASES | set(without)) for name, filled, columns in state if filled}
    queries["counted_elements"] = COUNTED
    results = await connection.pipeline([(query, ()) for query in queries.values()])
    return tables | {name: [row for (row,) in result.rows] for name, result in zip(queries, results, strict=True)}


def _all_rows(table, columns, without):
    names = [name for name in columns if name not in without]
    return (
        f"SELECT row_to_json(x)::text FROM (SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(names[:3])}) x"
    )


async def save_serially(connection, serial):
    """Write what a serial run has done, a command a transaction."""
    for calls in serial.batches:
        await connection.pipeline([("BEGIN", ()), *calls, ("COMMIT", ())])


async def event_log(connection):
    """(position, seq, root, request, events, rejection, response) of every row, JSON as text."""
    rows = await connection.execute(
        "SELECT position, seq, root_key, request, events::text, rejection::text, response::text FROM event_log"
        " ORDER BY position, seq"
    )
    return rows.rows


def expected_event_log(serial):
    """The event log of a serial run."""
    return [
        (
            logged.position,
            row.seq,
            row.root,
            row.request,
            encode_events(row.events).decode(),
            None if row.rejection is None else msgspec.json.encode(row.rejection).decode(),
            msgspec.json.encode(row.response).decode() if row.answered else None,
        )
        for logged in serial.memory.log
        for row in logged.handled
    ]


def flaky(event):
    """SQL after which every third batch that does `event` fails at its commit, when everything has been written."""
    return f"""
CREATE SEQUENCE commits;
CREATE FUNCTION flaky() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('commits') % 3 = 0 THEN RAISE EXCEPTION 'flaky' USING ERRCODE = '40001'; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER flaky AFTER {event} DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION flaky();
"""
