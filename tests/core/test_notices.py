"""The facts that leave the core after a batch are plain data: after the commit nothing can be loaded any more."""

import inspect
import typing

import pytest

from vivero.core.execution.outcomes import Handled, Notices
from vivero.core.state.state import State
from vivero.storage.log.command_log import CommandOutcome

STATE = State.__module__.rpartition(".")[0]


def classes(hint):
    """The classes that a type names, and those of their fields."""
    found, to_see = set(), [hint]
    while to_see:
        one = to_see.pop()
        to_see += typing.get_args(one)
        if inspect.isclass(one) and one not in found:
            found.add(one)
            to_see += typing.get_type_hints(one).values() if one.__module__.startswith("vivero.") else ()
    return found


@pytest.mark.parametrize("notice", [Notices, Handled, CommandOutcome])
def test_no_row_of_the_state_leaves_the_core(notice):
    found = classes(notice)
    assert len(found) > 2
    assert [one for one in found if one.__module__.startswith(STATE)] == []
