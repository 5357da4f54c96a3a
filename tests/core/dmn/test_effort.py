"""Hostile files take a bounded effort, the same wherever they are compiled, and are refused beyond it."""

from bisect import bisect_left

import pytest

from tests.core.dmn.models import decision, definitions, literal, problems, table, value
from vivero.core.dmn import check_decisions, read_decisions
from vivero.core.dmn.compiling import effort

NOISE = " + ".join(f"a{number} * 2" for number in range(50))
ENTRIES = "".join(
    f'<contextEntry><variable name="entry. {number}"/>{literal(str(number))}</contextEntry>' for number in range(100)
)
COSTLY = {
    "texts": (decision("d", literal(NOISE)), len(NOISE) + effort.TEXT_STEPS),
    "cells": (decision("d", table(["x"], ["out"], [[f"? * {n} > 7", "1"] for n in range(100)])), 100 * (20 + 9)),
    "names": (decision("d", f"<context>{ENTRIES}</context>"), sum(range(100)) * 25 // 16),
    "values": (
        decision("d", table(["x"], ["out|count(for i in 1..900 return i)"], [["1", "1"]], "PRIORITY")),
        900 + effort.TEXT_STEPS,
    ),
    "allowed values": (
        f'<itemDefinition name="t"><typeRef>number</typeRef><allowedValues><text>{NOISE}</text></allowedValues>'
        "</itemDefinition>" + decision("d", literal("1"), type="t"),
        len(NOISE) + effort.TEXT_STEPS,
    ),
}
"""Content of a file, and the steps that it takes at least."""


def passes(content, most):
    """Whether the files can be read with so much effort; a check and a reading must agree."""
    checked = check_decisions({"f": content}, effort=most)
    assert (read_decisions({"f": content}, effort=most).decisions is None) == bool(checked.problems)
    return not checked.problems


@pytest.mark.parametrize("name", COSTLY)
def test_what_costs_is_counted(name):
    content, least = COSTLY[name]
    assert not passes(definitions(content), least - 1)
    assert passes(definitions(content), 4 * least)


@pytest.mark.parametrize("name", COSTLY)
def test_a_check_and_a_reading_take_the_same_effort(name):
    files = {"f": definitions(COSTLY[name][0])}
    most = range(4 * COSTLY[name][1])
    checked = bisect_left(most, True, key=lambda effort: not check_decisions(files, effort=effort).problems)
    assert bisect_left(most, True, key=lambda effort: not read_decisions(files, effort=effort).problems) == checked


def test_the_problem_names_the_file_and_the_limit():
    (problem,) = check_decisions({"f": definitions(COSTLY["texts"][0])}, effort=100).problems
    assert str(problem) == "'f': its decisions take more than 100 steps to compile"


def test_the_effort_is_that_of_all_files_together():
    files = {name: definitions(decision(name, literal(NOISE)), own=name) for name in "ab"}
    both = 2 * (len(NOISE) + effort.TEXT_STEPS) + 10
    assert not check_decisions(files, effort=both).problems
    assert [one.resource for one in check_decisions(files, effort=both - 100).problems] == ["b"]


def test_constants_are_free():
    rows = [[f'"{number}"', str(number)] for number in range(2_000)]
    content = decision("d", table(["x"], ["out"], rows))
    assert passes(definitions(content), 100)


def alias(number, is_list=""):
    reference = f"<typeRef>t{number + 1}</typeRef>"
    return f'<itemDefinition name="t{number}" {is_list}>{reference}</itemDefinition>'


def chain(length, is_list=""):
    """Types of which each stands for the next one, and the last one for numbers."""
    aliases = "".join(alias(number, is_list) for number in range(length))
    last = f'<itemDefinition name="t{length}"><typeRef>number</typeRef></itemDefinition>'
    return aliases + last + decision("d", literal('"x"'), type="t0")


def test_types_may_be_other_names_of_types_up_to_a_limit():
    assert value(chain(63), "d") is None, "it is no number"
    found = problems(chain(64))
    assert found[0] == (None, "the type 't0' stands for more than 64 others, one after the other")


def test_types_may_refer_to_any_number_of_others():
    assert value(chain(3_000, 'isCollection="true"'), "d") is None


@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_values_of_an_output_that_take_long_are_a_problem(mode):
    endless = "for i in 1..90000 return i"
    content = "\n" + decision("d", table(["x"], [f"out|{endless}"], [["1", "1"]], "PRIORITY"))
    (found,) = problems(content, mode)
    assert found == (3, f"'[{endless}]' cannot be evaluated in 10000 steps: it exceeds steps")
