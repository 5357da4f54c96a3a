"""Dry runs of commands on copies of the trees of an engine in memory, and the same commands for real."""

import pickle

from vivero.core.dry_runs.trial import Trial
from vivero.core.execution.step import Processor
from vivero.core.expressions.camunda_context import variables_seen
from vivero.core.needs import NeedKind, NotLoaded
from vivero.core.records.instances import ContinueWork
from vivero.core.snapshots.codec import decode, encode
from vivero.core.snapshots.reader import add_tree
from vivero.core.snapshots.writer import snapshot_of
from vivero.core.state.state import State

TENANT = "<default>"
NOTHING = {
    NeedKind.TASK_LISTENERS: lambda catalogue, _: setattr(catalogue, "task_listeners", {}),
    NeedKind.CLUSTER_VARIABLES: lambda catalogue, key: catalogue.cluster_variables.setdefault(
        key, variables_seen({}, {})
    ),
    NeedKind.FAMILY: lambda catalogue, key: catalogue.families.setdefault(key, {}),
    NeedKind.FORMS: lambda catalogue, key: catalogue.form_versions.setdefault(key, {}),
    NeedKind.GENERIC_RESOURCES: lambda catalogue, key: catalogue.generic_resource_versions.setdefault(key, {}),
    NeedKind.DECISIONS: lambda catalogue, key: catalogue.decision_versions.setdefault(key, {}),
}
"""The finds of a need that nobody has deployed."""


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
    """A trial of the command on a copy of its tree. What the copy lacks is not there, as for the engine."""
    needs = []
    while True:
        trial = Trial(_copied(engine, command.key, needs), engine.memory.now)
        try:
            trial.run(command, TENANT)
            return trial
        except NotLoaded as missing:
            if missing.need in needs:
                raise
            needs.append(missing.need)


def _copied(engine, key, needs):
    """A processor on a copy of the tree, and of the catalogue with these needs."""
    state, own = State(1, engine.state.next_key), engine.state.elements[key].tree
    state.catalogue = catalogue_of(engine)
    for need in needs:
        NOTHING[need.kind](state.catalogue, need.key)
    tree = add_tree(state, decode(text_of(engine, key)), engine.memory.find_model)
    tree.rows, tree.in_parts = own.rows, own.in_parts
    state.begin_command()
    processor = Processor(state, engine.limits, engine.memory.find_model, engine.memory.find_decisions)
    processor.set_inline(False)
    return processor


def done(engine, command):
    """The result of the command, its events with those of the deferred work that it leaves, and the number of other
    commands that followed from it."""
    before = len(engine.memory.log)
    handled = engine.run(command)
    first, *others = engine.memory.log[before:]
    later = [one for one in others if isinstance(one.command, ContinueWork)]
    events = [event for one in (first, *later) for event in one.handled[0].events]
    return handled, events, len(others) - len(later)
