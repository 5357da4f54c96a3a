"""Joins that wait for ever after a change, and those that do not."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import catch, link, throw
from tests.core.models import end, par, process, start, sub, task, xor
from tests.core.modification_models import FORKED, command
from vivero.core.dry_runs.starving_joins import starving_joins

AROUND = process(
    start(),
    par("f"),
    task("a"),
    xor("again"),
    task("b"),
    par("j"),
    end(),
    "start > f > again > a > j > end",
    "f > b > j",
)
INSIDE = process(
    start(),
    sub("s", start("i"), par("f"), task("a"), task("b"), par("j"), "i > f > a > j", "f > b > j"),
    end(),
    "start > s > end",
)
LINKED = process(
    start(),
    par("f"),
    task("a"),
    throw("to-j", link("J")),
    catch("from-a", link("J")),
    task("b"),
    task("c"),
    throw("to-end", link("E")),
    catch("from-c", link("E")),
    par("j"),
    end(),
    "start > f > a > to-j",
    "from-a > j > end",
    "f > b > j",
    "f > c > to-end",
    "from-c > end",
)


def starving(engine, key):
    tree = engine.state.trees.get(key)
    root = None if tree is None else tree.root
    return [(one.scope, one.join, one.missing) for one in starving_joins(root, engine.memory.processor.view)]


@pytest.mark.parametrize(
    ("model", "instructions", "expected"),
    [
        (FORKED, (), []),
        (FORKED, ("-a",), [("p", "j", ("a-j",))]),
        (FORKED, ("a", "-a"), []),
        (FORKED, ("c", "-a", "-b"), []),
        (FORKED, ("f", "-a", "-b"), []),
        (AROUND, ("again", "-a"), []),
        (AROUND, ("-b",), [("p", "j", ("b-j",))]),
        (INSIDE, ("-b",), [("s", "j", ("b-j",))]),
        (LINKED, ("-b",), [("p", "j", ("b-j",))]),
        (LINKED, ("-a",), [("p", "j", ("from-a-j",))]),
        (LINKED, ("to-j", "-a"), []),
    ],
)
def test_a_join_starves_when_a_token_can_come_and_others_cannot(model, instructions, expected):
    engine = Engine()
    engine.deploy(model)
    key = engine.start()
    if instructions:
        assert engine.run(command(key, *instructions)).rejection is None
    assert starving(engine, key) == expected


def test_a_branch_that_begins_together_with_its_join():
    """The join passes at once, and the token of the branch waits there for ever."""
    engine = Engine()
    engine.deploy(FORKED)
    key = engine.start()
    assert engine.run(command(key, "a", "j", "-a", "-b")).rejection is None
    assert starving(engine, key) == [("p", "j", ("b-j",))]
    engine.complete("a")
    engine.complete("c")
    assert [message for _, _, message in engine.incidents] == ["Deadlock: tokens wait at [j]"]


def test_an_ended_tree_has_none():
    assert starving_joins(None, Engine().memory.processor.view) == set()
