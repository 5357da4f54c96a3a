"""Snapshots that a server takes between two commands: the library runs what was left over."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import catch, model, throw
from tests.core.golden.recording import ROOTS
from tests.core.models import end, start, sub, task
from tests.core.snapshots.test_snapshots import text_of
from tests.vivero.library.library_models import ALARM, HELLO, NOON
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CreateInstance
from vivero.library import Models, advance, complete, publish, read

PUBLISH = '<extensionElements><zeebe:publishMessage correlationKey="=k"/></extensionElements>'


def interrupted(file, limits, steps):
    """The snapshot of an instance after its creation and so many of the commands that follow, and the models."""
    engine = Engine(limits)
    engine.deploy(file)
    engine.memory.handle(CreateInstance("p", variables=raw({"k": "x"})), "<default>", None)
    following = engine.memory.processor.notices.to_inbox
    for _ in range(steps):
        one = following.pop(0)
        engine.memory.handle(one.command, one.tenant, one.request)
    (tree,) = engine.state.trees.values()
    return text_of(engine, tree), Models({"p.bpmn": file}), following


@pytest.mark.parametrize("steps", range(5))
def test_deferred_work_is_done(steps):
    file = model(start(), sub("s", start("i"), task("t"), "i > t"), end(), "start > s > end", beside=(ROOTS,))
    text, models, following = interrupted(file, StepLimits(quantum_items=1), steps)
    assert following
    result = advance(models, text, NOON)
    assert [job.element for job in result.instance.jobs] == ["t"]
    assert complete(models, result.snapshot, result.instance.jobs[0].key).instance.state == "COMPLETED"


@pytest.mark.parametrize(
    "thrown", [throw("say", HELLO).replace(">", f">{PUBLISH}", 1), throw("say", ALARM)], ids=["message", "signal"]
)
def test_an_element_that_throws_does_not_wait_for_the_server(thrown):
    file = model(start(), thrown, catch("told", HELLO), end(), "start > say > told > end", beside=(ROOTS,))
    text, models, following = interrupted(file, StepLimits(inline_follow_ups=False), 0)
    assert [element.id for element in read(text).elements] == ["p", "say"]
    assert following
    result = advance(models, text, NOON)
    assert [wait.element for wait in result.instance.waits] == ["told"]
    assert publish(models, result.snapshot, "hello", "x").instance.state == "COMPLETED"


def test_a_subscription_that_its_channel_does_not_know_yet():
    file = model(start(), catch("told", HELLO), end(), "start > told > end", beside=(ROOTS,))
    text, models, following = interrupted(file, StepLimits(inline_follow_ups=False), 0)
    assert following
    assert publish(models, text, "hello", "x", {"a": 1}).instance.variables == {"k": "x", "a": 1}
