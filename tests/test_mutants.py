"""The table of mutants fits the tree; `make mutants` runs it."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.mutants.run import MUTANTS

ROOT = Path(__file__).resolve().parents[1]


@cache
def text(path):
    return (ROOT / path).read_text()


def misfits(mutant):
    """The reasons why a mutant does not fit the tree."""
    for edit in mutant.edits:
        if text(edit.path).count(edit.old) != 1:
            yield f"{mutant.name}: {edit.path}: {edit.old!r} must occur once"
        if edit.old == edit.new:
            yield f"{mutant.name}: {edit.old!r} is not changed"
    path, _, test = mutant.test.partition("::")
    if f"def {test.rpartition('::')[2]}(" not in text(path):
        yield f"{mutant.name}: {path} has no {test}"


def test_each_mutant_fits():
    assert len(MUTANTS) > 400
    assert [misfit for mutant in MUTANTS for misfit in misfits(mutant)] == []


def test_a_mutant_that_does_not_fit_is_found():
    edit = replace(MUTANTS[0].edits[0], old="this occurs nowhere")
    assert len(list(misfits(replace(MUTANTS[0], edits=(edit,), test=__file__ + "::test_nothing")))) == 2


def test_names_are_unique():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names))
