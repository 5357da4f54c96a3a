"""Completed activities in memory: when they are forgotten."""

from types import SimpleNamespace

import pytest

from vivero.core.state import registrations
from vivero.core.state.instance_tree import Variable
from vivero.core.state.registrations import CLOSED, Registration, Registrations


def row(key, scope=1, is_scope=False):
    return Registration(key, SimpleNamespace(tree=None), scope, key + 1000, "a", is_scope, "ca", {})


@pytest.fixture
def held():
    found = Registrations()
    for key in (11, 12, 13):
        found.add_loaded(row(key))
    return found


def test_an_ended_row_is_there_until_the_commit_of_its_end_is_known(held):
    """The commit of an earlier change becomes known while the batch that ends the row is half computed."""
    ending = held.by_key[13]
    held.retain(ending)
    ending.state = CLOSED
    held.committed(ending)
    assert 13 in held.by_key, "the database has it, and a load would bring it back"
    held.retain(ending)
    held.committed(ending)
    assert list(held.by_key) == [11, 12]


def test_a_row_that_is_ended_by_the_second_of_two_batches_waits_for_both(held):
    ending = held.by_key[13]
    held.retain(ending)
    ending.state = CLOSED
    held.retain(ending)
    held.committed(ending)
    assert 13 in held.by_key
    held.committed(ending)
    assert 13 not in held.by_key


def test_few_rows_stay_and_many_are_forgotten_but_for_the_latest(held, monkeypatch):
    held.forget_saved()
    assert list(held.by_key) == [11, 12, 13]
    monkeypatch.setattr(registrations, "RETAINED_ROWS", 2)
    held.retain(held.by_key[12])
    held.forget_saved()
    assert list(held.by_key) == [12, 13], "those behind a commit under way are the latest ones"
    held.committed(held.by_key[12])
    held.forget_saved()
    assert list(held.by_key) == [12, 13], "two are few"


def test_rows_with_large_variables_are_forgotten(held, monkeypatch):
    scope = row(14, is_scope=True)
    held.add_loaded(scope)
    scope.variables["x"] = Variable(1, scope.instance, "x", '"' + "x" * 50 + '"')
    held.forget_saved()
    assert len(held.by_key) == 4
    monkeypatch.setattr(registrations, "RETAINED_CHARACTERS", 50)
    held.forget_saved()
    assert (held.by_key, held.of_scope, held.of_activity) == ({}, {}, {})
