"""Work that crosses partitions: commands that arrived at the wrong one, signals, definitions, deletions."""

from dataclasses import replace

import pytest

from tests.core.cluster import ClusterEngine
from tests.core.engine import raw
from tests.core.message_models import catch, message, model, receive, signal, starts, throw
from tests.core.models import ONE_TASK, end, start, task
from vivero.core.commands.signal import SUBSCRIPTIONS_PER_PAGE
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import StepLimits
from vivero.core.memory import Logged
from vivero.core.partitions.keys import partition_of
from vivero.core.partitions.routes import slot_of, spread
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import (
    ConfirmStart,
    CorrelateMessage,
    MessageReceived,
    OpenSubscription,
    PublishMessage,
)
from vivero.core.records.signals import BroadcastSignal, DeliverSignal
from vivero.core.records.slots import MoveSlots, ReleaseSlots, SwitchSlots
from vivero.core.records.timers import FireTimer

TENANT = "<default>"
HEARS = model(start(), catch(on="signal"), end(), "start > catch > end")
WAITS = model(start(), receive(), end(), "start > receive > end")
HEARS_TWICE = model(start(), catch("one", on="signal"), catch("two", on="signal"), end(), "start > one > two > end")


@pytest.fixture
def engine(seed):
    return ClusterEngine(3, seed, at=1)


@pytest.fixture
def cluster(engine):
    return engine.cluster


def create(cluster, at, process_id="p", **variables):
    """An instance in a partition; its key."""
    created = cluster.run(CreateInstance(process_id, variables=raw(variables)), at=at)
    assert created.rejection is None, created.rejection
    return created.response.process_instance_key


def key_of(cluster, partition):
    """A correlation key whose channel belongs to the partition."""
    return next(key for key in map(str, range(100)) if cluster.routes.of_channel(TENANT, key) == partition)


def elements(cluster, partition):
    return sorted(element.element for element in cluster[partition].state.elements.values())


# ---- commands at the wrong partition


def test_a_command_at_the_wrong_partition_is_sent_on_and_answered(engine, cluster):
    engine.deploy(ONE_TASK)
    create(cluster, 2)
    (job,) = cluster[2].state.jobs
    done = cluster.run(CompleteJob(job), at=3)
    assert done.rejection is None
    assert not cluster[2].state.elements


def test_its_rejection_answers_the_client(engine, cluster):
    refused = cluster.run(CancelInstance(2 << 51 | 99), at=3)
    assert refused.rejection is not None
    assert refused.rejection.code is RejectionCode.NOT_FOUND
    refused = cluster.run(CorrelateMessage("hello", key_of(cluster, 1)), at=2)
    assert refused.rejection is not None
    assert refused.rejection.code is RejectionCode.NOT_FOUND


def test_the_row_of_the_first_partition_answers_nothing(engine, cluster):
    position = cluster.send(CancelInstance(2 << 51 | 99), at=3)
    assert position not in cluster.answers
    cluster.settle()
    assert cluster.answers[position][0].code is RejectionCode.NOT_FOUND


def test_a_key_of_no_partition_is_not_found(cluster):
    assert cluster.run(CancelInstance(77 << 51 | 1), at=2).rejection.code is RejectionCode.NOT_FOUND


def test_a_message_published_anywhere_reaches_the_element(engine, cluster):
    engine.deploy(WAITS)
    key = key_of(cluster, 1)
    create(cluster, 2, k=key)
    assert cluster.run(PublishMessage("hello", key), at=3).response.message_key >> 51 == 1
    assert not cluster[2].state.elements


def test_a_correlation_that_is_sent_on_names_the_instance(engine, cluster):
    engine.deploy(WAITS)
    key = key_of(cluster, 1)
    instance = create(cluster, 2, k=key)
    assert cluster.run(CorrelateMessage("hello", key), at=3).response.process_instance_key == instance


# ---- channels


def test_a_subscription_is_closed_after_it_was_opened_though_both_are_on_their_way(engine, cluster):
    engine.deploy(WAITS)
    key = key_of(cluster, 1)
    position = cluster.send(CreateInstance("p", variables=raw({"k": key})), at=2)
    instance = cluster.outcome(position).response.process_instance_key
    cluster.send(CancelInstance(instance))
    cluster.settle()
    assert not engine.open()


def test_a_wait_that_is_deferred_still_crosses_before_its_end(engine, seed):
    """With a quantum of one item, what follows is deferred; what goes elsewhere is not."""
    engine = ClusterEngine(3, seed, StepLimits(quantum_items=1), at=2)
    engine.deploy(WAITS)
    key = key_of(engine.cluster, 1)
    engine.start(k=key)
    assert [type(logged.command) for logged in engine.cluster[1].log].count(OpenSubscription) == 1
    engine.publish("hello", key)
    assert not engine.open()


def test_an_instance_that_a_message_starts_lives_with_its_channel(engine, cluster):
    engine.deploy(model(starts(), task("work"), end(), "start > work > end", roots=(message(key=None),)))
    key = key_of(cluster, 3)
    for _ in range(2):
        cluster.run(PublishMessage("hello", key, 100_000), at=2)
    assert elements(cluster, 3) == ["p", "work"], "the second message waits for the end of the first instance"
    (job,) = cluster[3].state.jobs
    cluster.run(CompleteJob(job))
    assert elements(cluster, 3) == ["p", "work"]
    assert not cluster[1].state.elements
    assert not cluster[2].state.elements


# ---- signals


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_signal_reaches_the_elements_of_all_partitions(engine, cluster, at):
    engine.deploy(HEARS)
    for partition in (1, 2, 3):
        create(cluster, partition)
    reply = cluster.run(BroadcastSignal("alarm"), at=at)
    assert partition_of(reply.response.signal_key) == at
    assert not engine.open()


def test_a_signal_crosses_page_by_page(engine, cluster):
    engine.deploy(HEARS)
    for _ in range(SUBSCRIPTIONS_PER_PAGE + 5):
        create(cluster, 3)
    cluster.run(BroadcastSignal("alarm"), at=1)
    assert not cluster[3].state.elements
    assert [type(logged.command) for logged in cluster[3].log].count(DeliverSignal) == 2


def test_a_signal_of_another_partition_comes_once(engine, cluster):
    """The keys of two partitions do not say which one is older. What begins to wait because of the signal is."""
    engine.deploy(HEARS_TWICE)
    for partition in (1, 2, 3):
        create(cluster, partition)
    cluster.run(BroadcastSignal("alarm"), at=2)
    assert [elements(cluster, partition) for partition in (1, 2, 3)] == [["p", "two"]] * 3


def test_a_signal_starts_one_instance(engine, cluster):
    engine.deploy(model(starts(on="signal"), task("work"), end(), "start > work > end"))
    cluster.run(BroadcastSignal("alarm"), at=2)
    assert [len(member.state.trees) for member in cluster.engines] == [0, 1, 0]


def test_a_signal_that_an_element_throws_reaches_the_others(engine, cluster):
    engine.deploy(
        HEARS, model(start(), throw(on="signal"), end(), "start > throw > end", id="q", roots=(signal(), message()))
    )
    create(cluster, 1)
    create(cluster, 3, "q")
    assert not engine.open()


# ---- the catalogue


def test_each_partition_starts_the_latest_version(engine, cluster):
    engine.deploy(ONE_TASK)
    create(cluster, 2)
    (second,) = engine.deploy(ONE_TASK.replace(b"Process p", b"Process P"))
    assert cluster[3].state.catalogue.definitions[second].version == 2
    assert {create(cluster, partition) >> 51 for partition in (1, 2, 3)} == {1, 2, 3}
    (first, *others) = [
        tree.root.definition_key for member in cluster.engines[1::-1] for tree in member.state.trees.values()
    ]
    assert first != second
    assert set(others) == {second}


def state_of(cluster, definition):
    return cluster[1].state.catalogue.definitions[definition].state


def test_a_definition_drains_until_its_last_instance_has_ended_in_every_partition(engine, cluster):
    (definition,) = engine.deploy(ONE_TASK)
    keys = [create(cluster, partition) for partition in (1, 2, 3)]
    assert cluster.run(DeleteResource(definition), at=2).rejection is None
    for key in keys:
        assert state_of(cluster, definition) == "DRAINING"
        cluster.run(CancelInstance(key))
    assert state_of(cluster, definition) == "DELETED"


def test_an_instance_that_ends_while_its_definition_is_deleted_leaves_nothing_draining(engine, cluster, monkeypatch):
    """The catalogue counted the instance, whose end was not committed yet."""
    (definition,) = engine.deploy(ONE_TASK)
    key = create(cluster, 3)
    supply = type(cluster[1])._supply

    def counted_before(member, need):
        supply(member, need)
        if need.key in member.state.running_elsewhere:
            member.state.running_elsewhere[need.key] = 1
            monkeypatch.undo()

    cluster.send(CancelInstance(key))
    monkeypatch.setattr(type(cluster[1]), "_supply", counted_before)
    cluster.run(DeleteResource(definition))
    assert state_of(cluster, definition) == "DELETED"


def test_a_definition_without_instances_is_deleted_at_once(engine, cluster):
    (definition,) = engine.deploy(ONE_TASK)
    cluster.run(DeleteResource(definition))
    assert state_of(cluster, definition) == "DELETED"
    assert not cluster[2].log, "no partition was asked"


# ---- moves of slots


@pytest.mark.parametrize(("at", "to"), [(2, 1), (2, 2), (2, 4), (2, 0)])
def test_slots_move_upwards_only(cluster, at, to):
    """A channel orders its messages by their keys, and those of a higher partition are greater."""
    slots = tuple(slot for slot in range(9) if cluster.routes.owner_of(slot) == at)
    refused = cluster.run(MoveSlots(slots, to))
    assert refused.rejection.code is RejectionCode.INVALID_ARGUMENT
    assert cluster.routes.slots == spread(3)


def test_only_the_owner_moves_slots(cluster):
    refused = cluster.run(MoveSlots((0, 1), 3))
    assert refused.rejection.code is RejectionCode.INVALID_STATE


def test_a_batch_ends_when_it_releases_what_was_held(cluster):
    """Its inbox rows are saved first: what a later command sends would overtake what was held."""
    key = key_of(cluster, 1)
    cluster.send(MoveSlots((slot_of(TENANT, key),), 3))
    processor, full = cluster[2].processor, []
    process = processor.process

    def processing(record, *arguments):
        handled = process(record, *arguments)
        full.append((type(record.command), processor.is_full()))
        return handled

    processor.process = processing
    cluster.settle()
    assert full == [(SwitchSlots, False), (ReleaseSlots, True)]
    assert not processor.is_full()


def test_a_wait_moves_with_its_slot(engine, cluster):
    engine.deploy(WAITS)
    key = key_of(cluster, 1)
    create(cluster, 2, k=key)
    assert cluster.run(MoveSlots((slot_of(TENANT, key),), 3)).rejection is None
    assert not cluster.detours
    assert cluster.run(PublishMessage("hello", key), at=1).response.message_key >> 51 == 3
    assert not engine.open()


# ---- pinned tenants


DATE = "<timerEventDefinition><timeDate>2099-01-01T00:00:00Z</timeDate></timerEventDefinition>"
TIMED = model(f'<startEvent id="start">{DATE}</startEvent>', task("work"), end(), "start > work > end")


PINS = [({}, 1), ({TENANT: (1, 2)}, 1), ({TENANT: (3,)}, 3), ({"x": (3,)}, 1)]
STARTED = model(starts(), task("work"), end(), "start > work > end")


def pin(cluster, pins):
    cluster.routes = replace(cluster.routes, pins=pins)
    for member in cluster.engines:
        member.refresh()


@pytest.mark.parametrize(("pinned", "where"), PINS)
def test_a_timer_starts_an_instance_in_a_partition_of_its_tenant(engine, cluster, pinned, where):
    pin(cluster, pinned)
    engine.deploy(TIMED)
    (timer,) = cluster[1].state.timers
    assert cluster.run(FireTimer(timer)).rejection is None
    assert {number: elements(cluster, number) for number in (1, 2, 3) if elements(cluster, number)} == {
        where: ["p", "work"]
    }
    (job,) = cluster[where].state.jobs
    assert partition_of(job) == where
    assert cluster.run(CompleteJob(job)).rejection is None


@pytest.mark.parametrize(("pinned", "where"), PINS)
@pytest.mark.parametrize("begin", [CorrelateMessage, PublishMessage])
def test_a_message_starts_an_instance_in_a_partition_of_its_tenant(engine, cluster, pinned, where, begin):
    """The channel belongs to partition 1. The answer, the history and the lock have the key of the instance."""
    pin(cluster, pinned)
    engine.deploy(STARTED)
    key = key_of(cluster, 1)
    done = cluster.run(begin("hello", key), at=2)
    assert done.rejection is None
    (instance,) = cluster[where].state.trees
    assert [bool(member.state.trees) for member in cluster.engines] == [number == where for number in (1, 2, 3)]
    assert partition_of(instance) == where
    if begin is CorrelateMessage:
        assert done.response.process_instance_key == instance
    (received,) = events(cluster[where], MessageReceived)
    assert (received.instance, received.message) == (instance, done.response.message_key)
    assert lock_of(cluster, key) == instance


def events(member, kind):
    handled = [row for logged in member.log for row in logged.handled]
    return [event for row in handled for event in row.events if isinstance(event, kind)]


def lock_of(cluster, key):
    """The instance that has the lock of the process `p`; None without one."""
    lock = cluster[1].state.channels[TENANT, key].locks.get("p")
    return None if lock is None else lock.key


def test_a_stored_message_starts_the_next_instance_when_one_has_ended_elsewhere(engine, cluster):
    pin(cluster, {TENANT: (2, 3)})
    engine.deploy(STARTED)
    key, keys = key_of(cluster, 1), []
    for _ in range(3):
        assert cluster.run(PublishMessage("hello", key, 60_000)).rejection is None
    for _ in range(3):
        (job,) = [job for member in cluster.engines for job in member.state.jobs]
        keys.append(lock_of(cluster, key))
        assert partition_of(job) == partition_of(keys[-1]) in (2, 3)
        assert cluster.run(CompleteJob(job)).rejection is None
    assert len(set(keys)) == 3
    assert lock_of(cluster, key) is None
    assert not engine.open()


def test_a_deleted_definition_starts_nothing_elsewhere_and_leaves_no_lock(engine, cluster):
    pin(cluster, {TENANT: (3,)})
    (definition,) = engine.deploy(STARTED)
    key = key_of(cluster, 1)
    cluster.send(CorrelateMessage("hello", key))
    cluster[3].state.catalogue.definitions[definition].state = "DELETED"
    cluster.settle()
    assert lock_of(cluster, key) is None
    assert not cluster[3].state.trees


def test_a_lock_ends_with_its_instance_even_if_the_confirmation_is_rejected(engine, cluster):
    pin(cluster, {TENANT: (3,)})
    engine.deploy(STARTED)
    key = key_of(cluster, 1)
    handle = cluster[1].handle

    def rejecting(command, tenant, request):
        if not isinstance(command, ConfirmStart):
            return handle(command, tenant, request)
        record = CommandRecord(cluster[1].log[-1].position + 1, tenant, command, request)
        rows = cluster[1].processor.reject(record, 0, Rejection(RejectionCode.PROCESSING_ERROR, "a bug"))
        cluster[1].log.append(Logged(record.position, 0, command, rows))
        return rows

    cluster[1].handle = rejecting
    assert cluster.run(PublishMessage("hello", key)).rejection is None
    (job,), (instance,) = cluster[3].state.jobs, cluster[3].state.trees
    assert lock_of(cluster, key) == instance
    assert cluster.run(CompleteJob(job)).rejection is None
    assert lock_of(cluster, key) is None
