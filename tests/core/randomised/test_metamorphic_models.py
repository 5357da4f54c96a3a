"""Models that mean the same: the same path through them shows the same, at every quiet point. No oracle's opinion."""

from collections import defaultdict
from functools import partial
from itertools import count
from random import Random

import pytest

from tests.core.engine import Engine, place_of, rebuilt
from tests.core.randomised.blocks import VALUES, VARIABLES, Call, Many, Seq, Sub, Task, inside
from tests.core.randomised.blocks_bpmn import to_bpmn
from tests.core.randomised.equivalent_models import (
    between_gateways,
    in_ad_hoc,
    in_call,
    in_sub,
    renamed,
    retold,
    with_names,
    without,
    wrapped,
)
from tests.core.randomised.paths import Run, observe, perform
from tests.core.randomised.runs import digest, play, recorded


@pytest.fixture(params=[pytest.param(20, id="few"), pytest.param(200, id="many", marks=pytest.mark.long)])
def seeds(seed, request):
    return range(seed, seed + request.param)


class Retold(Engine):
    """An engine whose places are told in another way; actions name them as they are told."""

    def __init__(self, block, tell, action=lambda action: action) -> None:
        super().__init__()
        self.tell, self.action = tell, action
        self.deploy(to_bpmn(block))

    def at(self, root, place):
        """The innermost of those that are told alike: outer ones are wrappers."""
        live = (e for e in self.state.elements.values() if e.tree.key == root and not is_wrapper(e.element))
        return next(element for element in live if self.tell(place_of(element)) == place)


def is_wrapper(id):
    return id.removeprefix("c_").startswith("wrap")


def shown(engine, key, variables=True):
    seen = retold(observe(engine, key), engine.tell)
    if not variables:
        seen.pop("variables", None)
    return seen


def compare(run, other, variables=True, start=None):
    """The same path through a model and another one."""
    plain = Retold(run.block, lambda text: text)
    keys = plain.start(**run.variables), other.start(**(start or run.variables))
    for number, action in enumerate([None, *run.actions]):
        if action is not None:
            perform(plain, keys[0], action)
            perform(other, keys[1], other.action(action))
        one, two = shown(plain, keys[0], variables), shown(other, keys[1], variables)
        assert one == two, (run.block, run.variables, run.actions[:number])


@pytest.mark.long
@pytest.mark.parametrize("wrap", [in_sub, in_ad_hoc, between_gateways])
def test_blocks_within_others_show_the_same(seeds, wrap):
    """In sub-processes, also in ad-hoc ones, and between gateways that do nothing."""
    changed = 0
    for seed in seeds:
        run, random = recorded(seed), Random(seed)
        names = (f"wrap{number}" for number in count())
        block = wrapped(run.block, lambda random=random: random.random() < 0.3, wrap(names))
        changed += block != run.block
        compare(run, Retold(block, without([f"wrap{number}" for number in range(int(next(names)[4:]) + 1)])))
    assert changed > len(seeds) / 2


def test_blocks_in_called_processes_show_the_same(seeds):
    """As long as nobody changes a variable: a called process has its own."""
    changed = 0
    for seed in seeds:
        run, random = recorded(seed, still=True), Random(seed)
        names = (f"wrap{number}" for number in count())
        block = wrapped(run.block, lambda random=random: random.random() < 0.2, in_call(names))
        changed += block != run.block
        tell = without([f"wrap{number}" for number in range(int(next(names)[4:]) + 1)])
        compare(run, Retold(block, tell), variables=False)
    assert changed > len(seeds) / 3


CHANGE = Seq((Task("t1", mapped="v0"), Task("t2")))
STILL = [
    Sub("s1", CHANGE, "v0"),
    Sub("s1", Many(Call("m2", CHANGE), (1, 2), True), "v0"),
    Call("a1", Sub("s1", Sub("s2", CHANGE, "v0"), "v0")),
]


@pytest.mark.parametrize("block", STILL)
@pytest.mark.parametrize("value", range(VALUES))
def test_a_still_run_changes_no_variable_that_decides_anything(block, value):
    """Also where a sub-process has a variable of its own: a task below it gives back the value that it got."""
    run = Run(block, Random(value), still=True)
    run.variables = dict.fromkeys(VARIABLES, value)
    run.begin()
    seen = defaultdict(set)
    while run.oracle.state == "ACTIVATED":
        for place, own in run.oracle.scopes.all.items():
            for name in own.keys() & set(VARIABLES):
                seen[place, name].add(own[name])
        run.tell(run.next_action())
    assert len(seen) > len(VARIABLES)
    assert {len(values) for values in seen.values()} == {1}, seen


def test_names_do_not_matter(seeds):
    for seed in seeds:
        run = recorded(seed)
        old = sorted({name for one in inside(run.block) for name in ids(one)})
        new = [f"n{number}" for number in range(len(old))]
        Random(seed).shuffle(new)
        names, back = dict(zip(old, new, strict=True)), dict(zip(new, old, strict=True))
        there = with_names(names)
        other = Retold(renamed(run.block, names), with_names(back), partial(renamed_action, there, names))
        start = {there(name): value for name, value in run.variables.items()}
        compare(run, other, start=start)


def ids(block):
    """The ids of a block, and of the events that hang on it."""
    yield from [block.id] if hasattr(block, "id") else []
    for name in ("ways", "catches", "bells", "handlers"):
        for part in getattr(block, name, ()):
            if isinstance(part, tuple) and len(part) > 2 and part[1] in EVENTS:
                yield part[0]


EVENTS = {
    "timer",
    "cycle",
    "message",
    "signal",
    "error",
    "error:A",
    "error:B",
    "escalation",
    "escalation:A",
    "escalation:B",
}


def renamed_action(there, names, action):
    """Places stay as they are told; what goes into the model is renamed: variables, and names of messages."""
    if action[0] == "shout":
        return (*action[:2], names[action[2]], *action[3:])
    if action[0] == "fire":
        return (*action[:2], names[action[2]])
    return tuple({there(n): v for n, v in part.items()} if isinstance(part, dict) else part for part in action)


@pytest.mark.long
def test_a_message_may_come_before_who_waits_for_it(seeds):
    """Kept for a while, it shows the same as published later: before the action that makes somebody wait."""
    early = 0
    for seed in range(seeds[0], seeds[0] + 8 * len(seeds)):
        run = recorded(seed)
        for number in range(1, len(run.actions)):
            match run.actions[number]:
                case ("shout", "message", name, key) if key != "nobody":
                    early += published_early(run, number, name, key)
    assert early > len(seeds) / 20


def published_early(run, number, name, key):
    """Publish the message of an action before the one before it, if nobody waits yet; whether that was so."""
    engines = [Retold(run.block, lambda text: text) for _ in range(2)]
    keys = [engine.start(**run.variables) for engine in engines]
    for engine, root in zip(engines, keys, strict=True):
        for action in run.actions[: number - 1]:
            perform(engine, root, action)
    if any(one.name == name and one.correlation_key == key for one in engines[0].state.subscriptions.values()):
        return False
    for action in run.actions[number - 1 : number + 1]:
        perform(engines[0], keys[0], action)
    engines[1].publish(name, key, ttl_ms=60_000)
    perform(engines[1], keys[1], run.actions[number - 1])
    assert shown(engines[1], keys[1]) == shown(engines[0], keys[0]), (
        run.block,
        run.variables,
        run.actions[: number + 1],
    )
    return True


def test_a_state_that_is_rebuilt_after_every_command_goes_on_as_if_nothing_had_been(seeds):
    """Rows and events byte for byte."""
    for seed in seeds[: len(seeds) // 2]:
        run = recorded(seed)
        assert digest(play(run, meanwhile=rebuilt)) == digest(play(run)), f"seed {seed}"
