"""Random modifications of random runs, between any two quanta: nothing is stuck, lost or left behind.

    VIVERO_RANDOM_MODELS=10000 make test-long WORKERS=0 ARGS="-s -k very_many_modified"

plays as many models as wanted from a printed seed.
"""

import os
from collections import Counter
from random import Random

import msgspec
import pytest

from tests.core.engine import Engine, place_of, raw
from tests.core.randomised.random_changes import Changing, accepted
from tests.core.randomised.random_model_checks import Run, Spins, play_many
from tests.core.randomised.random_models import DECISIONS, random_model
from tests.core.randomised.random_modifications import random_modification
from tests.core.randomised.test_random_models import LIMITS, told
from tests.rounds import drawn
from vivero.core.modifications.problems import SUPPORTED
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.modifications import (
    ActivateInstruction,
    InstanceModified,
    ModifyInstance,
    TerminateInstruction,
)

COUNT = 12
MANY = int(os.environ.get("VIVERO_RANDOM_MODELS") or 300)
REPLAYED = 5


@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_is_modified_goes_on_or_says_why_not(seed, limits):
    counts = Counter()
    play_modified(drawn(seed, COUNT, lambda: accepted(counts) > COUNT / 2), limits, 1, counts)
    assert accepted(counts) > COUNT / 2, counts


@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
def test_very_many_modified(seed, limits):
    counts = Counter()
    play_modified(range(seed, seed + MANY), limits, REPLAYED, counts)
    print(f"{limits}: VIVERO_SEED={seed}: {MANY} models, modifications: {counts.most_common()}")


def play_modified(seeds, limits, replayed, counts):
    def between(random):
        return Changing(random, counts, random_modification, InstanceModified).between

    _, faults = play_many(seeds, LIMITS[limits], replayed, between)
    assert not faults, told(faults)


def test_it_is_a_cancellation_and_a_creation_with_start_instructions(seed):
    """Both can say that all ends, and that elements begin in new scopes."""
    compared = 0
    for number in range(seed, seed + 60 * COUNT):
        compared += compare(number)
        if compared > COUNT:
            break
    assert compared > COUNT, compared


def compare(seed):
    """Whether two engines could be compared: one modifies an instance, the other one replaces it."""
    modified, replaced = begun(seed), begun(seed)
    if modified is None or replaced is None:
        return False
    random = Random(seed)
    nodes = modified.memory.processor.view.model(root_of(modified).definition_key).nodes
    shares = not any(node.ad_hoc for node in nodes.values())  # inner instances of ad-hoc ones are not shared
    possible = [id for id, node in nodes.items() if node.type in SUPPORTED]
    ids = tuple(random.sample(possible, random.choice((1, 2)) if shares else 1))
    if len({depth(nodes, id) for id in ids}) > 1:  # a creation begins with the outer one, a modification in their order
        return False
    ending = tuple(TerminateInstruction(child) for child in root_of(modified).children)
    variables = {name: msgspec.Raw(one.value.encode()) for name, one in root_of(modified).variables.items()}
    change = ModifyInstance(modified.key, tuple(map(ActivateInstruction, ids)), ending)
    if not (done(modified, change) and done(replaced, CancelInstance(replaced.key))):
        return False
    if replaced.state.elements:  # a listener has yet to hear of the cancellation
        return False
    if not done(replaced, CreateInstance("p", variables=variables, start_elements=ids)):
        return False
    assert live(modified) == live(replaced), f"VIVERO_SEED={seed}: {ids}"
    return True


def depth(nodes, id):
    """The number of scopes around a node."""
    scope = nodes[id].scope
    return 0 if scope is None else 1 + depth(nodes, scope)


def begun(seed):
    """An engine with an instance that waits, and that nothing but variables has left a trace in."""
    random, engine = Random(seed), Engine(keeps_rows=False)
    engine.memory.deploy(DECISIONS, "decisions.dmn")
    engine.deploy(random_model(random, 6))
    given = {f"v{number}": random.randrange(2) for number in range(3)}
    if not done(engine, CreateInstance("p", variables=raw({"k": "1", "o": None, "items": [1, 2]} | given))):
        return None
    root = root_of(engine)
    if root is None or root.live != len(root.children):
        return None
    engine.key = root.key
    flows = engine.memory.processor.view.model(root.definition_key).flows
    traces = root.tokens.keys() & flows.keys(), root.registered, root.awaiting_reset, root.occurrences
    caught = any(child.type == "EVENT_SUB_PROCESS" for child in root.children.values())
    return None if any(traces) or caught or root.interrupted else engine


def done(engine, command):
    """Whether the command was accepted, and all that follows came to an end."""
    run = Run(engine)
    try:
        run.command(command)
    except Spins:
        return False
    return next(one for one in engine.memory.log if one.command is command).handled[0].rejection is None


def root_of(engine):
    return next((tree.root for tree in engine.state.trees.values()), None)


def live(engine):
    """All that lives, with what it waits for, by places instead of keys."""
    return sorted(map(described, engine.state.elements.values()))


def described(element):
    waits = element.waits
    return (
        place_of(element),
        str(element.state),
        sorted((name, one.value) for name, one in element.variables.items()),
        sorted(element.tokens.items()),
        sorted((job.type, job.retries) for job in waits.jobs.values()),
        sorted((timer.target, timer.due_at, timer.repetitions) for timer in waits.timers.values()),
        sorted((one.target, one.kind, one.name, str(one.correlation_key)) for one in waits.subscriptions.values()),
        sorted((str(one.type), one.message) for one in waits.incidents.values()),
    )
