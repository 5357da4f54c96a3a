"""The engine against the token game on a Petri net: random graphs without structure, compared at every quiet point.

    VIVERO_PETRI_NET_COUNT=1000000 VIVERO_SEED=1 make test-long ARGS="-s tests/core/randomised/test_petri_net.py"

runs as many pairs of a graph and a path as wanted, on all processors.
"""

import os
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from tests.core.randomised.graph_pairs import check_actions, check_graph
from tests.core.randomised.graphs import Flow, Graph, random_graph
from tests.core.randomised.pairs import PATHS, check_in_parallel, check_many
from tests.core.randomised.petri_net import GraphRun, Marking
from tests.rounds import few_and_many

PAIRS = 10_000


@few_and_many(25, 400)
def test_the_engine_plays_the_token_game(seed, count):
    points = check_many(check_graph, seed, count, least=5 * count * PATHS)
    print(f"{points} quiet points in {count * PATHS} pairs")


@pytest.mark.long
def test_the_engine_plays_the_token_game_many_times(seed):
    pairs = int(os.environ.get("VIVERO_PETRI_NET_COUNT") or PAIRS)
    points = check_in_parallel(check_graph, seed, pairs // PATHS)
    print(f"{points} quiet points in {pairs} pairs")
    assert points > 5 * pairs


def test_the_graphs_have_what_blocks_cannot_have():
    """Deadlocks, several tokens in one place, joins that wait for what never comes."""
    seen = Counter()
    for seed in range(400):
        run = GraphRun(random_graph(Random(seed), 10), seed)
        run.begin()
        while (action := run.next_action()) is not None:
            tokens = run.oracle.tokens
            seen["deadlock"] += run.oracle.deadlocked
            seen["surplus"] += any(count > 1 and place in run.graph.flows for place, count in tokens.items())
            seen["waits at an inclusive join"] += any(
                place in run.graph.flows and run.graph.kinds[run.graph.flows[place].target] == "inclusive"
                for place in tokens
            )
            seen["without a way out"] += bool(run.oracle.stuck)
            seen["waits for reset"] += bool(run.oracle.consumed)
            seen["a variable starts a gateway"] += action[0] == "set"
            run.tell(action)
        seen[run.oracle.state] += 1
    assert min(seen.values()) > 20, seen
    assert len(seen) == 8


def graph(*chains, **kinds):
    """`a > b > c` chains of flows; kinds by node, `start` and `end` are there."""
    made = Graph({"start": "start", **kinds, "end": "end"})
    for chain in chains:
        names = [name.strip() for name in chain.split(">")]
        for source, target in pairwise(names):
            made.flows[f"{source}-{target}"] = Flow(f"{source}-{target}", source, target)
    return made


def test_an_inclusive_join_waits_for_what_can_still_come_and_for_nothing_else():
    """The text of the specification, by hand: a token that can reach an empty flow holds it up; one that can also
    reach a filled one does not."""
    kinds = {"f": "parallel", "a": "task", "b": "task", "c": "task", "x": "exclusive", "j": "inclusive"}
    one = Marking(graph("start > f > a > j > end", "f > b > j", **kinds), {})
    one.complete("a")
    assert one.tokens == {"a-j": 1, "b": 1}
    one.complete("b")
    assert one.state == "COMPLETED"
    both = Marking(graph("start > f > a > j > end", "f > x > j", "x > a", "f > b > x", **kinds), {})
    both.complete("a")
    assert "b" in both.tokens
    assert not any(place.endswith("-j") for place in both.tokens), "b can come to both flows of the join"


def test_a_token_may_come_to_a_join_by_the_boundary_event_of_the_task_that_holds_it():
    kinds = {"f": "parallel", "a": "task", "c": "task", "b": "catch", "j": "inclusive", "t": "task"}
    made = graph("start > f > a > end", "b > j", "f > c > j > t > end", **kinds)
    made.hosts["b"] = "a"
    waits = [("complete", "c", {}), ("fire", "a", "b"), ("complete", "t", {})]
    goes_on = [("complete", "c", {}), ("complete", "a", {}), ("complete", "t", {})]
    assert check_actions(made, {}, waits) == check_actions(made, {}, goes_on) == 4


def test_a_parallel_join_keeps_what_is_too_much():
    one = Marking(
        graph("start > a > j > end", "start > b > j", "c > a", "start > c", a="task", b="task", c="task", j="parallel"),
        {},
    )
    one.complete("a")
    one.complete("c")
    one.complete("a")
    assert one.tokens == {"a-j": 2, "b": 1}
    one.complete("b")
    assert one.tokens == {"a-j": 1}
    assert one.deadlocked
