"""Relations that need no oracle: the same run in another way comes to the same end."""

from collections import Counter
from random import Random

import pytest

from tests.core.engine import Engine
from tests.core.listener_models import Attended
from tests.core.randomised.blocks import Final, Fork, Shout, awaited, inside, waits
from tests.core.randomised.pairs import is_cut
from tests.core.randomised.paths import perform
from tests.core.randomised.runs import by_place, play, recorded
from tests.rounds import drawn
from vivero.core.execution.step import StepLimits
from vivero.core.expressions.evaluation import Expressions
from vivero.core.records.effects import Fail
from vivero.core.records.instances import ResolveIncident

COUNT = 20


@pytest.fixture
def seeds(seed):
    return range(seed, seed + COUNT)


def left_by(run, engine):
    """All rows that there ever were. Of a process that may interrupt what has just begun in it, the end: what has begun
    before that is history, and depends on how the work was cut."""
    if any(isinstance(one, Shout) or _throws_at_once(one) for one in inside(run.block)):
        return [("", "", {"end": end}) for end in engine.ended.values()]
    return by_place(engine, "p")


def _throws_at_once(block):
    """A fork of which one way ends by an event while the others are on their way."""
    ways = block.ways if isinstance(block, Fork) else ()
    return any(not waits(way) and any(isinstance(one, Final) for one in inside(way)) for way in ways)


@pytest.mark.parametrize("limit", [pytest.param(1, marks=pytest.mark.long), 7])
def test_quanta_come_to_the_same_end(seed, limit):
    """Follow-ups included: whatever was deferred has been done."""
    seen = Counter()
    for one in drawn(seed, COUNT, lambda: seen["deferred"] > 10):
        run = recorded(one)
        if is_cut(run.block):
            continue
        whole, in_quanta = play(run), play(run, Engine(StepLimits(quantum_items=limit)))
        assert left_by(run, in_quanta) == left_by(run, whole), f"seed {one}"
        seen["deferred"] += len(in_quanta.memory.log) - len(whole.memory.log)
    assert seen["deferred"] > 10, "nothing was ever deferred"


def test_paged_loops_come_to_the_same_end(seed):
    """A loop behaves the same however its rows are kept; `test_paged_loops.py` loads them, too."""
    seen = Counter()
    for one in drawn(seed, COUNT, lambda: seen["bodies"] > 0):
        run = recorded(one)
        whole, paged = by_place(play(run), "p"), by_place(play(run, Engine(StepLimits(paged_from=0))), "p")
        assert without_pages(paged) == without_pages(whole), f"seed {one}"
        seen["bodies"] += sum((row.get("loop") or {}).get("paged", False) for _, _, row in paged)
    assert seen["bodies"], "there were no loops"


def without_pages(rows):
    plain = []
    for place, table, row in rows:
        loop = row.get("loop") and {name: value for name, value in row["loop"].items() if name != "paged"}
        kept = {name: value for name, value in row.items() if name not in {"part", "pages"}}
        plain.append((place, table, kept | {"loop": loop}))
    return sorted(plain, key=repr)


def test_follow_ups_through_the_log_come_to_the_same_end(seeds):
    for seed in seeds:
        run = recorded(seed)
        if is_cut(run.block):
            continue
        to_inbox = Engine(StepLimits(inline_follow_ups=False))
        assert left_by(run, play(run, to_inbox)) == left_by(run, play(run)), f"seed {seed}"


class Failing:
    """Fails each evaluation once: of an expression at an element."""

    def __init__(self) -> None:
        self.failed = set()
        self.evaluation = Expressions.evaluation

    def evaluate(self, view, expression, element, failure, extra):
        identity = (element.key, expression.text)
        if identity not in self.failed:
            self.failed.add(identity)
            raise Fail(failure, "on purpose")
        return self.evaluation(view, expression, element, failure, extra)


class Raced(Exception):
    """An element that went on has ended another that had failed, and that would have completed otherwise."""


def resolve_all(engine):
    """Resolve what failed on purpose, until nothing does. Raises Raced."""
    while deliberate := [i.key for i in engine.state.incidents.values() if i.message == "on purpose"]:
        for key in deliberate:
            if key not in engine.state.incidents:
                raise Raced
            assert engine.run(ResolveIncident(key)).rejection is None


@pytest.mark.long
@pytest.mark.parametrize("bench_of", [Engine, Attended])
def test_failing_each_evaluation_once_and_resolving_is_like_never_failing(seed, monkeypatch, bench_of):
    """The stages include those of listeners, where every element has some."""
    seen = Counter()
    for one in drawn(seed, COUNT, lambda: seen["failures"] > COUNT and seen["raced"] < seen["played"] / 4):
        seen["played"] += 1
        run = recorded(one, races=False)  # what has failed comes too late to be on its way
        expected = without_deliberate(left_by(run, play(run, bench_of())))
        failing = Failing()
        monkeypatch.setattr(Expressions, "evaluation", lambda *arguments, failing=failing: failing.evaluate(*arguments))
        try:
            troubled = play(run, bench_of(), meanwhile=resolve_all)
        except Raced:
            seen["raced"] += 1
            continue
        finally:
            monkeypatch.undo()
        seen["failures"] += len(failing.failed)
        if not _hears_itself(run.block):
            assert without_deliberate(left_by(run, troubled)) == expected, f"seed {one}"
    assert seen["failures"] > COUNT
    assert seen["raced"] < seen["played"] / 4, "a race is the exception"


def _hears_itself(block):
    """Whether something on one way waits for what another throws: both go on at once then, and if one of them fails,
    the other one may give a variable its value first."""
    thrown = {one.name for one in inside(block) if isinstance(one, Shout)}
    return any(name in thrown for name, _ in awaited(block))


def without_deliberate(rows):
    return [row for row in rows if row[2].get("message") != "on purpose"]


def test_commands_of_unrelated_trees_can_be_swapped(seeds):
    """Two instances, their commands mixed in two ways."""
    for seed in seeds[:20]:
        runs = [recorded(seed, id="p"), recorded(seed + 1, id="q")]
        one, other = mixed(runs, Random(1)), mixed(runs, Random(2))
        for run in runs:
            assert by_place(one, run.id) == by_place(other, run.id), f"seed {seed}"


def mixed(runs, random):
    engine = Engine()
    engine.deploy(*(run.model for run in runs))
    keys = [engine.start(run.id, **run.variables) for run in runs]
    left = [list(run.actions) for run in runs]
    while any(left):
        chosen = random.choice([number for number, actions in enumerate(left) if actions])
        perform(engine, keys[chosen], left[chosen].pop(0))
    return engine
