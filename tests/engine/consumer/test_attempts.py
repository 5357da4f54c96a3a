"""Attempts at commands that are slow rather than refused, counted over terms and restarts (docs/adr/0014)."""

import itertools
import threading
from functools import partial

import pytest
import trio

from tests.core.engine import apply_by, raw
from tests.core.event_models import boundary, model
from tests.core.models import ONE_TASK, end, process, start, sub, task
from tests.engine.consumer.serial_runs import Serial, append, make_consumer, pin_clock
from tests.eventually import eventually
from vivero.core.records.instances import (
    ContinueWork,
    CreateInstance,
    ResolveIncident,
    SetVariables,
    VariableSet,
)
from vivero.core.records.timers import TriggerTimer
from vivero.engine.consumer import batch
from vivero.engine.consumer.attempts import GIVEN_UP, Probe, Unworkable, symptom
from vivero.engine.consumer.cpu_meter import CpuMeter
from vivero.engine.consumer.rejected_commands import MOST_ATTEMPTS
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.cluster import leadership
from vivero.storage.log import attempts, command_log
from vivero.storage.log.attempts import Suspicion
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import (
    Conflict,
    ConnectionLost,
    DeadlineExceeded,
    Diagnosis,
    Outage,
    SteppedDown,
    StorageBug,
    kind_of,
)
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.state import load

TENANT = "<default>"
SHORT_S = 0.4
"""A deadline, with proofs that PostgreSQL serves others much more often."""
RECORDED = "SELECT position, begun, open, causes FROM attempts ORDER BY position"
REJECTED = "SELECT position, rejection::text FROM event_log WHERE rejection IS NOT NULL ORDER BY position"


class Ended(BaseException):
    """The process ends here, whatever it does."""


class Slow:
    """Computing a batch with one of `positions` ends the way that the test wants: `end(decoded)` may raise."""

    def __init__(self, monkeypatch, end) -> None:
        self.positions, self.intents, self.end = set(), set(), end
        self.met = []
        self._compute = batch.compute
        monkeypatch.setattr(batch, "compute", self.compute)

    async def compute(self, processor, decoded, *others):
        if any(one.command is not None and one.rejection is None and self._is_slow(one.row) for one in decoded):
            self.met.append([one.row.position for one in decoded])
            await self.end()
        return await self._compute(processor, decoded, *others)

    def _is_slow(self, row):
        return row.position in self.positions or row.intent in self.intents


class Program:
    """One process after the other, each with a consumer of its own, on one database."""

    def __init__(self, dsn, serial, **settings) -> None:
        self.dsn, self.serial, self.settings = dsn, serial, settings
        self.ends = []
        self.received = []
        self.names = []
        self.statements = []
        """The statements of all connections, in their order."""
        self.fault = None
        """Called before each call of the database: `fault(connection name)` may raise."""
        self.restart()

    def restart(self):
        self.consumer, self.observer = make_consumer(
            self.dsn, self.serial.resources, connect=self.connect, **self.settings
        )
        self.beat = None

    async def connect(self, name):
        self.names.append(name)
        if self.fault is not None:
            self.fault("connect")
        connection = await driver.connect(self.dsn, name=name)
        execute, pipeline, finish = connection.execute, connection.pipeline, connection.finish_pipeline

        async def checked(call, *arguments, **named):
            self.note(arguments)
            if self.fault is not None:
                try:
                    self.fault(name)
                except ConnectionLost:
                    connection.abort()
                    raise
            return await call(*arguments, **named)

        connection.execute, connection.pipeline = partial(checked, execute), partial(checked, pipeline)
        connection.finish_pipeline, started = partial(checked, finish), connection.start_pipeline

        def start_pipeline(calls):
            self.note([calls])
            started(calls)

        connection.start_pipeline = start_pipeline
        return connection

    def note(self, arguments):
        for one in arguments[:1]:
            queries = [one] if isinstance(one, str | Statement) else [query for query, _ in one]
            self.statements += [getattr(query, "name", query) for query in queries]

    async def give_up(self):
        """Does the supervisor's work for a silent child."""
        self.beat.given_up = True
        self.life.cancel()
        await trio.lowlevel.checkpoint()

    async def live(self, last):
        """One life of the consumer as a child: True if everything up to `last` was done in it."""
        self.beat = Beat(SupervisionSettings(hang_after_s=1e-6))
        self.life = trio.CancelScope()
        done = False
        with self.life:
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.consumer.run, self.beat)
                    await self._reached(last)
                    done = True
                    nursery.cancel_scope.cancel()
            except* Ended:
                self.restart()
            except* (Outage, Conflict, ConnectionLost, SteppedDown, StorageBug, Unworkable, OSError) as group:
                self.ends.append(group.exceptions[0])
        self.received += self.observer.received
        self.observer.received.clear()
        return done

    async def _reached(self, last):
        """A commit whose answer nobody waited for is told by nobody: then the table says that it was."""
        with trio.fail_after(60):
            while self.observer.watermark < last:
                with trio.move_on_after(0.5):
                    await self.observer.reached(last)
                own = await driver.connect(self.dsn, name="test")
                ((position,),) = (await own.execute("SELECT max(to_pos) FROM batches")).rows
                own.close()
                self.observer.watermark = max(self.observer.watermark, position)

    async def lives(self, last, most=10):
        """Life after life, until all is done; how many were needed."""
        for count in range(1, most + 1):
            if await self.live(last):
                return count
        raise AssertionError(f"not done in {most} lives")


async def rows_of(connection, query):
    return (await connection.execute(query)).rows


async def killed():
    raise Ended


@pytest.fixture
def serial():
    serial = Serial()
    serial.deploy(ONE_TASK)
    return serial


async def prepared(connection, serial, *commands):
    """The log of the serial run, and these commands behind it; the position of the first of these, and the last."""
    await pin_clock(connection)
    base = await append(connection, serial.commands)
    last = await append(connection, [(TENANT, command) for command in commands])
    return base + 1, last


# ---- what counts


async def test_a_slow_command_is_rejected_after_three_attempts_and_all_others_are_done_once(
    migrated, connection, serial, monkeypatch
):
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(7)))
    program = Program(migrated, serial)
    slow = Slow(monkeypatch, program.give_up)
    slow.positions = {first + 3}
    assert await program.lives(last) == 1 + MOST_ATTEMPTS + 1
    assert slow.met[1:] == [[first + 3]] * MOST_ATTEMPTS
    ((position, rejection),) = await rows_of(connection, REJECTED)
    assert position == first + 3
    assert '"PROCESSING_ERROR"' in rejection
    assert "3 attempts to process the command alone have failed" in rejection
    assert sorted(program.received) == list(range((1 << 51) + 1, last + 1))
    assert await rows_of(connection, "SELECT count(*) FROM process_instances") == [(6,)]
    assert await rows_of(connection, RECORDED) == []


async def test_a_standby_goes_on_counting_where_the_leader_was_killed(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(3)))
    leader, standby = Program(migrated, serial), Program(migrated, serial)
    slow = Slow(monkeypatch, leader.give_up)
    slow.positions = {first + 1}
    for _ in range(3):
        await leader.live(last)
    slow.end = killed
    await leader.live(last)
    assert await rows_of(connection, RECORDED) == [(first + 1, 3, True, ["beat", "beat"])]
    slow.end = standby.give_up
    assert await standby.lives(last) == 2
    assert slow.met[1:] == [[first + 1]] * 4
    assert [position for position, _ in await rows_of(connection, REJECTED)] == [first + 1]


async def test_an_attempt_is_recorded_before_anything_is_done_for_it(
    migrated, connection, serial, monkeypatch, connect
):
    first, last = await prepared(connection, serial, CreateInstance("p"))
    program, other, seen = Program(migrated, serial), await connect(), []

    async def look():
        seen.append(await rows_of(other, RECORDED))
        await program.give_up()

    slow = Slow(monkeypatch, look)
    slow.positions = {first}
    await program.lives(last)
    assert seen == [
        [],
        [(first, 1, True, [])],
        [(first, 2, True, ["beat"])],
        [(first, 3, True, ["beat", "beat"])],
    ]


async def test_a_slow_change_of_a_tree_leaves_an_incident(migrated, connection, serial, monkeypatch):
    key = serial.start()
    first, last = await prepared(connection, serial, SetVariables(key, raw({"a": 1})), CreateInstance("p"))
    program = Program(migrated, serial)
    slow = Slow(monkeypatch, program.give_up)
    slow.positions = {first}
    await program.lives(last)
    ((instance, stage, message),) = await rows_of(
        connection, "SELECT process_instance_key, stage, message FROM incidents WHERE state = 'ACTIVE'"
    )
    assert (instance, stage) == (key, "command")
    assert f"at position {first}: 3 attempts" in message
    assert await rows_of(connection, "SELECT count(*) FROM variables") == [(0,)]


async def test_a_slow_trigger_fails_its_timer(migrated, connection, monkeypatch):
    serial = Serial()
    after = "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>"
    waits = boundary("late", "work", after)
    serial.deploy(model(start(), task("work"), waits, end("timed"), "start > work", "late > timed"))
    serial.start()
    (due,) = serial.state.timers.values()
    serial.memory.now = due.due_at
    first, last = await prepared(connection, serial, TriggerTimer(due.key, due.due_at))
    await pin_clock(connection, due.due_at)
    program = Program(migrated, serial)
    slow = Slow(monkeypatch, program.give_up)
    slow.positions = {first}
    await program.lives(last)
    assert await rows_of(connection, "SELECT state FROM timers") == [("FAILED",)]
    assert await rows_of(connection, "SELECT count(*) FROM incidents WHERE state = 'ACTIVE'") == [(1,)]


DEFERRED = process(start(), sub("s", start("i"), task("work"), end(), "i > work > end"), "start > s")


@pytest.mark.long
async def test_slow_deferred_work_is_quarantined_and_goes_on_when_its_incident_is_resolved(
    migrated, connection, monkeypatch
):
    serial = Serial()
    serial.deploy(DEFERRED)
    _, last = await prepared(connection, serial, CreateInstance("p"))
    program = Program(migrated, serial, quantum_items=1)
    slow = Slow(monkeypatch, program.give_up)
    slow.intents = {ContinueWork.intent}
    monkeypatch.setattr(batch, "run_deferred", forbidden_between(program))

    async def quarantined():
        return await rows_of(connection, "SELECT incident_key FROM incidents WHERE state = 'ACTIVE'")

    await work_off(program, connection, last)
    ((incident,),) = await quarantined()
    assert [len(met) for met in slow.met[-MOST_ATTEMPTS:]] == [1] * MOST_ATTEMPTS
    slow.intents = set()
    last = await append(connection, [(TENANT, ResolveIncident(incident))])
    await work_off(program, connection, last)
    assert await quarantined() == []
    assert await rows_of(connection, "SELECT type FROM jobs") == [("work",)]
    assert await rows_of(connection, RECORDED) == []


def forbidden_between(program):
    """A quantum between commands is too slow, too."""

    async def go_on(*_, **__):
        await program.give_up()

    return go_on


async def work_off(program, connection, last):
    """Until nothing is left for later."""
    while last:
        await program.lives(last, most=12)
        last = await command_log.forward(connection, 1, 10)


async def test_a_command_whose_load_is_slow_is_rejected(migrated, connection, serial, monkeypatch):
    """PostgreSQL serves everybody else meanwhile."""
    key = serial.start()
    first, last = await prepared(connection, serial, SetVariables(key, raw({"a": 1})), CreateInstance("p"))
    program = Program(migrated, serial, call_timeout_s=SHORT_S)
    monkeypatch.setattr("vivero.engine.consumer.attempts.PROVE_EVERY_S", SHORT_S / 10)
    fill, loads = load.fill, []

    async def slow_fill(reader, state, needs):
        if any(need.key == key for need in needs):
            loads.append(state)
            await reader.execute("SELECT pg_sleep(60)", deadline=trio.current_time() + SHORT_S)
        return await fill(reader, state, needs)

    monkeypatch.setattr(load, "fill", slow_fill)
    await program.lives(last, most=30)
    assert len(loads) >= 1 + MOST_ATTEMPTS + 1, "the refusal loads the same: then it is rejected without"
    assert [position for position, _ in await rows_of(connection, REJECTED)] == [first]
    assert await rows_of(connection, RECORDED) == []


async def test_a_bug_outside_of_the_core_rejects_its_command_alone(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(3)))
    program = Program(migrated, serial)

    async def explode():
        raise OverflowError("too large")

    slow = Slow(monkeypatch, explode)
    slow.positions = {first + 1}
    await program.lives(last)
    assert [position for position, _ in await rows_of(connection, REJECTED)] == [first + 1]
    assert {type(error) for error in program.ends} == {Unworkable}


@pytest.mark.parametrize(("sqlstate", "serves"), [*((sqlstate, True) for sqlstate in GIVEN_UP), (min(GIVEN_UP), False)])
async def test_what_postgresql_gives_up_each_time_is_rejected_if_it_serves_others(
    migrated, connection, serial, monkeypatch, sqlstate, serves
):
    """A damaged row, an internal error, a statement_timeout: else its term would be repeated for ever."""
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(3)))
    program = Program(migrated, serial)

    async def give_up():
        raise kind_of(sqlstate)("damaged", Diagnosis(sqlstate=sqlstate))

    async def refuse(*_):
        raise Outage("away")

    slow = Slow(monkeypatch, give_up)
    slow.positions = {first + 1}
    if serves:
        await program.lives(last)
    else:
        monkeypatch.setattr(attempts, "prove", refuse)
        for _ in range(2 * MOST_ATTEMPTS):
            assert not await program.live(last)
    assert [position for position, _ in await rows_of(connection, REJECTED)] == ([first + 1] if serves else [])


async def test_memory_that_runs_out_is_an_attempt_and_then_a_rejection(migrated, connection, serial, monkeypatch):
    """The machine may have more the next time; a bug is rejected at once."""
    met = []

    def run_out(usual, state, event):
        if event.name == "large":
            met.append(event)
            raise MemoryError
        return usual(state, event)

    apply_by(monkeypatch, VariableSet, run_out)
    variables = raw({"large": 1})
    first, last = await prepared(connection, serial, CreateInstance("p", variables=variables), CreateInstance("p"))
    program = Program(migrated, serial)
    await program.lives(last)
    assert [position for position, _ in await rows_of(connection, REJECTED)] == [first]
    assert len(met) == 1 + MOST_ATTEMPTS


@pytest.mark.parametrize("where", ["load.fill", "batch.decode", "batch.needs_of"])
async def test_a_bug_around_the_computing_rejects_its_command_alone(migrated, connection, serial, monkeypatch, where):
    """Our code also loads, reads and decodes what the command needs."""
    key = serial.start()
    first, last = await prepared(connection, serial, SetVariables(key, raw({"a": 1})), CreateInstance("p"))
    program = Program(migrated, serial)
    module, name = {"load": load, "batch": batch}[where.split(".")[0]], where.split(".")[1]
    original, explosions = getattr(module, name), []

    def explode():
        explosions.append(where)
        raise OverflowError("too large")

    async def fill(reader, state, needs):
        if any(need.key == key for need in needs) and len(explosions) < 2 * MOST_ATTEMPTS:
            explode()
        return await original(reader, state, needs)

    def decode(rows, rejected):
        rows = list(rows)
        if any(row.position == first and first not in rejected.positions for row in rows):
            explode()
        return original(rows, rejected)

    def needs_of(processor, decoded):
        if any(one.row.position == first and one.rejection is None for one in decoded):
            explode()
        return original(processor, decoded)

    monkeypatch.setattr(module, name, {"fill": fill, "decode": decode, "needs_of": needs_of}[name])
    await program.lives(last, most=20)
    assert [position for position, _ in await rows_of(connection, REJECTED)] == [first]
    assert await rows_of(connection, "SELECT count(*) FROM process_instances") == [(2,)]
    assert await rows_of(connection, RECORDED) == []


# ---- what never counts


@pytest.mark.long
async def test_many_kills_at_one_position_reject_nothing(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(3)))
    program = Program(migrated, serial)
    slow = Slow(monkeypatch, killed)
    slow.positions = {first + 1}
    for _ in range(5 * MOST_ATTEMPTS):
        assert not await program.live(last)
    assert slow.met[-1] == [first + 1], "it is tried alone by then"
    ((position, begun, is_open, causes),) = await rows_of(connection, RECORDED)
    assert (position, is_open, causes) == (first + 1, True, [])
    assert begun >= 5 * MOST_ATTEMPTS - 5 > MOST_ATTEMPTS
    slow.positions = set()
    assert await program.live(last)
    assert await rows_of(connection, REJECTED) == []
    assert await rows_of(connection, "SELECT count(*) FROM process_instances") == [(3,)]
    assert await rows_of(connection, RECORDED) == []


async def test_a_machine_without_threads_rejects_nothing(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, CreateInstance("p"))
    program = Program(migrated, serial)

    async def refuse():
        raise OSError("no room for another thread")

    slow = Slow(monkeypatch, refuse)
    slow.positions = {first}
    for _ in range(8):
        assert not await program.live(last)
    assert await counted(connection) == []
    slow.positions = set()
    await program.lives(last)
    assert await rows_of(connection, REJECTED) == []


FAULTS = {
    "no connection": lambda: Outage("no connection"),
    "lost": lambda: ConnectionLost("the server closed the connection"),
    "black hole": lambda: DeadlineExceeded("no answer before the deadline"),
    "transaction timeout": lambda: ConnectionLost("timeout", Diagnosis(sqlstate="25P04")),
    "read-only": lambda: Outage("read-only", Diagnosis(sqlstate="25006")),
    "stepped down": lambda: SteppedDown("another epoch"),
}


PLACES = ("everywhere", "vivero:consumer-reader", "vivero:consumer-writer")
FAULTS_A_POINT = [2, pytest.param(len(FAULTS), marks=pytest.mark.long)]


@pytest.mark.long
@pytest.mark.parametrize("at_each", FAULTS_A_POINT)
@pytest.mark.parametrize("where", PLACES)
async def test_ten_minutes_of_outage_at_one_position_reject_nothing(
    migrated, connection, serial, monkeypatch, at_each, where
):
    """Terms that fail at each of their points, with faults by turns. An attempt is recorded when it begins."""
    first, last = await prepared(connection, serial, CreateInstance("p"))
    program = Program(migrated, serial)
    slow = Slow(monkeypatch, killed)
    slow.positions = {first}
    for _ in range(3):
        await program.live(last)
    slow.positions = set()
    calls, healthy, turns = [0], [0], itertools.cycle(FAULTS.values())

    def broken(name):
        """The first calls of a term succeed, one more in each: an outage begins anywhere."""
        calls[0] += 1
        ours = where in ("everywhere", name) or name in ("connect", "vivero:probe")
        if ours and calls[0] > healthy[0]:
            raise fault()

    program.fault = broken
    program.statements.clear()
    for number in range(50 * at_each):
        calls[0], healthy[0], fault = 0, 3 + number // at_each, next(turns)
        if await program.live(last) or await rows_of(connection, "SELECT FROM attempts") == []:
            break  # the command was committed before the fault came
        assert await counted(connection) == []
    else:
        pytest.fail("a term makes more calls than the faults of this test reach")
    assert "attempts.begin" in program.statements, "no fault came after an attempt began"
    program.fault = None
    await program.lives(last)
    assert await rows_of(connection, REJECTED) == []
    assert await rows_of(connection, "SELECT count(*) FROM process_instances") == [(1,)]


@pytest.mark.long
@pytest.mark.parametrize("probe", ["the probe, too", "somebody holds a lock"])
async def test_a_black_hole_of_a_whole_deadline_counts_for_nothing(migrated, connection, serial, monkeypatch, probe):
    """The same command, and the same waiting, as where it is its own fault; but nobody else is served."""
    key = serial.start()
    _, last = await prepared(connection, serial, SetVariables(key, raw({"a": 1})))
    program = Program(migrated, serial, call_timeout_s=SHORT_S)
    for constant in ("PROMPT_S", "PROVE_EVERY_S"):
        monkeypatch.setattr(f"vivero.engine.consumer.attempts.{constant}", SHORT_S / 10)
    fill, prove, proofs = load.fill, attempts.prove, []

    async def slow_fill(reader, state, needs):
        if any(need.key == key for need in needs):
            await reader.execute("SELECT pg_sleep(60)", deadline=trio.current_time() + SHORT_S)
        return await fill(reader, state, needs)

    async def once(asked, sessions, deadline):
        """One proof, when the term begins."""
        proofs.append(await prove(asked, sessions, deadline))
        if len(proofs) > 1 and probe == "the probe, too":
            raise DeadlineExceeded("no answer before the deadline")
        return len(proofs) == 1

    with monkeypatch.context() as patched:
        patched.setattr(load, "fill", slow_fill)
        patched.setattr(attempts, "prove", once)
        for _ in range(6):
            assert not await program.live(last)
            proofs.clear()
    assert await counted(connection) == []
    await program.lives(last)
    assert await rows_of(connection, REJECTED) == []


async def counted(connection):
    return await rows_of(connection, "SELECT causes FROM attempts WHERE causes <> '{}'")


async def test_a_child_that_was_made_to_hang_is_not_taken_for_a_slow_command(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, CreateInstance("p"))
    program = Program(migrated, serial)

    async def hang():
        program.beat.mute()
        await program.give_up()

    slow = Slow(monkeypatch, hang)
    slow.positions = {first}
    for _ in range(10):
        assert not await program.live(last)
    assert await counted(connection) == []
    slow.positions = set()
    assert await program.live(last)
    assert await rows_of(connection, REJECTED) == []


# ---- the watchdog


async def test_what_the_watchdog_ends_is_known_to_the_next_process(migrated, connection, serial, monkeypatch):
    first, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(3)))
    program = Program(migrated, serial)

    async def blocked():
        """The loop stands still, the watchdog's thread writes, and the process ends."""
        monkeypatch.setattr("vivero.engine.consumer.term.LONG_S", -1.0)
        note = partial(program.consumer.partition_duty.accuse, lambda told: attempts.leave_notes(migrated, [told]))
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()
        raise Ended

    slow = Slow(monkeypatch, blocked)
    slow.positions = {first + 1}
    lives = await program.lives(last)
    assert slow.met == [
        [(1 << 51) + 1, first, first + 1, first + 2][-len(slow.met[0]) :],
        *([[first + 1]] * MOST_ATTEMPTS),
    ]
    assert lives == 1 + MOST_ATTEMPTS + 1
    ((position, rejection),) = await rows_of(connection, REJECTED)
    assert position == first + 1
    assert "(watchdog, watchdog, watchdog)" in rejection
    assert await rows_of(connection, RECORDED) == []


async def test_the_watchdog_accuses_no_attempt_that_does_not_compute(migrated, connection, serial, monkeypatch):
    """Somebody else of this process blocks the loop while the attempt waits."""
    first, last = await prepared(connection, serial, CreateInstance("p"))
    program, notes = Program(migrated, serial), []

    async def wait():
        await trio.lowlevel.checkpoint()
        program.consumer.partition_duty.accuse(notes.append)
        raise Ended

    slow = Slow(monkeypatch, wait)
    slow.positions = {first}
    for _ in range(5):
        await program.live(last)
    assert [note.attempt for note in notes if note.attempt] == []


# ---- without attempts


async def test_normal_operation_and_idle_restarts_cost_nothing(migrated, connection, serial, monkeypatch):
    monkeypatch.setattr("vivero.engine.consumer.batch.COMPUTE_S", 60)
    _, last = await prepared(connection, serial, *(CreateInstance("p") for _ in range(5)))
    program = Program(migrated, serial)
    assert await program.live(last)
    for _ in range(4):
        program.restart()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(program.consumer.run, Beat(SupervisionSettings()))
            await program.observer.until(lambda: program.observer.terms)
            nursery.cancel_scope.cancel()
    program.restart()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(program.consumer.run, Beat(SupervisionSettings()))
        await program.observer.until(lambda: program.observer.terms)
        last = await append(connection, [(TENANT, CreateInstance("p")) for _ in range(5)])
        program.consumer.partition_duty.wake()
        await program.observer.reached(last)
        nursery.cancel_scope.cancel()
    assert program.consumer.stats.batches == 1
    told = [name for name in program.statements if name.startswith("attempts.")]
    assert set(told) == {"attempts.known", "attempts.waiting"}, "once a term, when it begins"
    assert told.count("attempts.known") == 6
    assert set(program.names) == {"vivero:consumer-writer", "vivero:consumer-reader"}


# ---- the table


async def test_an_attempt_is_the_owners_and_counts_once(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await attempts.begin(writer, 1, claim.epoch, 7)
    with pytest.raises(SteppedDown):
        await attempts.begin(writer, 1, claim.epoch - 1, 7)
    mine = Suspicion(1, claim.epoch, 7, 7, True)
    await attempts.end(writer, mine, "beat")
    await attempts.end(writer, mine, "beat")
    assert await rows_of(connection, RECORDED) == [(7, 1, False, ["beat"])]
    again = await leadership.claim(writer, 1, "a")
    await attempts.begin(writer, 1, again.epoch, 7)
    await attempts.end(writer, mine, "beat")
    assert await rows_of(connection, RECORDED) == [(7, 2, True, ["beat"])], "the old term says nothing of the new one's"
    (known,) = await attempts.known(writer, 1, 6)
    assert (known.position, known.until, list(known.causes)) == (7, 7, ["beat"])
    assert await attempts.known(writer, 1, 7) == []


async def test_a_batch_that_is_suspected_makes_the_next_term_careful(connect, connection, migrated):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    attempts.leave_notes(migrated, [Suspicion(1, claim.epoch - 1, 3, 9, False)])
    assert await rows_of(connection, RECORDED) == [], "not by a term that is over"
    attempts.leave_notes(migrated, [Suspicion(1, claim.epoch, 3, 9, False)])
    await attempts.begin(writer, 1, claim.epoch, 3)
    (known,) = await attempts.known(writer, 1, 5)
    assert (known.position, known.until, list(known.causes)) == (3, 9, [])


# ---- evidence


async def test_the_meter_counts_own_steps_alone():
    meter = CpuMeter()
    seen = []

    async def work():
        seen.append(meter.step_s() is not None)
        await trio.lowlevel.checkpoint()
        return 7

    async def other():
        seen.append(meter.step_s() is not None)
        await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        assert await meter.run(work()) == 7
    assert sorted(seen) == [False, True]
    assert meter.step_s() is None
    assert meter.seconds > 0


async def test_what_the_metered_task_raises_and_is_thrown_goes_through():
    meter = CpuMeter()

    async def fail():
        await trio.lowlevel.checkpoint()
        raise KeyError("x")

    with pytest.raises(KeyError):
        await meter.run(fail())

    async def wait():
        await trio.sleep_forever()

    with trio.CancelScope() as scope:
        scope.cancel()
        await meter.run(wait())
    assert scope.cancelled_caught


class Answering:
    """A connection whose small commits take as long as the test says."""

    def __init__(self, delays) -> None:
        self.delays = delays

    async def execute(self, _statement, _parameters, *, deadline):
        with trio.move_on_at(deadline):
            await trio.sleep(self.delays.pop(0))
            return type("Result", (), {"rows": [(True, False, "")]})
        raise DeadlineExceeded("no answer before the deadline")

    def abort(self):
        pass


async def test_postgresql_serves_only_without_a_gap(autojump_clock):
    meter = CpuMeter()
    delays = [0.1, 0.2, 3.0, 0.1, 0.1]

    async def connect(_name):
        return Answering(delays)

    probe = Probe(connect, [], meter, 5.0)
    assert not probe.serves
    await probe.run_once()
    probe.begin()
    await probe.run_once()
    assert probe.serves
    await probe.run_once()
    assert not probe.serves
    await probe.run_once()
    assert not probe.serves, "there was a gap in the attempt"
    probe.begin()
    await probe.run_once()
    assert probe.serves
    await trio.sleep(2)
    assert not probe.serves
    meter.seconds += 1.5
    assert probe.serves, "nobody could hear an answer while the attempt computed"


async def test_a_session_that_waits_for_a_lock_proves_nothing(connect, connection, nursery):
    owner, waiting, asking = await connect(), await connect(), await connect()
    await owner.execute("BEGIN")
    await owner.execute("SELECT pg_advisory_xact_lock(1)")
    deadline = trio.current_time() + 20
    assert await attempts.prove(asking, [waiting.backend_pid], deadline)
    nursery.start_soon(waiting.execute, "SELECT pg_advisory_xact_lock(1)")
    await eventually(
        lambda: attempts.prove(asking, [waiting.backend_pid], deadline), accept=lambda proved: not proved, within_s=20
    )
    await owner.execute("COMMIT")


def test_what_ends_a_term_by_its_own_fault():
    beat = Beat.__new__(Beat)
    beat.given_up = beat.muted = False
    assert symptom(Outage("x"), beat) is None
    assert symptom(DeadlineExceeded("x"), beat) == "timeout"
    assert symptom(ConnectionLost("x", Diagnosis(sqlstate="25P04")), beat) == "timeout"
    assert symptom(ConnectionLost("x", Diagnosis(sqlstate="57P01")), beat) is None
    assert symptom(Unworkable("x"), beat) == "bug"
    beat.given_up = True
    assert symptom(ConnectionLost("closed"), beat) == "beat"
    beat.muted = True
    assert symptom(ConnectionLost("closed"), beat) is None
