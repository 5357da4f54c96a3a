"""A transaction is bounded in bytes, not in rows alone: its commit has a deadline."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import call, loop, mapped, run
from tests.core.event_models import model as with_events
from tests.core.message_models import catch, model
from tests.core.models import end, start, task
from vivero.core.elements import call_activity
from vivero.core.execution import worklist
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import ContinueWork, CreateInstance, VariableSet
from vivero.core.records.messages import SubscriptionTriggered
from vivero.core.records.signals import BroadcastSignal
from vivero.core.shared import deliveries, mappings

CALLED = with_events(start(), task("inner"), end(), "start > inner > end", id="q")
LARGE = "x" * 58
"""With its quotes: 60 characters."""


def written(handled):
    """The characters of variables that each row of the event log holds."""
    return [sum(len(event.value) for event in row.events if isinstance(event, VariableSet)) for row in handled]


def loop_of_calls():
    return with_events(start(), loop(call("c", "q"), "=items"), end(), "start > c > end")


@pytest.mark.parametrize("paged_from", [0, 500])
def test_a_quantum_ends_when_it_has_written_enough(monkeypatch, paged_from):
    """Each called process gets its own copy of the variables."""
    monkeypatch.setattr(worklist, "QUANTUM_CHARACTERS", 200)
    engine = Engine(StepLimits(paged_from=paged_from))
    key = run(engine, CALLED, loop_of_calls(), items=list(range(20)), text=LARGE)
    quanta = [sum(written(one.handled)) for one in engine.memory.log if isinstance(one.command, ContinueWork)]
    assert len(quanta) >= 5
    one_call = len(LARGE) + 2 + len(str(list(range(20)))) + len("20")
    assert max(quanta) <= 200 + one_call
    assert engine.jobs == ["inner"] * 20
    for _ in range(20):
        engine.complete("inner")
    assert engine.state_of(key) == "COMPLETED"


def test_a_quantum_goes_on_however_large_its_first_step_is(monkeypatch):
    monkeypatch.setattr(worklist, "QUANTUM_CHARACTERS", 1)
    engine = Engine()
    key = run(engine, CALLED, loop_of_calls(), items=[1, 2, 3], text=LARGE)
    for _ in range(3):
        engine.complete("inner")
    assert engine.state_of(key) == "COMPLETED"


def test_what_was_undone_does_not_end_the_next_batch(monkeypatch):
    """It counts till the batch ends, and no longer."""
    engine = Engine()
    engine.deploy(CALLED)
    engine.start("q", text=LARGE)
    assert engine.state.written == 0
    engine.memory.processor.process(
        CommandRecord(1_000, "<default>", CreateInstance("q", variables=raw({"a": LARGE}))), 1
    )
    assert engine.state.written == 60


@pytest.mark.parametrize(("size", "pages"), [(60, [3, 3, 1]), (200, [1] * 7), (1_000, [1] * 7), (0, [7])])
def test_a_page_of_a_signal_holds_fewer_when_its_variables_are_large(monkeypatch, engine, size, pages):
    monkeypatch.setattr(deliveries, "QUANTUM_CHARACTERS", 200)
    engine.deploy(model(start(), catch("wait", "signal"), task("work"), "start > wait > work"))
    for _ in range(7):
        engine.start()
    engine.run(BroadcastSignal("alarm", raw({"text": "x" * (size - 2)} if size else {})))
    told = [
        sum(isinstance(event, SubscriptionTriggered) for handled in logged.handled for event in handled.events)
        for logged in engine.memory.log
    ]
    assert [count for count in told if count] == pages
    assert engine.jobs == ["work"] * 7


def test_too_much_for_a_called_process_is_an_incident(monkeypatch, engine):
    monkeypatch.setattr(call_activity, "MAX_STAGE_CHARACTERS", 100)
    key = run(engine, CALLED, with_events(start(), call("c", "q"), end(), "start > c > end"), a=LARGE, b=LARGE)
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("c", "CALLED_ELEMENT_ERROR")
    assert message == "The variables for the called process have more than 100 characters of JSON together."
    engine.set(key, b=1)
    engine.resolve()
    assert engine.jobs == ["inner"]


@pytest.mark.parametrize("place", ["inputs", "outputs"])
def test_too_much_in_mappings_is_an_incident(monkeypatch, engine, place):
    monkeypatch.setattr(mappings, "MAX_STAGE_CHARACTERS", 100)
    activity = f'<manualTask id="m">{mapped(**{place: [("=a", "c"), ("=b", "d")]})}</manualTask>'
    key = run(engine, with_events(start(), activity, task("work"), "start > m > work"), a=LARGE, b=LARGE)
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("m", "IO_MAPPING_ERROR")
    assert message == "The values of the mappings have more than 100 characters of JSON together."
    engine.set(key, b=1)
    engine.resolve()
    assert engine.jobs == ["work"]
