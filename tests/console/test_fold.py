"""The history of an instance, folded by the console, is the engine's own state at that moment, for random logs."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.console.conftest import CONSOLE, lacking
from tests.core.bench import Bench
from tests.core.randomised import runs
from tests.core.randomised.random_model_checks import play
from vivero.api.routes.commands import fields_of
from vivero.engine.core.records.codec import decode_events, encode_events
from vivero.engine.core.state.instance_tree import Instance
from vivero.engine.core.step import StepLimits

RUN = Path(__file__).parent / "fold" / "run.mjs"
LIMITS = (StepLimits(), StepLimits(quantum_items=3))
COUNT, MANY, CHUNK = 40, 1000, 100


@pytest.fixture(scope="module")
def node():
    """The program that runs the console's code."""
    if not (CONSOLE / "node_modules" / "rolldown").is_dir():
        lacking("the packages of the console are not installed: make console")
    found = shutil.which("node")
    if found is None:
        lacking("there is no Node.js")
    return found


def items_of(bench):
    """Rows of the log as `GET /v2/process-instances/{key}/events` answers them."""
    return [
        {
            "commandPosition": str(logged.position),
            "at": "",
            "intent": None,
            "events": [{"type": type(event).__name__, **fields_of(event)} for event in events_of(logged)],
        }
        for logged in bench.engine.log
    ]


def events_of(logged):
    return [event for one in logged.handled for event in decode_events(encode_events(one.events))]


def states_of(bench):
    """The state of each instance: tokens and incidents by element, variables of live scopes, open incidents."""
    return {
        str(element.key): state_of(element)
        for element in bench.state.elements.values()
        if isinstance(element, Instance)
    }


def state_of(instance):
    here, todo = [], [instance]
    while todo:
        element = todo.pop()
        here.append(element)
        todo += [child for child in element.children.values() if child.instance is instance]
    counts = {"active": Counter(), "incidents": Counter()}
    for element in here:
        if element is not instance and not is_body(element):
            counts["incidents" if element.incidents else "active"][element.element] += 1
    return {
        "marks": {
            id: [counts[each][id] for each in counts] for id in counts["active"].keys() | counts["incidents"].keys()
        },
        "variables": {f"{e.key}/{variable.name}": variable.value for e in here for variable in e.variables.values()},
        "incidents": sorted(str(key) for element in here for key in element.waits.incidents),
    }


def is_body(element):
    return element.type == "MULTI_INSTANCE_BODY"


def run(seed):
    """A random run, of blocks or of anything that meets: its log, and (length of the log, key of an instance, state)
    for each instance after each command."""
    random, moments = Random(seed), []

    def note(bench):
        moments.extend((len(bench.engine.log), key, state) for key, state in states_of(bench).items())

    size, limits = random.choice((4, 6, 9)), LIMITS[seed // 2 % len(LIMITS)]
    if seed % 2:
        return items_of(runs.play(runs.recorded(seed), Bench(limits, keeps_rows=False), meanwhile=note)), moments
    bench, spins = play(random, size, limits, keeps_rows=False, meanwhile=note)
    return ([], []) if spins else (items_of(bench), moments)


def check(node, seeds):
    """All states of these runs, which the console has too. Raises AssertionError with the seed."""
    played = [run(seed) for seed in seeds]
    asked = [{"items": items, "moments": [{"length": n, "instance": key} for n, key, _ in at]} for items, at in played]
    command = [node, RUN, CONSOLE]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    for seed, (_, moments), folded in zip(seeds, played, json.loads(done.stdout), strict=True):
        for (length, key, state), found in zip(moments, folded, strict=True):
            assert found == state, f"VIVERO_SEED={seed}: instance {key} after {length} commands"
    return [state for _, moments in played for *_, state in moments]


def test_the_fold_of_random_logs_is_the_state_of_the_engine(node, seed):
    states = check(node, range(seed, seed + COUNT))
    assert len(states) > COUNT
    assert any(state["incidents"] for state in states)


@pytest.mark.long
def test_the_fold_of_very_many_logs(node, seed):
    chunks = (range(first, first + CHUNK) for first in range(seed, seed + MANY, CHUNK))
    compared = sum(len(check(node, seeds)) for seeds in chunks)
    print(f"VIVERO_SEED={seed}: {compared} states of {MANY} logs")
    assert compared > MANY
