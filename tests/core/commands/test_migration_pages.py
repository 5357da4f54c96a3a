"""Migration in pages: whatever comes between two of them waits, and comes to the same as after the migration."""

from collections import Counter, deque
from dataclasses import replace
from random import Random

import pytest

from tests.core.commands.test_migration import ALL, BACK, EVERYTHING, THERE, everything, line, timer
from tests.core.commands.test_suspension import drain, step
from tests.core.engine import raw, rebuilt, snapshot
from tests.core.event_models import LIMITS, boundary, call, loop, model
from tests.core.events.test_timers import HOUR
from tests.core.migration_models import Migrating, pairs
from tests.core.models import end, start, sub, task
from vivero.core.commands import migration_hold
from vivero.core.commands.conditional_change import conditional
from vivero.core.dry_runs.trial import Trial
from vivero.core.execution import held_commands, outcomes, worklist
from vivero.core.execution.held_commands import HeldBefore
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import StepLimits
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.codec import encode_command
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import (
    CancelInstance,
    ContinueWork,
    EndHold,
    ResolveIncident,
    SetVariables,
    VariableSet,
)
from vivero.core.records.jobs import CompleteJob, FailJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.migrations import ElementsRenamed, InstanceMigrated, MigrateInstance
from vivero.core.records.modifications import ModifyInstance, TerminateInstruction
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.suspensions import SuspendInstance
from vivero.core.records.timers import FireTimer, TimerScheduled, TriggerTimer
from vivero.core.shared.deferred_work import MAX_ATTEMPTS, next_page
from vivero.core.state import holds
from vivero.core.state.migrations import Migration

IN_PAGES = replace(LIMITS["whole"], migration_page=1)
BY_ITEMS = replace(LIMITS["quanta"], migration_page=1)
LATER_MS = 2 * HOUR
NUMBERS = 12
PAGES = 7
"""The elements of `everything` besides the process."""
REFUSED = RejectionCode.INVALID_STATE


def begun(engine, borders):
    """Begin a migration, and go so many borders far. The commands that are on their way."""
    on_the_way = deque([(MigrateInstance(engine.key, engine.target, pairs(THERE)), "<default>", None)])
    for _ in range(borders):
        step(engine, on_the_way)
    return on_the_way


def job_of(engine, id):
    return next(job.key for job in engine.state.jobs.values() if job.element.element in (id, f"{id}9"))


def timer_of(engine):
    return next(iter(engine.state.timers.values()))


COMMANDS = {
    "a job is completed": lambda engine: CompleteJob(job_of(engine, "a"), raw({"done": True})),
    "a job fails": lambda engine: FailJob(job_of(engine, "a"), 0),
    "a timer is due": lambda engine: TriggerTimer(timer_of(engine).key, timer_of(engine).due_at),
    "a timer is fired": lambda engine: FireTimer(timer_of(engine).key),
    "a message comes": lambda _: PublishMessage("m", "one", 0),
    "another message comes": lambda _: PublishMessage("hello", "one", 0),
    "a signal comes": lambda _: BroadcastSignal("alarm"),
    "a variable is set": lambda engine: SetVariables(engine.key, raw({"k": 5})),
    "a business id": lambda engine: AssignBusinessId(engine.key, "b-1"),
    "a suspension": lambda engine: SuspendInstance(engine.key),
    "a modification": lambda engine: ModifyInstance(engine.key, terminate=(TerminateInstruction(element_id="a9"),)),
    "a migration back": lambda engine: MigrateInstance(engine.key, engine.source, pairs(BACK)),
    "a cancellation": lambda engine: CancelInstance(engine.key),
}


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_what_comes_between_two_pages_comes_to_the_same_as_after_the_last_one(name):
    other = everything(BY_ITEMS)
    drain(other, begun(other, 1))
    other.memory.now += LATER_MS
    other.run(COMMANDS[name](other))
    for borders in range(1, PAGES + 2):
        engine = everything(BY_ITEMS)
        on_the_way = begun(engine, borders)
        engine.memory.now += LATER_MS
        command = COMMANDS[name](engine)
        on_the_way.appendleft((command, "<default>", None))
        drain(engine, on_the_way)
        if isinstance(command, TriggerTimer) and command.key in engine.state.timers:
            engine.run(command)  # as its timer task does: it is still due
        assert final(engine) == final(other), f"after {borders} borders"
        assert answers(engine) == answers(other) == [None, None]
        rebuilt(engine)


def final(engine):
    found = snapshot(engine.state)
    for row in found["catalogue"]:
        row.pop("running", None)
    return found


def answers(engine):
    """The rejections in the answers to the two last requests."""
    given = [one for logged in engine.memory.log for one in logged.handled if one.answered]
    return [one.rejection for one in given][-2:]


@pytest.mark.parametrize("borders", range(1, PAGES + 1))
def test_nothing_is_renamed_beyond_the_page_and_nothing_is_answered(borders):
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, borders)
    renamed = [one for one in engine.state.elements.values() if one.element.endswith("9")]
    assert len(renamed) == borders - 1
    assert next_page(engine.state.trees[engine.key]) is not None
    assert not engine.memory.log[-1].handled[0].answered
    version = engine.state.trees[engine.key].revision
    held = conditional(SetVariables(engine.key, raw({"k": 5})), engine.key, (version,))
    on_the_way.appendleft((held, "<default>", None))
    drain(engine, on_the_way)
    assert engine.memory.log[-1].handled[-1].rejection.code is RejectionCode.PRECONDITION_FAILED
    assert engine.places == [(f"{id}9" if id != "p" else id, engine.target) for id in sorted("abbcepsx")]


def arrive_each_step(engine, on_the_way, numbers):
    """A command comes whenever one is handled: the last ones come while the first ones return."""
    for number in numbers:
        on_the_way.append((SetVariables(engine.key, raw({"k": number})), "<default>", None))
        step(engine, on_the_way)
    drain(engine, on_the_way)


def a_new_term(engine, on_the_way):
    """The engine knows what the tables say: the commands that are held, and the ends of holds that are on their way."""
    memory = engine.memory
    waiting = {
        root: HeldBefore("<default>", len(held), sum(len(encode_command(one.command)) for one in held))
        for root, held in memory.held.items()
        if held
    }
    returning = Counter(command.key for command, *_ in on_the_way if isinstance(command, EndHold))
    rebuilt(engine)
    memory.processor.held.adopt(waiting, returning, memory.processor.notices)


def is_on(engine):
    """Whether a new command would be held."""
    tree = engine.state.trees[engine.key]
    return migration_hold.is_held(tree) or engine.memory.processor.view.holds.is_behind_others(engine.key)


def waiting(engine):
    """The number of held commands of the tree."""
    found = engine.memory.processor.view.holds.waiting.get(engine.key)
    return 0 if found is None else found.commands


FEW_HELD = 12
ADMITTED = 20
"""Commands that the log takes before one is handled."""


@pytest.mark.parametrize("traffic", [1, 2, 10])
@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_a_hold_ends_although_traffic_goes_on_and_each_command_is_done_in_its_order_or_refused(
    monkeypatch, seed, traffic, at_once
):
    """Commands come faster than they are handled, and terms end at random borders."""
    random = Random(f"{seed} {traffic} {at_once}")
    monkeypatch.setattr(held_commands, "RELEASED_AT_ONCE", at_once)
    monkeypatch.setattr(holds, "MOST_HELD", FEW_HELD)
    engine = everything(IN_PAGES)
    on_the_way, sent, handled = begun(engine, 1), 0, 0
    last_term = random.randrange(2 * PAGES)
    while is_on(engine):
        for _ in range(min(random.randint(0, 2 * traffic), ADMITTED - len(on_the_way))):
            on_the_way.append((SetVariables(engine.key, raw({"k": sent})), "<default>", -1 - sent))
            sent += 1
        step(engine, on_the_way)
        handled += 1
        if handled <= last_term and not random.randrange(5):
            a_new_term(engine, on_the_way)
        assert handled < ADMITTED * (PAGES + 2 * FEW_HELD + last_term), "it ends"
        assert waiting(engine) <= FEW_HELD
    drain(engine, on_the_way)
    log = engine.memory.log
    refused = {
        -1 - row.request
        for one in log
        for row in one.handled
        if row.rejection is not None and row.rejection.code is RejectionCode.RESOURCE_EXHAUSTED
    }
    done = [int(value) for value in values_set(engine)]
    assert done == [number for number in range(sent) if number not in refused]
    given = Counter(bytes(one.command.variables["k"]) for one in log if isinstance(one.command, SetVariables))
    assert max(given.values(), default=0) <= 2, "each leaves the log once, and returns once"
    assert not any(engine.memory.held.values())


def test_what_this_term_has_held_is_handled_with_the_last_page():
    engine = everything(IN_PAGES)
    arrive_each_step(engine, begun(engine, 1), range(NUMBERS))
    commands = [type(one.command) for one in engine.memory.log[-NUMBERS - PAGES :]]
    assert (commands.count(SetVariables), EndHold in commands) == (NUMBERS, False)
    assert values_set(engine) == [str(number) for number in range(NUMBERS)]
    last_page = next(one for one in reversed(engine.memory.log) if isinstance(one.command, ContinueWork))
    assert [row.seq for row in last_page.handled] == list(range(len(last_page.handled)))


def test_what_comes_in_the_batch_of_the_last_page_comes_behind_what_waits():
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 2)
    on_the_way.append((SetVariables(engine.key, raw({"k": 0})), "<default>", None))
    while sum(one.element.endswith("9") for one in engine.state.elements.values()) < PAGES - 1:
        step(engine, on_the_way)
    processor = engine.memory.processor
    pages = CommandRecord(10**6, "<default>", *on_the_way.pop()[:1])
    late = CommandRecord(10**6 + 1, "<default>", SetVariables(engine.key, raw({"k": 1})))
    assert [row.events for record in (pages, late) for row in processor.process(record, 0)][-1] == []
    rows = [row for _, each in processor.take_back_held(lambda: False, lambda _: True, {}) for row in each]
    processor.give_up_awaiting()
    (first,) = (one.position for one in engine.memory.log if isinstance(one.command, SetVariables))
    done = [(row.request, event.value) for row in rows for event in row.events]
    assert done == [(first, "0"), (late.position, "1")]
    assert (processor.notices.returned, processor.notices.to_inbox) == ({engine.key: 1}, [])


def test_the_end_of_a_hold_has_the_tenant_of_its_commands():
    """Commands of another tree may have been the last ones in the batch."""
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 2)
    on_the_way.append((SetVariables(engine.key, raw({"k": 0})), "<default>", None))
    while sum(one.element.endswith("9") for one in engine.state.elements.values()) < PAGES - 1:
        step(engine, on_the_way)
    processor = engine.memory.processor
    processor.process(CommandRecord(10**6, "<default>", *on_the_way.pop()[:1]), 0)
    processor.view.tenant = "other"
    processor.give_up_awaiting()
    sent = [(type(one.command), one.tenant) for one in processor.notices.to_inbox]
    assert sent == [(EndHold, "<default>")]
    assert processor.notices.released == {engine.key: 1}


def test_many_or_large_commands_that_wait_for_other_trees_count_as_well(monkeypatch):
    monkeypatch.setattr(holds, "MOST_CHARACTERS_HELD_IN_ALL", 1_000)
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 1)
    on_the_way.extendleft((SetVariables(engine.key, raw({"k": text})), "<default>", None) for text in ("b", "a" * 999))
    step(engine, on_the_way)
    step(engine, on_the_way)
    first, second = (one.handled[0] for one in engine.memory.log[-2:])
    assert first.rejection is None
    assert second.rejection.code is RejectionCode.RESOURCE_EXHAUSTED
    assert f"process instance with key '{engine.key}'" in second.rejection.reason
    drain(engine, on_the_way)
    assert values_set(engine) == [f'"{"a" * 999}"']
    assert engine.run(SetVariables(engine.key, raw({"k": "b"}))).rejection is None


@pytest.mark.parametrize("at_once", [1, 3, 500])
@pytest.mark.parametrize("borders", range(1, PAGES + 2))
def test_what_the_program_sends_waits_however_many_wait_and_leaves_memory(monkeypatch, at_once, borders):
    """Reports of connectors and items of batches: nobody repeats them. Their order stays that of the log."""
    monkeypatch.setattr(held_commands, "RELEASED_AT_ONCE", at_once)
    monkeypatch.setattr(holds, "MOST_CHARACTERS_HELD_IN_ALL", 200)
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, borders)
    sent = [SetVariables(engine.key, raw({"k": n}), by_program=True) for n in range(NUMBERS)]
    sent.append(SetVariables(engine.key, raw({"k": "of a client"})))
    on_the_way.extend((command, "<default>", None) for command in sent)
    drain(engine, on_the_way)
    given = [one.command for one in engine.memory.log if isinstance(one.command, SetVariables)]
    refused = [one.rejection.code for logged in engine.memory.log for one in logged.handled if one.rejection]
    done = values_set(engine)
    assert done[:NUMBERS] == [str(number) for number in range(NUMBERS)]
    assert len(done) - NUMBERS + len(refused) == 1
    assert set(refused) <= {RejectionCode.RESOURCE_EXHAUSTED}
    if borders < PAGES - 1:
        assert refused, "many waited for these pages"
        assert sum(command.held for command in given) == NUMBERS, "through the log, and not from memory"
    assert not any(engine.memory.held.values())
    assert not engine.memory.processor.view.holds.waiting
    rebuilt(engine)


def values_set(engine):
    events = (event for logged in engine.memory.log for one in logged.handled for event in one.events)
    return [event.value for event in events if isinstance(event, VariableSet) and event.name == "k"][1:]


def test_a_held_command_is_encoded_once(monkeypatch):
    """For its size. The save of the inbox takes the bytes, and they are in memory no longer than that."""
    encoded = []

    def encoding(command):
        encoded.append(command)
        return encode_command(command)

    monkeypatch.setattr(outcomes, "encode_command", encoding)
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 1)
    on_the_way.appendleft((SetVariables(engine.key, raw({"k": 1})), "<default>", None))
    step(engine, on_the_way)
    (held,) = engine.memory.held[engine.key]
    given = held.take_payload()
    assert encoded == [held.command]
    assert given == encode_command(held.command)
    assert held.take_payload() == given
    assert len(encoded) == 2, "the bytes were given away"


def test_commands_that_are_never_held_leave_no_trace():
    engine = everything(IN_PAGES)
    drain(engine, begun(engine, 1))
    assert {type(one.command) for one in engine.memory.log[-PAGES:]} == {ContinueWork}


@pytest.mark.parametrize("borders", range(1, PAGES + 4))
def test_a_new_term_releases_what_the_last_one_held(borders):
    """It knows what the tables say: how many commands are held, and how many ends of holds are on their way."""
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 1)
    for number in range(2):
        on_the_way.append((SetVariables(engine.key, raw({"k": number})), "<default>", None))
    for _ in range(min(borders, len(on_the_way) + PAGES - 1)):
        step(engine, on_the_way)
    a_new_term(engine, on_the_way)
    on_the_way.append((SetVariables(engine.key, raw({"k": 2})), "<default>", None))
    drain(engine, on_the_way)
    assert values_set(engine) == ["0", "1", "2"]
    assert engine.places == [(f"{id}9" if id != "p" else id, engine.target) for id in sorted("abbcepsx")]


def test_a_second_migration_keeps_the_order_of_what_was_held_behind_it():
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 2)
    back = MigrateInstance(engine.key, engine.source, pairs(BACK))
    for command in (SetVariables(engine.key, raw({"k": 0})), back, SetVariables(engine.key, raw({"k": 1}))):
        on_the_way.append((command, "<default>", None))
    arrive_each_step(engine, on_the_way, range(2, 2 * PAGES))
    assert values_set(engine) == [str(number) for number in range(2 * PAGES)]
    assert engine.places == [(id, engine.source) for id in sorted("abbcepsx")]


def test_work_is_looked_through_once_however_many_commands_come():
    engine = everything(IN_PAGES)
    begun(engine, 2)
    tree = engine.state.trees[engine.key]
    found, seen = next_page(tree), tree.paging
    assert next_page(tree) is found is seen[1]
    assert tree.paging is seen


def test_a_small_instance_moves_in_one_step():
    engine = everything(replace(IN_PAGES, migration_page=PAGES + 1))
    handled = engine.go(*THERE)
    assert [type(event) for event in handled.events] == [InstanceMigrated]
    assert handled.answered


def test_it_waits_for_the_batch_that_has_changed_the_tree():
    """Rows that are not in the database yet would be counted twice."""
    engine = everything(IN_PAGES)
    processor = engine.memory.processor
    processor.process(CommandRecord(10**6, "<default>", SetVariables(engine.key, raw({"k": 5}))), 0)
    migrate = MigrateInstance(engine.key, engine.target, pairs(THERE))
    (handled,) = processor.process(CommandRecord(10**6 + 1, "<default>", migrate), 0)
    assert (handled.events, handled.answered) == ([], False)
    assert [one.command.attempt for one in processor.notices.to_inbox] == [1]


def test_a_migration_that_has_waited_too_often_moves_all_in_one_step_if_its_batch_has_changed_the_tree():
    """In pages, the new element would be counted for the target by its own row, and again by its page."""
    engine = everything(IN_PAGES)
    processor = engine.memory.processor
    processor.process(CommandRecord(10**6, "<default>", CompleteJob(job_of(engine, "a"))), 0)
    migrate = MigrateInstance(engine.key, engine.target, pairs(THERE), attempt=MAX_ATTEMPTS)
    (handled,) = processor.process(CommandRecord(10**6 + 1, "<default>", migrate, 10**6), 0)
    assert [type(event) for event in handled.events] == [InstanceMigrated]
    assert (handled.rejection, handled.answered) == (None, True)
    (migration,) = (row for row in engine.state.dirty if isinstance(row, Migration))
    assert set(migration.elements) == set(engine.state.elements.values())
    assert next_page(engine.state.trees[engine.key]) is None


def test_a_timer_that_is_opened_under_the_former_id_of_another_opens_with_its_page():
    """No two timers of an element have the same target, not even between two pages."""
    source = line(sub("s", start("i"), task("a"), "i > a", boundary("x", "a", timer(), False)))
    swapped = source.replace(b'"x"', b'"y"').replace(
        b"</subProcess>", boundary("x", "a", timer("PT2H"), False).encode() + b"</subProcess>"
    )
    engine = Migrating(source, swapped, IN_PAGES)
    handled = engine.go("s", "a", "x:y")
    assert handled.events[0].paged
    assert TimerScheduled not in map(type, handled.events)
    now = engine.memory.now
    due = {one.target: one.due_at - now for one in engine.state.timers.values()}
    assert due == {"x": 2 * HOUR, "y": HOUR}
    rebuilt(engine)


def test_a_subscription_that_is_opened_keeps_its_target():
    """Its target is also the former id of an element that has another one now."""
    signal = '<signalEventDefinition signalRef="s"/>'
    inner = start("i"), task("a"), task("b"), "i > a", "a > b"
    source = line(sub("s", *inner)).replace(b'"b"', b'"x"')
    engine = Migrating(source, line(sub("s", *inner, boundary("x", "a", signal, False))), IN_PAGES)
    handled = engine.go("s", "a", "x:b")
    assert handled.events[0].paged
    assert [one.target for one in engine.state.subscriptions.values()] == ["x"]


def test_what_opens_waits_behind_the_last_page():
    """A condition that holds already occurs when all elements are renamed."""
    condition = "<conditionalEventDefinition><condition>=k = 1</condition></conditionalEventDefinition>"
    inner = (start("i"), task("a"), "i > a")
    source = line(sub("s", *inner))
    target = line(sub("s", *inner, boundary("now", "a", condition), task("then"), "now > then"))
    whole, paged = (Migrating(source, target, limits, k=1) for limits in (LIMITS["whole"], IN_PAGES))
    for engine in (whole, paged):
        engine.go("s", "a")
        assert engine.jobs == ["then"]
    assert final(whole) == final(paged)
    kinds = [type(event) for logged in paged.memory.log for one in logged.handled for event in one.events]
    assert ElementsRenamed in kinds


def test_instances_that_are_called_move_in_pages_of_their_own_and_the_last_page_answers():
    def files(suffix):
        child = model(start(), loop(task(f"t{suffix}"), "=[1, 2, 3]"), f"start > t{suffix}", id="child")
        return child, model(start(), call(f"c{suffix}", "child"), end(), f"start > c{suffix} > end")

    (child, caller), (other_child, other) = files(""), files("9")
    engine = Migrating(caller, other, replace(IN_PAGES, migration_page=2), beside=(child,))
    source = engine.element("child").instance.definition_key
    (to,) = engine.deploy(other_child)
    length = len(engine.memory.log)
    handled = engine.go("c:c9", called=[(source, to, ["t:t9"])])
    events = [event for logged in engine.memory.log[length:] for one in logged.handled for event in one.events]
    assert [event.paged for event in events if isinstance(event, InstanceMigrated)] == [False, True]
    assert not handled.answered
    assert [one.answered for logged in engine.memory.log[-2:] for one in logged.handled][-1]
    assert engine.places == sorted([("c9", engine.target), ("p", engine.target), ("child", to), *[("t9", to)] * 4])


def test_a_dry_run_shows_all_pages():
    engine = everything(IN_PAGES)
    trial = Trial(engine.memory.processor, 0)
    trial.run(MigrateInstance(engine.key, engine.target, pairs(THERE)), "<default>")
    assert sum(isinstance(event, ElementsRenamed) for event in trial.events) == PAGES
    assert not trial.is_put_off


def test_a_dry_run_between_two_pages_says_that_the_tree_is_busy():
    engine = everything(IN_PAGES)
    begun(engine, 2)
    trial = Trial(engine.memory.processor, 0)
    trial.run(SuspendInstance(engine.key), "<default>")
    assert trial.is_put_off


def test_a_page_that_fails_holds_nobody_for_ever(monkeypatch):
    """It would be a bug. An incident keeps the rest, and nobody migrates the instance again until it is resolved."""
    engine = everything(IN_PAGES)
    on_the_way = begun(engine, 2)

    def fails(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(worklist, "rename_page", fails)
        drain(engine, on_the_way)
    tree = engine.state.trees[engine.key]
    assert next_page(tree) is not None
    assert not migration_hold.is_held(tree)
    assert engine.run(SetVariables(engine.key, raw({"k": 7}))).answered
    (incident,) = engine.state.incidents
    assert engine.run(MigrateInstance(engine.key, engine.source, pairs(BACK))).rejection.code is REFUSED
    engine.run(ResolveIncident(incident, 1))
    drain(engine, deque([(ContinueWork(engine.key), "<default>", None)]))
    assert next_page(tree) is None
    assert engine.places == [(f"{id}9" if id != "p" else id, engine.target) for id in sorted("abbcepsx")]


def test_a_loop_that_is_loaded_in_pages():
    target = EVERYTHING
    for id in ALL:
        target = target.replace(f'"{id}"'.encode(), f'"{id}9"'.encode())
    limits = StepLimits(quantum_items=1, paged_from=0, migration_page=1)
    engine = Migrating(EVERYTHING, target, limits, items=[1, 2, 3], k="one")
    engine.go(*THERE)
    assert {element.instance.definition_key for element in engine.state.elements.values()} == {engine.target}
    assert all(one.element.endswith("9") for one in engine.state.elements.values() if one.element != "p")
    rebuilt(engine)
