"""The console's fold of events gives the engine's own state: tokens, variables, incidents and counts, at random times.

    VIVERO_FOLDS=10000 make test-long ARGS="-s -k test_fold"

folds as many logs as wanted. The seeds of faults are in the message; `VIVERO_SEED=…` runs them again.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from copy import deepcopy
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.console.conftest import CONSOLE, lacking
from tests.core.engine import Engine
from tests.core.randomised import random_model_checks, runs
from tests.core.randomised.pairs import is_cut
from tests.core.randomised.test_migrations import there_first
from tests.core.undos import test_random_undos
from vivero.api.computing.histories import items_of
from vivero.core.execution.step import StepLimits
from vivero.core.records.codec import encode_events
from vivero.core.records.migrations import MigrateInstance
from vivero.storage.log.command_log import HistoryRow

SCRIPT = Path(__file__).with_name("fold.mjs")
MANY = int(os.environ.get("VIVERO_FOLDS") or 1_000)
LOOKS = 4
"""One in so many commands of a run is looked at, and the last one."""


class Looks:
    """The engine's state at random moments of a run, by instance."""

    def __init__(self, random) -> None:
        self._random = random
        self._found = defaultdict(list)
        """Root → checks; `position` tells the number of items then."""

    def look(self, engine, *, always=False):
        if not always and self._random.randrange(LOOKS):
            return
        position = engine.memory.log[-1].position
        for (table, key), row in list(engine.rows.items()):
            if table == "Instance":
                check = {"position": position, "instance": str(key), "state": state_of(engine, key)}
                self._found[row["tree"]].append(check)

    def logs(self, engine):
        """For each instance tree: its events as the API gives them, and the checks."""
        for root, checks in self._found.items():
            items = items_of(history(engine, root))
            for check in checks:
                position = check.pop("position")
                check["items"] = sum(int(item["commandPosition"]) <= position for item in items)
            yield {"items": items, "checks": checks}


def history(engine, root):
    """The rows of the event log of an instance tree."""
    return [
        HistoryRow(logged.position, seq, logged.now, encode_events(one.events), logged.command.intent, None, 1)
        for logged in engine.memory.log
        for seq, one in enumerate(logged.handled)
        if one.root == root
    ]


def state_of(engine, instance):
    """The engine's state of an instance: live rows, and the numbers of its elements by state."""
    live = [each for each in engine.state.elements.values() if each.instance.key == instance]
    ended = [row for (table, _), row in engine.rows.items() if table == "Element" and row["instance"] == instance]
    counts, flows = defaultdict(Counter), set()
    for row in ended:
        flows.update(row["flows"])
        if row["type"] != "MULTI_INSTANCE_BODY":
            counts[row["element"]][counted_as(row)] += 1
    names = ("active", "incidents", "completed", "canceled")
    incidents = [each for each in engine.state.incidents.values() if each.element.instance.key == instance]
    return {
        "elements": [[str(each.key), each.element, each.type, each.incidents] for each in live],
        "variables": [[str(each.key), v.name, v.value] for each in live for v in each.variables.values()],
        "incidents": [[str(one.key), str(one.element.key), str(one.type), one.message] for one in incidents],
        "marks": [[element, *(found[name] for name in names)] for element, found in counts.items()],
        "flows": sorted(flows),
    }


def counted_as(row):
    """As the statistics of the API count."""
    if row["ended_at"] is None:
        return "incidents" if row["incidents"] else "active"
    return "completed" if row["state"] == "COMPLETED" else "canceled"


def unstructured(seed):
    """A run of a model in which everything meets; it is cancelled in the end."""
    random = Random(seed)
    looks = Looks(Random(f"{seed}/looks"))
    size, limits = random.choice((4, 6, 9)), random.choice((StepLimits(), StepLimits(paged_from=0)))
    engine, _ = random_model_checks.play(random, size, limits, meanwhile=looks.look)
    looks.look(engine, always=True)
    return looks.logs(engine)


def structured(seed):
    """A run that an oracle chose: it goes on to the end."""
    looks = Looks(Random(f"{seed}/looks"))
    engine = runs.play(runs.recorded(seed), Engine(), looks.look)
    looks.look(engine, always=True)
    return looks.logs(engine)


def migrated(seed):
    """A run whose instances are migrated to a model with other ids, and back again, after each command."""
    run = runs.recorded(seed)
    if is_cut(run.block):
        return
    looks = Looks(Random(f"{seed}/looks"))
    engine, migrating = there_first(run, StepLimits())
    run_command = engine.run

    def run_and_look(command):
        handled = run_command(command)
        if isinstance(command, MigrateInstance):
            looks.look(engine)
        return handled

    engine.run = run_and_look
    runs.play(run, engine, migrating)
    looks.look(engine, always=True)
    yield from looks.logs(engine)


def undone(seed):
    """A run with modifications that are taken back."""
    looks = Looks(Random(f"{seed}/looks"))
    engine = test_random_undos.play(seed, StepLimits(), True, Counter(), looks.look)
    looks.look(engine, always=True)
    return looks.logs(engine)


def logs_of(seeds):
    """(seed, kind) and a log, for four runs of each seed."""
    for seed in seeds:
        for kind in (unstructured, structured, migrated, undone):
            for log in kind(seed):
                yield (seed, kind.__name__), log


def folded(logs):
    """The result of the console's fold for each log: the number of checks, and the differences."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None or not (CONSOLE / "node_modules" / "rolldown").is_dir():
        lacking("there is no Node, or the console's packages are not installed: make console")
    lines = "".join(msgspec.json.encode(log).decode() + "\n" for log in logs)
    done = subprocess.run([node, SCRIPT, CONSOLE], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(seeds):
    names, logs = zip(*logs_of(seeds), strict=True)
    answers = folded(logs)
    assert len(answers) == len(logs)
    assert sum(answer["checked"] for answer in answers) > len(seeds)
    faults = {
        name: answer["differences"][:2] for name, answer in zip(names, answers, strict=True) if answer["differences"]
    }
    assert not faults, "\n".join(f"VIVERO_SEED={name}: {found}" for name, found in list(faults.items())[:5])


@pytest.mark.parametrize("count", [pytest.param(3, id="few"), pytest.param(20, marks=pytest.mark.long)])
def test_the_fold_of_events_is_the_engines_state(seed, count):
    check(range(seed, seed + count))


@pytest.mark.long
def test_the_fold_of_events_is_the_engines_state_in_very_many(seed):
    for first in range(seed, seed + MANY // 2, 250):
        check(range(first, min(first + 250, seed + MANY // 2)))


def test_another_state_is_seen(seed):
    """In each part of the state, a row more."""
    _, log = next(logs_of([seed]))
    parts = ("elements", "variables", "incidents", "marks", "flows")
    logs = [deepcopy(log) for _ in parts]
    for what, wrong in zip(parts, logs, strict=True):
        wrong["checks"][-1]["state"][what].append(["1", "other"])
    assert [[each["what"] for each in answer["differences"]] for answer in folded(logs)] == [[part] for part in parts]
