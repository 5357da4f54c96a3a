"""Replay: the events alone give the same state, byte for byte, whatever the hash seed."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.core.engine import Engine, keep_rows, recorded_batches, snapshot
from tests.core.models import ONE_TASK
from tests.core.randomised.runs import digest, play, recorded
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import ElementActivated
from vivero.core.replay import Recorded, replay
from vivero.core.state.state import State

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=[pytest.param(10, id="few"), pytest.param(200, id="many", marks=pytest.mark.long)])
def seeds(seed, request):
    return range(seed, seed + request.param)


def replayed(engine):
    """A state made of what the event log would hold, and the rows that it ever had. Each command was a batch."""
    state = State(1, engine.state.next_key)
    rows = keep_rows(state)
    replay(state, recorded_batches(engine))
    return state, rows


def encoded(rows):
    return {key: msgspec.json.encode(row) for key, row in rows.items()}


@pytest.mark.parametrize("limit", [1, 500])
def test_replay_gives_every_row_that_was_ever_written(seeds, limit):
    for seed in seeds:
        engine = play(recorded(seed), Engine(StepLimits(quantum_items=limit)))
        state, rows = replayed(engine)
        assert encoded(rows) == encoded(engine.rows), f"seed {seed}"
        assert list(rows) == list(engine.rows), f"seed {seed}: rows were changed in another order"
        assert not state.elements, "the run has ended"


def test_replay_gives_the_rows_of_paged_loops(seeds):
    for seed in seeds:
        engine = play(recorded(seed), Engine(StepLimits(paged_from=0)))
        state, rows = replayed(engine)
        assert encoded(rows) == encoded(engine.rows), f"seed {seed}"
        assert not state.elements
        assert not state.parts
        assert not state.paged


def test_replay_of_a_part_gives_the_state_in_the_middle(seeds):
    """At every quiet point the rebuilt state is the one that is there, indexes and weights included."""
    for seed in list(seeds)[:10]:
        play(recorded(seed), meanwhile=lambda engine: same(snapshot(replayed(engine)[0]), snapshot(engine.state)))


def same(one, other):
    assert one == other


def test_an_event_without_its_beginning_is_no_state():
    with pytest.raises(KeyError):
        replay(State(1), [[Recorded(1, 0, [ElementActivated(77)])]])


def test_the_next_key_is_the_callers_business(engine):
    engine.deploy(ONE_TASK)
    engine.start()
    state, _ = replayed(engine)
    assert state.next_key == engine.state.next_key
    assert state.key() not in {key for _, key in engine.rows}


@pytest.mark.long
def test_the_hash_seed_does_not_matter(seed):

    def under(hash_seed):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-m", "tests.core.randomised.runs", str(seed)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert {under("0"), under("1"), under("31337")} == {digest(play(recorded(seed)))}
