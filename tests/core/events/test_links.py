"""Links: what is thrown goes on at the catching event of its scope; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench
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
def bench(request):
    return Bench(LIMITS[request.param])


def test_a_link_goes_on_at_its_catching_event(bench):
    key = run(
        bench,
        model(start(), task("a"), throw("t", link("L")), catch("c", link("L")), task("b"), "start > a > t", "c > b"),
    )
    bench.complete("a")
    assert bench.jobs == ["b"]
    assert (states(bench, "t"), states(bench, "c")) == (["COMPLETED"], ["COMPLETED"])
    bench.complete("b")
    assert ended(bench, key) == "COMPLETED"


def test_many_throw_to_one_and_scopes_do_not_mix(bench):
    inner = sub(
        "s", start("i"), throw("it", link("L")), catch("ic", link("L")), task("inside"), "i > it", "ic > inside"
    )
    throws = (throw("t1", link("L")), throw("t2", link("L")))
    run(
        bench,
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
    assert bench.jobs == ["inside", "outside", "outside"]


def test_a_link_may_lead_back(bench):
    """A loop without a sequence flow to itself."""
    run(
        bench,
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
    assert bench.jobs == ["enough"]
    assert bench.variables("p") == {"n": 40}
