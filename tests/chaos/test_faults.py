"""Each fault of the table bites once, in a cluster under load, and nothing is lost or done twice."""

from random import Random

import pytest

from tests.chaos.faults import BY_NAME, FAULTS, OF_CHILDREN
from tests.chaos.figures import Figure, table
from tests.chaos.runs import check_bites, run

TOGETHER = {
    "nodes and PostgreSQL": [fault for fault in FAULTS if fault.nodes > 1 and not fault.proxied],
    "the network": [fault for fault in FAULTS if fault.proxied],
    "a program alone": [
        BY_NAME["kill -9 of a program alone"],
        *(fault for kind, child in (("raise", 2), ("cancel", 1), ("hang", 7)) for fault in [OF_CHILDREN[kind][child]]),
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("together", TOGETHER)
async def test_each_fault_bites_and_costs_nothing(together, seed, reachable_directory, tmp_path):
    faults = TOGETHER[together]
    nodes = max(fault.nodes for fault in faults)
    result = await run(faults, 1, Random(seed), reachable_directory(), tmp_path, nodes=nodes)
    print(table(result.figures), f"{result.instances} instances; {result.ledger}", sep="\n")


def test_a_run_whose_faults_did_not_bite_is_void():
    figure = Figure("a fault", 1.0)
    figure.note(0, 0.5)
    figure.note(0, 0.5)
    with pytest.raises(AssertionError, match="void: 'a fault' was injected 2 times and never bit"):
        check_bites([figure])
    figure.note(3, 0.5)
    check_bites([figure])
    assert (figure.injected, figure.bit, figure.hits, figure.seconds) == (3, 1, 3, [0.5])


def test_a_figure_is_met_by_its_99th_percentile():
    figure = Figure("a fault", 1.0)
    for number in range(200):
        figure.note(1, 0.5 if number > 1 else 9.0)
    assert figure.cells()[-4:] == ("0.50", "9.00", "1", "yes")
    figure.note(1, 9.0)
    assert figure.cells()[-1] == "no"
