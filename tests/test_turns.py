"""Each long test gets its turn, though no run has time for all of them."""

from pathlib import Path

from tests.turns import ROOT, changed_lately, in_turn

FILES = [Path(name) for name in "abcdef"]


def test_each_file_comes_first_for_some_seed_and_none_is_lost():
    orders = [in_turn(FILES, (), seed) for seed in range(len(FILES))]
    assert [order[0] for order in orders] == FILES
    assert all(sorted(order) == FILES for order in orders)


def test_changed_files_come_before_the_turn_of_the_others():
    assert in_turn(FILES, {FILES[3], FILES[1], Path("elsewhere")}, 2) == [FILES[place] for place in (1, 3, 4, 5, 0, 2)]
    assert in_turn(FILES, FILES, 4) == [FILES[place] for place in (4, 5, 0, 1, 2, 3)]
    assert in_turn([], FILES, 4) == []


def test_without_a_clone_nothing_is_known_to_have_changed(tmp_path):
    assert changed_lately(tmp_path) == set()
    assert all(path.is_relative_to(ROOT) for path in changed_lately())
