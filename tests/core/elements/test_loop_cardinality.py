"""Multi-instance with a number instead of a collection (BPMN 2.0.2 §10.3.9); whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench, rebuilt
from tests.core.event_models import LIMITS, ended, model, run
from tests.core.models import end, start, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


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
def test_so_many_instances_begin(bench, number):
    key = run(bench, several(number), n=3)
    assert [bench.variables_of(job.element.key) for job in bench.state.jobs.values()] == [
        {"loopCounter": counter} for counter in (1, 2, 3)
    ]
    bench.set(key, n=7)
    rebuilt(bench)
    for _ in range(3):
        bench.complete("work")
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_one_after_the_other(bench):
    run(bench, several("=n", sequential=True), n=2)
    assert bench.jobs == ["work"]
    bench.complete("work", n=9)
    assert bench.jobs == ["work"], "it was evaluated once"
    bench.complete("work")
    assert bench.jobs == ["after"]


def test_zero_is_done_at_once(bench):
    run(bench, several("0"))
    assert bench.jobs == ["after"]


def test_results_are_collected(bench):
    settings = 'outputCollection="results" outputElement="=r + loopCounter"'
    run(bench, several("2", settings, until="=numberOfCompletedInstances = 2"))
    bench.complete("work", r=10)
    bench.complete("work", r=20)
    assert bench.variables("p")["results"] == [11, 22]


@pytest.mark.parametrize("wrong", [-1, 1.5, None, "many"])
def test_what_is_no_number_of_instances_is_an_incident(bench, wrong):
    key = run(bench, several("=n"), n=wrong)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    bench.set(key, n=1)
    bench.resolve()
    assert bench.jobs == ["work"]


def test_there_is_a_limit(bench):
    run(bench, several("=n"), n=200_001)
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    assert "at most 200000 are allowed, not 200001" in message
