"""Dry runs of commands on copies of the trees of an engine in memory, and the same commands for real."""

import pickle

from vivero.core.dry_runs.trial import Trial
from vivero.core.execution.step import Processor
from vivero.core.records.instances import ContinueWork
from vivero.core.snapshots.codec import decode, encode
from vivero.core.snapshots.reader import add_tree
from vivero.core.snapshots.writer import snapshot_of
from vivero.core.state.state import State

TENANT = "<default>"


def text_of(engine, key):
    """The snapshot of the tree of an instance, with the next key of the engine."""
    state, tree = engine.state, engine.state.elements[key].tree
    registrations = [row for row in state.registrations.by_key.values() if row.instance.tree is tree]
    place = {"version": tree.revision, "at": engine.memory.now, "next_key": state.next_key}
    return encode(snapshot_of(tree.root, state.catalogue, **place, registrations=registrations))


def catalogue_of(engine):
    """A copy, as another process gets it."""
    return pickle.loads(pickle.dumps(engine.state.catalogue))


def tried(engine, command):
    """A trial of the command on a copy of its tree."""
    state = State(1, engine.state.next_key)
    state.catalogue = catalogue_of(engine)
    tree = add_tree(state, decode(text_of(engine, command.key)), engine.memory.find_model)
    own = engine.state.elements[command.key].tree
    tree.rows, tree.in_parts = own.rows, own.in_parts
    state.begin_command()
    processor = Processor(state, engine.limits, engine.memory.find_model, engine.memory.find_decisions)
    processor.set_inline(False)
    trial = Trial(processor, engine.memory.now)
    trial.run(command, TENANT)
    return trial


def done(engine, command):
    """The result of the command, its events with those of the deferred work that it leaves, and the number of other
    commands that followed from it."""
    before = len(engine.memory.log)
    handled = engine.run(command)
    first, *others = engine.memory.log[before:]
    later = [one for one in others if isinstance(one.command, ContinueWork)]
    events = [event for one in (first, *later) for event in one.handled[0].events]
    return handled, events, len(others) - len(later)
