"""Links: what is thrown goes on at the catching event of its scope; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import (
    LIMITS,
    catch,
    ended,
    link,
    model,
    run,
    script,
    states,
    throw,
)
from tests.core.models import flow, par, start, sub, task, xor


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def test_a_link_goes_on_at_its_catching_event(engine):
    key = run(
        engine,
        model(start(), task("a"), throw("t", link("L")), catch("c", link("L")), task("b"), "start > a > t", "c > b"),
    )
    engine.complete("a")
    assert engine.jobs == ["b"]
    assert (states(engine, "t"), states(engine, "c")) == (["COMPLETED"], ["COMPLETED"])
    engine.complete("b")
    assert ended(engine, key) == "COMPLETED"


def test_many_throw_to_one_and_scopes_do_not_mix(engine):
    inner = sub(
        "s", start("i"), throw("it", link("L")), catch("ic", link("L")), task("inside"), "i > it", "ic > inside"
    )
    throws = (throw("t1", link("L")), throw("t2", link("L")))
    run(
        engine,
        model(
            start(),
            par("f"),
            *throws,
            catch("c", link("L")),
            task("outside"),
            inner,
            "start > f > t1",
            "f > t2",
            "f > s",
            "c > outside",
        ),
    )
    assert engine.jobs == ["inside", "outside", "outside"]


def test_a_link_may_lead_back(engine):
    """A loop without a sequence flow to itself."""
    run(
        engine,
        model(
            start(),
            catch("c", link("L")),
            script("count", "=n + 1", "n"),
            xor("more", default="more-enough"),
            throw("t", link("L")),
            task("enough"),
            throw("first", link("L")),
            "start > first",
            "c > count > more > enough",
            flow("more", "t", "=n < 40"),
        ),
        n=0,
    )
    assert engine.jobs == ["enough"]
    assert engine.variables("p") == {"n": 40}
