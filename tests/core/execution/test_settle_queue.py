"""The settle queue: the innermost scope comes first, in whatever order scopes are added, taken out and ended."""

from random import Random
from types import SimpleNamespace

from vivero.core.execution.settle_queue import SettleQueue


def scope(key, processes, scopes):
    """`processes`: how many call each other down to it; `scopes`: how many are around it in its own."""
    return SimpleNamespace(key=key, instance=SimpleNamespace(depth=processes), path=range(scopes + 1))


def depth(element):
    return element.instance.depth, len(element.path)


def taken(queue, elements):
    found = []
    while queue.new or queue.waiting:
        element = queue.pop(elements)
        if element is not None:
            found.append(element.key)
    return found


def test_a_called_process_is_deeper_than_all_scopes_of_its_caller():
    elements = {1: scope(1, 1, 0), 2: scope(2, 1, 9), 3: scope(3, 2, 0), 4: scope(4, 2, 1)}
    queue = SettleQueue()
    for key in (2, 1, 4, 3):
        queue.new[key] = None
    assert list(queue) == [2, 1, 4, 3]
    assert taken(queue, elements) == [4, 3, 2, 1]
    assert list(queue) == []


def test_what_has_ended_is_left_out():
    queue = SettleQueue()
    queue.new[7] = None
    assert queue.pop({}) is None
    queue.new[7] = None
    queue.new[8] = None
    assert taken(queue, {8: scope(8, 1, 0)}) == [8]


def test_it_is_emptied():
    elements = {key: scope(key, 1, key) for key in range(3)}
    queue = SettleQueue()
    for key in elements:
        queue.new[key] = None
    queue.pop(elements)
    queue.new[2] = None
    queue.clear()
    assert (list(queue), queue.new, queue.waiting) == ([], {}, [])
    queue.new[0] = None
    assert taken(queue, elements) == [0]


def test_it_does_what_looking_through_all_of_them_does(seed):
    random = Random(seed)
    elements = {key: scope(key, random.randint(1, 3), random.randint(0, 3)) for key in range(40)}
    queue, known = SettleQueue(), {}
    for _ in range(3_000):
        if random.random() < 0.6:
            key = random.randrange(40)
            queue.new[key] = None
            known.setdefault(key)
        elif known:
            live = [elements[key] for key in known if key in elements]
            expected = max(live, key=depth).key
            del known[expected]
            assert queue.pop(elements).key == expected
        assert list(queue) == list(known)
