"""The counts of held commands, compared with those of lists."""

from random import Random

import pytest

from vivero.core.state import holds
from vivero.core.state.holds import Holds

ROOTS = 1, 2, 3
MOST, MOST_CHARACTERS, MOST_IN_ALL, MOST_CHARACTERS_IN_ALL = 6, 40, 12, 90
SIZE = 5
"""Characters of a command of an earlier term. Only their sum is known."""


@pytest.fixture
def _small(monkeypatch):
    limits = {
        "MOST_HELD": MOST,
        "MOST_CHARACTERS_HELD": MOST_CHARACTERS,
        "MOST_HELD_IN_ALL": MOST_IN_ALL,
        "MOST_CHARACTERS_HELD_IN_ALL": MOST_CHARACTERS_IN_ALL,
    }
    for name, value in limits.items():
        monkeypatch.setattr(holds, name, value)


class OfTree:
    """The commands of a tree: the number and characters of those that only the inbox has, and the others in order."""

    def __init__(self) -> None:
        self.before, self.characters_before = 0, 0
        self.kept = []
        self.full = False

    @property
    def commands(self):
        return self.before + len(self.kept)

    @property
    def characters(self):
        return self.characters_before + sum(size for _, size in self.kept)

    def note(self):
        if not self.commands:
            self.full = False
        elif self.commands >= MOST or self.characters >= MOST_CHARACTERS:
            self.full = True


def act(random, kept, trees, number):
    """One step of a term, or of the start of one, on both."""
    root = random.choice(ROOTS)
    tree = trees[root]
    choice = random.randrange(6)
    if choice < 2:
        size = random.randint(1, 2 * SIZE)
        kept.keep(root, number, size)
        tree.kept.append((number, size))
    elif choice == 2 and not tree.commands:
        tree.before = random.randint(1, 4)
        tree.characters_before = tree.before * SIZE
        kept.note_before(root, tree.before, tree.characters_before)
    elif choice == 3 and tree.before:
        most = random.randint(1, 4)
        taken = min(tree.before, most)
        assert kept.take_before(root, most) == taken
        tree.characters_before -= tree.characters_before * taken // tree.before
        tree.before -= taken
    elif choice == 4 and tree.kept and not tree.before:
        first = kept.take(root)
        assert tuple(first) == tree.kept.pop(0)
        tree.note()
        if random.random() < 0.5:  # its handling failed
            kept.put_back(root, first)
            tree.kept.insert(0, tuple(first))
    elif choice == 5 and random.random() < 0.3:
        kept.leave_to_inbox()
        for one in trees.values():
            one.before, one.characters_before, one.kept = one.commands, one.characters, []
    tree.note()


def is_full(trees, root):
    commands, characters = (sum(getattr(one, name) for one in trees.values()) for name in ("commands", "characters"))
    return commands >= MOST_IN_ALL or characters >= MOST_CHARACTERS_IN_ALL or trees[root].full


@pytest.mark.usefixtures("_small")
def test_the_counts_are_those_of_lists(seed):
    """The order of the trees' commands, the bounds, and the end of each bound."""
    random = Random(seed)
    seen = set()
    for _ in range(40):
        kept, trees = Holds[int](), {root: OfTree() for root in ROOTS}
        for number in range(120):
            act(random, kept, trees, number)
            assert {root: one.commands for root, one in kept.waiting.items()} == {
                root: one.commands for root, one in trees.items() if one.commands
            }
            for root in ROOTS:
                assert kept.is_full(root) == is_full(trees, root)
                assert kept.is_behind_others(root) == bool(trees[root].commands)
            seen.add((kept.are_too_many(), bool(kept.waiting)))
    assert seen == {(True, True), (False, True), (False, False)}
