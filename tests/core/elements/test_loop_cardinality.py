"""Multi-instance with a number instead of a collection (BPMN 2.0.2 §10.3.9); whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, ended, model, run
from tests.core.models import end, start, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def several(number, settings="", sequential=False, until=None):
    marker = (
        f'<multiInstanceLoopCharacteristics isSequential="{str(sequential).lower()}">'
        + (f"<extensionElements><zeebe:loopCharacteristics {settings}/></extensionElements>" if settings else "")
        + f"<loopCardinality>{number}</loopCardinality>"
        + (f"<completionCondition>{until}</completionCondition>" if until else "")
        + "</multiInstanceLoopCharacteristics>"
    )
    work = task("work").replace("</serviceTask>", f"{marker}</serviceTask>")
    return model(start(), work, task("after"), end(), "start > work > after > end")


@pytest.mark.parametrize("number", ["3", "=n", "=count([1, 2, 3])"])
def test_so_many_instances_begin(engine, number):
    key = run(engine, several(number), n=3)
    assert [engine.variables_of(job.element.key) for job in engine.state.jobs.values()] == [
        {"loopCounter": counter} for counter in (1, 2, 3)
    ]
    engine.set(key, n=7)
    rebuilt(engine)
    for _ in range(3):
        engine.complete("work")
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_one_after_the_other(engine):
    run(engine, several("=n", sequential=True), n=2)
    assert engine.jobs == ["work"]
    engine.complete("work", n=9)
    assert engine.jobs == ["work"], "it was evaluated once"
    engine.complete("work")
    assert engine.jobs == ["after"]


def test_zero_is_done_at_once(engine):
    run(engine, several("0"))
    assert engine.jobs == ["after"]


def test_results_are_collected(engine):
    settings = 'outputCollection="results" outputElement="=r + loopCounter"'
    run(engine, several("2", settings, until="=numberOfCompletedInstances = 2"))
    engine.complete("work", r=10)
    engine.complete("work", r=20)
    assert engine.variables("p")["results"] == [11, 22]


@pytest.mark.parametrize("wrong", [-1, 1.5, None, "many"])
def test_what_is_no_number_of_instances_is_an_incident(engine, wrong):
    key = run(engine, several("=n"), n=wrong)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    engine.set(key, n=1)
    engine.resolve()
    assert engine.jobs == ["work"]


def test_there_is_a_limit(engine):
    run(engine, several("=n"), n=200_001)
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    assert "at most 200000 are allowed, not 200001" in message
