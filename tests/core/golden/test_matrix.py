"""Every element that can be deployed has golden traces of all its variants; where there is none, the reason is told.

Variants: interrupting and not, in a process, a sub-process, a multi-instance and a called process, with an incident
that is resolved, cancelled, and (activities) as a multi-instance itself. `golden/matrix.txt` names the files.
"""

import pytest

from tests.core.golden.matrix import COLUMNS, GOLDEN, STARTS, cell, needed, shown, table


@pytest.mark.parametrize("row", sorted(needed()))
def test_no_cell_is_empty(row):
    assert [column for column in COLUMNS if not cell(row, column)] == [], row


def test_everything_that_is_shown_can_be_deployed():
    """Otherwise a row has another name than the tables of the parser give it, and would not be looked for."""
    assert set(shown()) | set(STARTS) == needed()


def test_every_golden_trace_is_of_a_variant_or_has_its_own_test():
    files = {path.stem for path in GOLDEN.glob("*.txt")}
    of_variants = {file for found in shown().values() for file, _ in found} | {
        name for one in STARTS.values() for name in one
    }
    own = {
        "matrix",
        "cancelled",
        "deadlock",
        "incidents",
        "one_task",
        "suspended",
        "suspensions",
        "business_ids",
        "cluster_variables",
        "linked_resources",
        "modification",
        "migration",
        "pending_start",
        "order",
        "in_quanta",
        "surplus",
        "waits_user_task_life",
    }
    assert files - of_variants == own
    assert of_variants <= files


def test_the_matrix_is_the_golden_one(golden):
    golden("matrix", table())
