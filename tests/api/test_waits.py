"""Places for requests that wait: how many there are, and who loses one when they run out."""

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest

from vivero.api.admission.waits import Waits
from vivero.engine.outcomes.admission import Overloaded


@pytest.fixture
def held():
    with ExitStack() as stack:
        yield stack


@contextmanager
def poll(waits, owner, leave=pytest.fail):
    with waits.for_jobs(owner) as wait:
        wait.leave = leave
        yield


def test_the_address_with_most_polls_loses_the_longest_waiting_one(held):
    waits = Waits(5)
    left: list[Any] = []
    for number in range(4):
        held.enter_context(poll(waits, "hog", partial(left.append, number)))
    held.enter_context(poll(waits, "other", lambda: left.append("other")))
    held.enter_context(poll(waits, "third", lambda: left.append("third")))
    assert left == [0]
    held.enter_context(poll(waits, "other", lambda: left.append("other")))
    assert left == [0, 1]
    assert len(waits) == 5


def test_nobody_loses_a_place_to_somebody_who_would_have_as_many(held):
    waits = Waits(4)
    for owner in ("one", "one", "two", "two"):
        held.enter_context(poll(waits, owner))
    for owner in ("one", "two"):
        with pytest.raises(Overloaded), poll(waits, owner):
            pass


def test_who_has_most_gets_no_more(held):
    waits = Waits(3)
    for owner in ("hog", "hog", "other"):
        held.enter_context(poll(waits, owner))
    with pytest.raises(Overloaded), poll(waits, "hog"):
        pass


def test_a_displaced_wait_gives_its_place_back_once(held):
    waits = Waits(3)
    left: list[Any] = []
    first = ExitStack()
    first.enter_context(poll(waits, "hog", lambda: left.append("hog")))
    for _ in range(2):
        held.enter_context(poll(waits, "hog"))
    held.enter_context(poll(waits, "other"))
    assert (left, len(waits)) == (["hog"], 3)
    first.close()
    assert len(waits) == 3


def test_a_poll_that_cannot_end_yet_keeps_its_place(held):
    waits = Waits(2)
    left: list[Any] = []
    held.enter_context(waits.for_jobs("hog"))
    held.enter_context(poll(waits, "hog", lambda: left.append("second")))
    held.enter_context(poll(waits, "other"))
    assert left == ["second"]


def test_an_instance_is_displaced_only_from_when_on_its_wait_can_end(held):
    waits = Waits(6)
    left: list[Any] = []
    places = [held.enter_context(waits.for_an_instance("hog")) for _ in range(3)]
    with pytest.raises(Overloaded), waits.for_an_instance("other"):
        pass
    places[1].leave = lambda: left.append(1)
    held.enter_context(waits.for_an_instance("other"))
    assert left == [1]


def test_awaited_instances_take_a_place_of_the_address_with_most_polls(held):
    waits = Waits(4)
    left: list[Any] = []
    for number in range(4):
        held.enter_context(poll(waits, "hog", partial(left.append, number)))
    held.enter_context(waits.for_an_instance("other"))
    assert left == [0]
    assert len(waits) == 4
