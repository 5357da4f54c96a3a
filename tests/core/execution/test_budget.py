"""One budget for a quantum: items, rows, characters and steps of expressions together; what is left over is put off.

A stage has a budget, too, as it cannot be cut: beyond it the element gets an incident, and all others go on.
"""

import pytest

from tests.core import message_models as messages
from tests.core.engine import Engine
from tests.core.event_models import boundary, call, inc, loop, mapped, model, run, script
from tests.core.models import end, flow, start, task, xor
from vivero.core.execution import step, worklist
from vivero.core.execution.awaiting_load import AwaitingLoad
from vivero.core.execution.outcomes import FollowUp
from vivero.core.execution.step import StepLimits
from vivero.core.expressions import budget
from vivero.core.records.instances import ContinueWork, VariableSet
from vivero.core.records.messages import Offer, SubscriptionTriggered, TriggerSubscription
from vivero.core.rules import QUANTUM_STEPS, STAGE_CHANGES, STAGE_STEPS

HEAVY = "every x in 1..30000 satisfies x > 0"
"""180,000 steps; there are 400,000 for a stage."""
MEASURED = {"heavy": HEAVY, "light": "1 + 1"}


def quanta_of(engine):
    """The rows of the event log that each quantum of deferred work came to."""
    return [one.handled for one in engine.memory.log if isinstance(one.command, ContinueWork)]


def variables_in(rows):
    return sum(isinstance(event, VariableSet) for row in rows for event in row.events)


@pytest.fixture
def spent(monkeypatch):
    """The steps that were taken between the beginnings of two quanta."""
    seen, begin = [], worklist.Worklist.begin_quantum

    def note(work):
        seen.append(work.view.budget.steps)
        begin(work)

    monkeypatch.setattr(worklist.Worklist, "begin_quantum", note)
    return seen


def looped(activity, items="=items"):
    return model(start(), loop(activity, items, item="turn"), end(), "start > m > end")


def manual(**mappings):
    return f'<manualTask id="m">{mapped(**mappings)}</manualTask>'


def test_a_loop_whose_mappings_take_many_steps_is_cut(spent):
    engine = Engine()
    key = run(engine, looped(manual(inputs=[(f"={HEAVY}", "found")])), items=list(range(20)))
    assert engine.state_of(key) == "COMPLETED"
    one = max(step for step in spent if step)
    assert len(quanta_of(engine)) >= 20 * 180_000 // (QUANTUM_STEPS + one)
    assert max(spent) < 2 * QUANTUM_STEPS


def test_a_loop_that_filters_a_large_variable_is_cut(spent):
    engine = Engine()
    orders = [{"id": number, "amount": number % 97} for number in range(5_000)]
    mapping = manual(inputs=[("=count(orders[amount > turn])", "found")])
    key = run(engine, looped(mapping), items=list(range(30)), orders=orders)
    assert engine.state_of(key) == "COMPLETED"
    assert len(quanta_of(engine)) >= 5
    assert max(spent) < 2 * QUANTUM_STEPS


@pytest.mark.parametrize("expression", MEASURED.values(), ids=MEASURED)
def test_cut_or_not_the_end_is_the_same(monkeypatch, expression):
    activity = script("m", f"=if {expression} = null then 0 else item * 2", "r")
    body = loop(activity, item="item", output="=r", into="results")
    ends = []
    for whole in (QUANTUM_STEPS, QUANTUM_STEPS * 1_000):
        monkeypatch.setattr(worklist, "QUANTUM_STEPS", whole)
        engine = Engine()
        run(engine, model(start(), body, end(), "start > m > end"), items=[3, 1, 2])
        ends.append(engine.ended)
    assert ends[0] == ends[1]


def test_rows_are_charged():
    """A job's result of many variables, into which the next task's mapping looks: that is for the next quantum."""
    engine = Engine()
    chain = model(start(), task("work"), script("after", "=v1", "r"), end(), "start > work > after > end")
    key = run(engine, chain)
    engine.complete("work", **{f"v{number}": number for number in range(2_500)})
    assert engine.state_of(key) == "COMPLETED"
    (rows,) = quanta_of(engine)
    assert variables_in(rows) == 1


def test_few_rows_are_paid_by_their_item():
    engine = Engine()
    run(engine, model(start(), task("work"), end(), "start > work > end"))
    engine.complete("work", a=1, b=2, c=3)
    assert not quanta_of(engine)


@pytest.mark.parametrize("rows", [10, 1_000])
def test_loops_whose_turns_make_many_rows_are_cut(rows):
    """Called processes with a copy of the variables each."""
    engine = Engine()
    called = model(start(), end(), "start > end", id="q")
    variables = {f"v{number}": number for number in range(rows)}
    key = run(
        engine, called, looped(call("m", "q", propagateAllChildVariables="false")), items=list(range(8)), **variables
    )
    assert engine.state_of(key) == "COMPLETED"
    assert max([variables_in(handled) for handled in quanta_of(engine)] or [0]) <= 2_000 + rows
    assert (len(quanta_of(engine)) >= 3) == (rows == 1_000)


def test_characters_and_steps_share_the_budget(monkeypatch):
    """Neither of them fills a quantum alone."""
    activity = manual(inputs=[("=text", "copy"), (f"={HEAVY}", "found")])

    def quanta(characters, steps):
        monkeypatch.setattr(worklist, "QUANTUM_CHARACTERS", characters)
        monkeypatch.setattr(worklist, "QUANTUM_STEPS", steps)
        engine = Engine()
        key = run(engine, looped(activity), items=[1, 2, 3, 4], text="x" * 1_000)
        assert engine.state_of(key) == "COMPLETED"
        return len(quanta_of(engine))

    much, little = 10_000_000, (6_000, 900_000)
    assert (quanta(little[0], much), quanta(much, little[1])) == (0, 0)
    assert quanta(*little) == 1


def test_a_quantum_takes_at_least_one_item_whatever_that_costs(monkeypatch):
    monkeypatch.setattr(worklist, "QUANTUM_STEPS", 1)
    engine = Engine()
    key = run(engine, looped(manual(inputs=[(f"={HEAVY}", "found")])), items=[1, 2])
    assert engine.state_of(key) == "COMPLETED"


# ---------------------------------------------------------------------------------------------- a stage is not cut

MANY = 12
HEAVIEST = "every x in 1..n satisfies x > 0"

STAGES = {
    "inputs": manual(inputs=[(f"={HEAVIEST}", f"found{number}") for number in range(MANY)]),
    "outputs": manual(outputs=[(f"={HEAVIEST}", f"found{number}") for number in range(MANY)]),
    "exclusive gateway": xor("m", default="m-end"),
    "inclusive gateway": inc("m", default="m-end"),
    "boundary events": task("m"),
}


def staged(name):
    parts = [start(), STAGES[name], end(), "start > m"]
    if "gateway" in name:
        parts += [flow("m", "end", f"=not({HEAVIEST})", id=f"f{number}") for number in range(MANY)]
    if name == "boundary events":
        duration = f'<timeDuration>=if {HEAVIEST} then "PT1H" else "PT2H"</timeDuration>'
        timer = f"<timerEventDefinition>{duration}</timerEventDefinition>"
        for number in range(MANY):
            parts += [boundary(f"b{number}", "m", timer), flow(f"b{number}", "end")]
    return model(*parts, flow("m", "end", id="m-end"))


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_that_takes_too_many_steps_is_an_incident_of_its_element(name, spent):
    engine = Engine(StepLimits())
    key = run(engine, staged(name), n=30_000)
    ((element, _, message),) = engine.incidents
    assert element == "m"
    assert "steps that earlier evaluations have left" in message
    assert max(spent) <= STAGE_STEPS + 1_000
    engine.set(key, n=3)
    engine.resolve()
    assert not engine.incidents
    assert engine.jobs == ["m"] if name == "boundary events" else engine.state_of(key) == "COMPLETED"


def test_one_evaluation_has_its_own_limit():
    engine = Engine()
    run(engine, model(start(), script("m", f"={HEAVIEST}", "r"), end(), "start > m > end"), n=90_000)
    ((element, _, message),) = engine.incidents
    assert (element, "more than the limit of 200000 steps" in message) == ("m", True)


@pytest.mark.parametrize("many", [STAGE_CHANGES - 10, STAGE_CHANGES])
def test_a_stage_that_makes_too_many_rows_is_an_incident(many):
    """Several requests have made so many variables, which a called process is to have all."""
    engine = Engine()
    called = model(start(), task("inner"), end(), "start > inner > end", id="q")
    key = run(engine, called, model(start(), task("work"), call("c", "q"), end(), "start > work > c > end"))
    for first in range(0, many, 5_000):
        engine.set(key, **{f"v{number}": 1 for number in range(first, min(first + 5_000, many))})
    engine.complete("work")
    if many < STAGE_CHANGES:
        assert (engine.jobs, engine.incidents) == (["inner"], [])
        return
    ((element, _, message),) = engine.incidents
    assert (element, engine.jobs) == ("c", [])
    assert (
        message == f"It would change {many + 1} variables, waits and others at once, and {STAGE_CHANGES} is the limit."
    )
    engine.cancel(key)
    assert engine.state_of(key) == "TERMINATED"


def test_a_command_that_makes_too_many_rows_is_refused_alone():
    engine = Engine()
    key = run(engine, model(start(), task("work"), end(), "start > work > end"))
    handled = engine.set(key, **{f"v{number}": 1 for number in range(STAGE_CHANGES + 1)})
    assert handled.rejection is not None
    assert f"{STAGE_CHANGES} is the limit" in handled.rejection.reason
    assert engine.set(key, a=1).rejection is None


def test_what_one_stage_reads_is_bounded(monkeypatch):
    monkeypatch.setattr(budget, "STAGE_CHARACTERS_READ", 10_000)
    engine = Engine()
    reading = manual(inputs=[("=string length(a)", "x"), ("=string length(b) + string length(a)", "y")])
    key = run(engine, model(start(), reading, end(), "start > m > end"), a="x" * 6_000, b="y" * 6_000)
    ((element, _, message),) = engine.incidents
    assert element == "m"
    assert "What is read at once has more than 10000 characters of JSON together." in message
    engine.set(key, b="y" * 3_000)
    engine.resolve()
    assert engine.state_of(key) == "COMPLETED"


DENSE = [[1.5]] * 12_000
"""Twice as many values inside as have been allowed here."""


@pytest.mark.parametrize(
    ("source", "state"), [("=a", "COMPLETED"), ("={x: [a, a]}", "COMPLETED"), ("=a[item != null]", "ACTIVATED")]
)
def test_what_becomes_json_in_one_stage_is_bounded_but_for_whole_variables(monkeypatch, source, state):
    """The text of a large variable is taken as it is, whatever it holds; a list that is made anew is walked."""
    monkeypatch.setattr(budget, "STAGE_VALUES", 12_000)
    engine = Engine()
    key = run(engine, model(start(), manual(inputs=[(source, "b")]), end(), "start > m > end"), a=DENSE)
    assert engine.state_of(key) == state
    if state == "ACTIVATED":
        ((element, _, message),) = engine.incidents
        assert element == "m"
        assert "too many lists, contexts and fractions" in message


def test_reading_the_same_again_is_no_more():
    engine = Engine()
    reading = manual(inputs=[("=string length(a)", f"x{number}") for number in range(5)])
    key = run(engine, model(start(), reading, end(), "start > m > end"), a="x" * 3_900_000)
    assert engine.state_of(key) == "COMPLETED"


# ----------------------------------------------------------------------------------------- batches and their follow-ups


@pytest.mark.parametrize(("variables", "pages"), [(10, 1), (500, 2), (2_001, 8)])
def test_a_page_of_a_signal_holds_fewer_when_it_brings_many_variables(variables, pages):
    engine = Engine()
    engine.deploy(messages.model(start(), messages.catch("wait", "signal"), task("work"), "start > wait > work"))
    for _ in range(8):
        engine.start()
    engine.broadcast("alarm", **{f"v{number}": 1 for number in range(variables)})
    told = [
        any(isinstance(event, SubscriptionTriggered) for row in one.handled for event in row.events)
        for one in engine.memory.log
    ]
    assert sum(told) == pages
    assert engine.jobs == ["work"] * 8


def awaiting_follow_ups(engine):
    """A signal for six instances, each of which is to be looked for; what the processor parks."""
    engine.deploy(messages.model(start(), messages.catch("wait", "signal"), task("work"), "start > wait > work"))
    for _ in range(6):
        engine.start()
    processor = engine.memory.processor
    keys = list(engine.state.subscriptions)
    for key in keys:
        processor.awaiting_load.append(
            AwaitingLoad([FollowUp(TriggerSubscription(key, Offer("alarm", {"v": "1"})))], "<default>", 1, [])
        )
    return processor


def test_follow_ups_end_when_the_batch_has_changed_enough_rows(monkeypatch):
    monkeypatch.setattr(step, "BATCH_ROWS", 6)
    processor = awaiting_follow_ups(Engine())
    assert 1 <= len(list(processor.resume_awaiting())) < 6
    assert processor.awaiting_load


def test_follow_ups_end_when_there_are_enough():
    processor, seen = awaiting_follow_ups(Engine()), []
    for rows in processor.resume_awaiting(lambda: len(seen) == 2):
        seen.append(rows)
    assert (len(seen), len(processor.awaiting_load)) == (2, 4)
    processor.give_up_awaiting()
    assert len(processor.notices.to_inbox) == 4
