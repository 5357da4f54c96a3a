"""Partitions are spread evenly with least moves, by every node alike."""

from collections import Counter
from itertools import product
from random import Random

import pytest

from vivero.engine.cluster.balance import assign


def moves(owners, assigned):
    """The number of partitions that change hands; a node has to take those without an owner."""
    return sum(owners[partition] != node for partition, node in assigned.items())


def is_even(assigned, nodes):
    counts = [Counter(assigned.values())[node] for node in nodes]
    return max(counts) - min(counts) <= 1


def random_owners(random, nodes):
    names = [*nodes, "gone", None]
    return {partition: random.choice(names) for partition in range(1, random.randint(1, 40) + 1)}


def test_without_nodes_nothing_is_assigned():
    assert assign({1: "a", 2: None}, ()) == {}


def test_one_node_leads_everything():
    assert assign({1: None, 2: "gone"}, ["a"]) == {1: "a", 2: "a"}


def test_a_new_node_gets_its_share():
    assert assign({1: "a", 2: "a", 3: "a", 4: "a"}, ["a", "b"]) == {1: "a", 2: "a", 3: "b", 4: "b"}


def test_the_share_of_a_dead_node_is_spread():
    assigned = assign({1: "a", 2: "b", 3: "c", 4: "a", 5: "b", 6: "c"}, ["a", "b"])
    assert assigned == {1: "a", 2: "b", 3: "a", 4: "a", 5: "b", 6: "b"}


def test_random_assignments_are_even_total_and_stable(seed):
    random = Random(seed)
    for _ in range(2_000):
        nodes = [f"n{number}" for number in range(random.randint(1, 9))]
        owners = random_owners(random, nodes)
        assigned = assign(owners, random.sample(nodes, len(nodes)))
        assert sorted(assigned) == sorted(owners)
        assert is_even(assigned, nodes)
        assert assign(owners, nodes) == assigned, "the order of the nodes does not matter"
        assert assign(assigned, nodes) == assigned, "a balanced cluster stays as it is"


@pytest.mark.parametrize("nodes", ["a", "ab", "abc"])
def test_no_even_assignment_moves_fewer(nodes):
    """Against all assignments of up to five partitions."""
    for count in range(1, 6):
        others = [dict(enumerate(names, 1)) for names in product(nodes, repeat=count)]
        even = [other for other in others if is_even(other, nodes)]
        for names in product([*nodes, None], repeat=count):
            owners = dict(enumerate(names, 1))
            assert moves(owners, assign(owners, nodes)) == min(moves(owners, other) for other in even)


def test_each_move_by_itself_leads_to_a_balanced_cluster(seed):
    """Nodes decide one after the other, on views that change meanwhile: each makes one move of what it then sees."""
    random = Random(seed)
    for _ in range(300):
        nodes = [f"n{number}" for number in range(random.randint(1, 6))]
        owners = random_owners(random, nodes)
        least = moves(owners, assign(owners, nodes))
        done = 0
        while pending := [one for one, node in assign(owners, nodes).items() if owners[one] != node]:
            partition = random.choice(pending)
            owners[partition] = assign(owners, nodes)[partition]
            done += 1
        assert done == least
        assert is_even(owners, nodes)
