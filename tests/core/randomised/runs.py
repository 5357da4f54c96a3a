"""Random runs without the oracle, repeated on engines of other kinds: their actions and their results.

As a program it prints a digest of everything that the run of a seed left, for comparison under other hash seeds:

    PYTHONHASHSEED=1 python -m tests.core.randomised.runs 4711
"""

import sys
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from itertools import count
from random import Random

import msgspec

from tests.core.engine import Engine
from tests.core.randomised.blocks_bpmn import to_bpmn
from tests.core.randomised.paths import Run, perform, random_block
from vivero.core.execution.step import DEFAULT_LIMITS

NOT_OBSERVED = {
    "created_position",
    "revision",
    "request",
    "started_at",
    "ended_at",
    "created_at",
    "updated_at",
    "resolved_at",
}
"""Depend on how the work was cut into commands and batches, or on when it was done."""


def recorded(seed, size=12, id="p", channels=True, still=False, races=True):
    """A run with all its actions, chosen with the oracle's help; `channels` and `races` as of a `ModelBuilder`."""
    block = random_block(seed, size, id, channels, races)
    run = Run(block, Random(f"{seed}/0"), id, still)
    run.model = to_bpmn(block, id)
    run.begin()
    while (action := run.next_action()) is not None:
        run.tell(action)
    return run


def play(run, engine=None, meanwhile=lambda engine: None):
    """The run on an engine; `meanwhile` is called after each command. Time goes on."""
    engine = engine or Engine()
    engine.deploy(run.model)
    key = engine.start(run.id, **run.variables)
    meanwhile(engine)
    for action in run.actions:
        engine.memory.now += 10
        perform(engine, key, action)
        meanwhile(engine)
    return engine


class _LeftOff(Exception):
    """The run is where it is left off."""


def play_until(run, engine, commands):
    """The run on an engine until something lives after so many commands or more; to its end, if nothing does."""
    played = count()

    def leave_off(engine):
        if next(played) >= commands and engine.state.elements:
            raise _LeftOff

    with suppress(_LeftOff):
        play(run, engine, leave_off)


def left_off(seed, word, limits=DEFAULT_LIMITS):
    """A recorded run on a new engine up to a random moment, and what is random for the `word` that comes then."""
    engine, random = Engine(limits), Random(f"{seed}/{word}")
    play_until(recorded(seed), engine, random.randint(0, 6))
    return engine, random


def digest(engine, order=None):
    """SHA-256 over the documents of all rows that were ever written, and over the events, byte for byte.

    With the `order` "deterministic", the order of names in the objects of a row does not count, as in `tokens`.
    """
    rows = sorted(((table, str(key)), row) for (table, key), row in engine.rows.items())
    events = [[handled.events for handled in logged.handled] for logged in engine.memory.log]
    return sha256(msgspec.json.encode(rows, order=order) + msgspec.json.encode(events)).hexdigest()


def by_place(engine, process_id):
    """All rows of the instances of a process, with places instead of keys: comparable between runs."""
    rows = engine.rows
    elements = {key: row for (table, key), row in rows.items() if table in {"Instance", "Element"}}
    places = {}
    seen = Counter()
    for key in sorted(elements):
        row = elements[key]
        above = places[row["scope"]] if row["scope"] is not None else ""
        place = f"{above}/{row['element']}"
        seen[place] += 1
        places[key] = f"{place}~{seen[place]}"
    found = []
    for (table, _), row in rows.items():
        owner = row["key"] if table in {"Instance", "InstanceTree", "Element"} else row.get("scope", row.get("element"))
        if owner in places and places[owner].startswith(f"/{process_id}~"):
            found.append((places[owner], table, _without_keys(row, places)))
    return sorted(found, key=repr)


TASK_KEY = "io.camunda.zeebe:userTaskKey"
"""The header of task listeners with the key of their user task."""


def _without_keys(row, places):
    told = {}
    for name, value in row.items():
        if name == "key" or name in NOT_OBSERVED:
            continue
        if name in {"tree", "root", "instance", "scope", "element", "parent_instance"} and isinstance(value, int):
            value = places[value]
        elif name == "path":
            value = [places[key] for key in value]
        elif name in {"incident", "job", "message", "subscription", "definition"} and isinstance(value, int):
            value = "set"
        elif name == "headers":
            value = {header: text for header, text in value.items() if header != TASK_KEY}
        told[name] = value
    return told


if __name__ == "__main__":
    print(digest(play(recorded(int(sys.argv[1])))))
