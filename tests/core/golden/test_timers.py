"""Golden traces of timers: in scopes of each kind, with an incident, cancelled, with listeners; and what they start.

`pytest --rewrite-golden` writes tests/core/golden/timers_*.txt anew; a change of behaviour is a readable diff.
"""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import mapped
from tests.core.golden.recording import play, text_of
from tests.core.golden.variants_timers import VARIANTS
from tests.core.listener_models import listening_everywhere
from tests.core.models import file, process_element, start, sub, task
from vivero.core.records.timers import TriggerTimer


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_trace_is_the_golden_one(variant, golden):
    golden(f"timers_{variant}", text_of(VARIANTS[variant]))


# ---- what has no scope around it


STARTS = {
    "date_start": "<timeDate>1970-01-01T01:00:00Z</timeDate>",
    "cycle_start": "<timeCycle>R2/PT1M</timeCycle>",
}


def started_by(text, inputs=()):
    definition = f"<timerEventDefinition>{text}</timerEventDefinition>"
    begin = f'<startEvent id="x">{mapped(inputs=inputs)}{definition}</startEvent>'
    return file(process_element(begin, sub("s", start("b"), task("t"), "b > t"), "x > s"))


def fire(engine):
    """Every timer that there is, when it is due; what it starts waits."""
    while engine.state.timers:
        key, timer = min(engine.state.timers.items(), key=lambda one: one[1].due_at)
        engine.memory.now = timer.due_at
        engine.run(TriggerTimer(key, timer.due_at))


def to_the_end(engine):
    fire(engine)
    play(engine)


def with_an_incident(engine):
    fire(engine)
    for element in [one for one in engine.state.elements.values() if one.element == "x"]:
        engine.set(element.key, local=True, ok=True)
    for incident in list(engine.state.incidents):
        engine.resolve(incident)
    play(engine)


def cancelled(engine):
    fire(engine)
    for key in list(engine.state.trees):
        engine.cancel(key)


ACTS = {
    "to_the_end": (to_the_end, started_by),
    "with_an_incident": (with_an_incident, lambda text: started_by(text, [("=assert(ok, ok)", "checked")])),
    "cancelled": (cancelled, started_by),
    "with_listeners": (to_the_end, lambda text: listening_everywhere(started_by(text), {"x"})),
}


@pytest.mark.parametrize("name", STARTS)
def test_starts_are_the_golden_ones(name, golden):
    text = ""
    for title, (act, file_) in ACTS.items():
        engine = Engine()
        engine.deploy(file_(STARTS[name]))
        before = len(engine.trace)
        act(engine)
        text += f"# {title}\n" + "\n".join(engine.trace[before:]) + "\n\n"
        assert not engine.state.elements
    golden(f"timers_{name}", text)
