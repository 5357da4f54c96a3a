"""The table of mutants fits the tree; `make mutants` runs it."""

from pathlib import Path

import pytest

from tests.mutants.run import MUTANTS

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits(mutant):
    for edit in mutant.edits:
        assert (ROOT / edit.path).read_text().count(edit.old) == 1, f"{edit.path}: {edit.old!r} must occur once"
        assert edit.old != edit.new
    path, _, test = mutant.test.partition("::")
    assert f"def {test.rpartition('::')[2]}(" in (ROOT / path).read_text()


def test_names_are_unique():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names))
