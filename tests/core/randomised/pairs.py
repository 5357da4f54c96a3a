"""Pairs of a random model and a random path through it: the engine must show what an oracle says, at every quiet point.

A seed is a model and some paths; whatever fails is told with its seed, made as small as can be, as a test to copy.
"""

import os
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from random import Random
from time import monotonic

from tests.core.engine import Engine, rebuilt
from tests.core.randomised.blocks import Call, Many, Shout, awaited, inside
from tests.core.randomised.blocks_bpmn import to_bpmn
from tests.core.randomised.paths import LONG, Run, expected, observe, perform, random_block
from tests.core.randomised.shrinking import smaller
from tests.rounds import drawn
from vivero.core.execution.step import DEFAULT_LIMITS, StepLimits
from vivero.core.memory import InvalidDeployment

PATHS = 5
"""Through each model."""
SIZES = (4, 8, 12, 12, 16, 24)
CHUNK = 20
"""Models that a process of the long run does at a time."""


def check_alone(seed):
    """As `check_model`, without ways that begin at once: all that is thrown may happen at once."""
    return check_model(seed, alone=True)


def check_model(seed, alone=False):
    """All paths through the model of a seed, the last one with a rebuilt state halfway; how many points were compared.

    Raises:
        AssertionError: with everything that is needed to see why.
    """
    block, limits = random_block(seed, Random(seed).choice(SIZES), alone=alone), limits_of(seed)
    if is_cut(block):
        limits = DEFAULT_LIMITS
    differs = first_difference(block, seed, limits)
    if isinstance(differs, int):
        return differs
    raise AssertionError(told(seed, block, limits, differs))


def limits_of(seed):
    """Half of all seeds cut the work of commands into quanta."""
    return StepLimits(quantum_items=Random(seed).choice((500, 500, 1, 7)))


def is_cut(block):
    """Whether the end may depend on how the work was cut.

    It may where a signal is for several instances of a loop, where a message is for one of several called instances,
    which open their subscriptions in any order, and where something is thrown that the tree hears: then two of its ways
    go on at once, and may set the same.
    """
    loops = [one for one in inside(block) if isinstance(one, Many) and not one.sequential]
    called = (call for one in loops for call in inside(one) if isinstance(call, Call))
    heard = {element for element, _ in awaited(block)}
    thrown = any(isinstance(one, Shout) and one.name in heard for one in inside(block))
    ambiguous = any(on == "signal" for one in loops for _, on in awaited(one))
    return thrown or ambiguous or any(on == "message" for call in called for _, on in awaited(call))


def first_difference(block, seed, limits=DEFAULT_LIMITS, paths=PATHS, bench_of=Engine):
    """The number of points that were compared, or (variables, actions, what the engine shows, what it should)."""
    engine, points = bench_of(limits, keeps_rows=False), 0
    run = Run(block, Random(0))
    engine.deploy(to_bpmn(block))
    for path in range(paths):
        run.take(block, Random(f"{seed}/{path}"))
        rebuild = Random(f"{seed}/{path}").randrange(LONG // 4) if path == paths - 1 else -1
        try:
            points += one_path(run, engine, rebuild)
        except Differs as differs:
            return run.variables, run.actions, differs.args[0], differs.args[1]
        except Exception as error:  # of the engine or of the oracle: both are looked at
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return run.variables, run.actions, f"{error!r} at {frame.filename}:{frame.lineno}", ""
    return points


class Differs(Exception):
    """(what the engine shows, what it should)."""


def one_path(run, engine, rebuild=-1):
    """One path; the number of points compared. Before the action `rebuild` all is rebuilt from the events."""
    run.begin()
    key = engine.start(**run.variables)
    points = 0
    while True:
        points += 1
        seen, should = observe(engine, key), expected(run.oracle)
        if seen != should:
            raise Differs(seen, should)
        if points - 1 == rebuild:
            rebuilt(engine)
        action = run.next_action()
        if action is None:
            return points
        run.tell(action)
        perform(engine, key, action)


def told(seed, block, limits, differs):
    """The difference in the smallest model that was found, and the path to it.

    The smaller model must differ in nothing else: models that none would draw are ambiguous, or none at all.
    """
    sought = differing(*differs[2:])

    def fails(tree):
        try:
            found = first_difference(tree, seed, limits, 3 * PATHS)
        except (AttributeError, TypeError, InvalidDeployment):  # it is no tree any more, or no model
            return None
        return None if isinstance(found, int) or not differing(*found[2:]) <= sought else found

    block, (variables, actions, seen, should) = smaller(block, differs, fails)
    lines = [f"seed {seed}", *difference(seen, should)]
    lines += ["", "def test_…():", f"    block = {block!r}", f"    check_path(block, {variables}, ["]
    lines += [f"        {action!r}," for action in actions]
    lines += [f"    ], StepLimits(quantum_items={limits.quantum_items}))", "", to_bpmn(block).decode()]
    return "\n".join(lines)


def difference(seen, should):
    if not isinstance(should, dict):
        return [str(seen)]
    return [f"{name}: {seen.get(name)}, should be {should.get(name)}" for name in sorted(differing(seen, should))]


def differing(seen, should):
    """The names of what differs; of an error its text is all there is."""
    if not isinstance(should, dict):
        return {str(seen)}
    return {name for name in {**seen, **should} if seen.get(name) != should.get(name)}


def check_path(block, variables, actions, limits=DEFAULT_LIMITS):
    """One path, given: for the tests that are made of what was found."""
    run, engine = Run(block, Random(0)), Engine(limits)
    run.variables |= variables
    run.begin()
    engine.deploy(to_bpmn(block))
    key = engine.start(**run.variables)
    for action in [None, *actions]:
        if action is not None:
            run.tell(action)
            perform(engine, key, action)
        assert observe(engine, key) == expected(run.oracle), action


# ---- many


def check_many(check, seed, models, least=0):
    """One after the other, and further ones until more than `least` points were compared; the number of points."""
    points = []
    for one in drawn(seed, models, lambda: sum(points) > least):
        points.append(check(one))
    assert sum(points) > least, f"{sum(points)} points: the runs are too short to tell anything"
    return sum(points)


def check_in_parallel(check, seed, models):
    """On all processors, with a line of progress now and then; the number of points compared."""
    chunks = [(seed + first, min(CHUNK, models - first), -1) for first in range(0, models, CHUNK)]
    began, done, points = monotonic(), 0, 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        waiting = [pool.submit(check_many, check, *chunk) for chunk in chunks]
        try:
            for future in as_completed(waiting):
                points, done = points + future.result(), done + 1
                if done % (len(chunks) // 20 + 1) == 0:
                    pairs = min(done * CHUNK, models) * PATHS
                    print(f"{pairs:,} pairs, {pairs / (monotonic() - began):.0f} a second", flush=True)
        finally:
            for future in waiting:
                future.cancel()
    return points
