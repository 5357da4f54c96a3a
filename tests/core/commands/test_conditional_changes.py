"""Changes on the condition that the instance tree still has a version."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import call, model
from tests.core.models import ONE_TASK, end, process_element, start, task
from vivero.core.commands.conditional_change import conditional
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.records.base import Sender
from vivero.core.records.codec import INTENTS
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, SetVariables
from vivero.core.records.jobs import CompleteJob, UpdateJob
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.core.state import batches


@pytest.fixture
def one(engine):
    """An instance that waits at its task, and its version."""
    engine.deploy(ONE_TASK)
    engine.key = engine.start(a=1)
    return engine


def version(engine):
    return engine.state.trees[engine.key].revision


def test_a_change_at_its_version_happens(one):
    handled = one.run(conditional(SetVariables(one.key, raw({"a": 2})), one.key, (version(one),)))
    assert handled.rejection is None
    assert one.variables("p") == {"a": 2}


def test_each_change_of_the_tree_gives_it_a_new_version(one):
    seen = [version(one)]
    one.set(one.key, a=2)
    seen.append(version(one))
    one.update("work", retries=7)
    seen.append(version(one))
    one.fail("work")
    seen.append(version(one))
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("versions", [(), (0,), (2, 3)])
def test_a_change_at_another_version_does_not_happen(one, versions):
    before = one.state.next_key, len(one.rows)
    command = CompleteJob(one.job("work").key)
    handled = one.run(conditional(command, command.key, versions))
    assert handled.rejection.code is RejectionCode.PRECONDITION_FAILED
    assert f"process instance with key '{one.key}' at version" in handled.rejection.reason
    assert "but its version is 1" in handled.rejection.reason
    assert not handled.events
    assert (one.state.next_key, len(one.rows)) == before
    assert one.jobs == ["work"]


def test_any_version_of_several_will_do(one):
    command = CompleteJob(one.job("work").key)
    assert one.run(conditional(command, command.key, (0, version(one), 99))).rejection is None


def test_what_does_not_exist_is_not_found(one):
    assert one.run(conditional(CompleteJob(7), 7, (1,))).rejection.code is RejectionCode.NOT_FOUND
    assert one.run(conditional(CancelInstance(one.key), one.key, (0,)), "another").rejection.code is (
        RejectionCode.NOT_FOUND
    )


def test_the_version_is_that_of_the_whole_tree():
    """The job of a called process has the version of the root."""
    engine = Engine()
    called = process_element(start("b"), task("inner"), "b > inner", id="called")
    engine.deploy(model(start(), call("c", "called"), end(), "start > c > end", beside=(called,)))
    engine.key = engine.start()
    engine.set(engine.key, a=1)
    command = CompleteJob(engine.job("inner").key)
    assert engine.run(conditional(command, command.key, (1,))).rejection is not None
    assert engine.run(conditional(command, command.key, (2,))).rejection is None


@pytest.mark.parametrize(
    "first", [lambda key, job: SetVariables(key, raw({"a": 2})), lambda key, job: UpdateJob(job, priority=3)]
)
def test_of_two_changes_in_one_batch_the_second_comes_too_late(one, first):
    """Both name the version that is stored. A change without a variable or a scope counts, too."""
    job, seen = one.job("work").key, version(one)
    processor = one.memory.processor
    commands = [conditional(first(one.key, job), job, (seen,)), conditional(CompleteJob(job), job, (seen,))]
    handled = [processor.process(CommandRecord(n, "<default>", c), 2_000)[0] for n, c in enumerate(commands, 100)]
    assert [one_.rejection and str(one_.rejection.code) for one_ in handled] == [None, "PRECONDITION_FAILED"]
    assert "but it is being changed" in handled[1].rejection.reason
    batches.committed(one.state, batches.close(one.state))


def test_a_change_of_another_tree_in_the_batch_does_not_matter(one):
    other, job = one.start(), one.job("work")
    processor = one.memory.processor
    assert job.element.tree.key == one.key
    processor.process(CommandRecord(100, "<default>", SetVariables(other, raw({"a": 2}))), 2_000)
    command = conditional(CompleteJob(job.key), job.key, (version(one),))
    assert processor.process(CommandRecord(101, "<default>", command), 2_000)[0].rejection is None


def test_a_rejected_change_in_the_batch_does_not_matter(one):
    job, processor = one.job("work").key, one.memory.processor
    processor.process(CommandRecord(100, "<default>", conditional(CompleteJob(job), job, (0,))), 2_000)
    command = conditional(CompleteJob(job), job, (version(one),))
    assert processor.process(CommandRecord(101, "<default>", command), 2_000)[0].rejection is None


def test_a_bug_in_a_conditional_change_is_quarantined_without_its_condition(one, monkeypatch):
    from vivero.core import dispatch

    job = one.job("work").key
    whole = dispatch.COMMANDS[CompleteJob]

    def broken(_command, _view):
        raise ZeroDivisionError
        yield

    monkeypatch.setitem(dispatch.COMMANDS, CompleteJob, dispatch.Handler(whole.needs, broken))
    handled = one.run(conditional(CompleteJob(job), job, (version(one),)))
    assert handled.rejection.code is RejectionCode.PROCESSING_ERROR
    monkeypatch.setitem(dispatch.COMMANDS, CompleteJob, whole)
    one.resolve()
    assert not one.state.elements


def test_all_changes_of_one_tree_can_be_conditional():
    of_clients = [kind for kind in INTENTS.values() if kind.sent_by is Sender.CLIENT]
    internal = {"WithholdJob", "DeleteResource", "ExpireMessage"}
    with_key = {kind for kind in of_clients if "key" in kind.__struct_fields__} - {ChangeIfMatch}
    assert {kind.__name__ for kind in with_key if not kind.changes_tree} == internal
    assert CompleteUserTask.changes_tree
