"""Suspension and resumption of process instances."""

from __future__ import annotations

from vivero.core.apply.work_items import append_suspended, append_work, clear_suspended
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended, WorkSuspended
from vivero.core.state.instance_tree import Instance, SuspensionChange
from vivero.core.state.state import State


def instance_suspended(state: State, event: InstanceSuspended) -> Instance:
    instance = _instance(state, event.key)
    instance.suspended_at, instance.suspended_reason = state.now, event.reason
    state.add(SuspensionChange(instance.key, instance))
    return instance


def instance_resumed(state: State, event: InstanceResumed) -> Instance:
    instance = _instance(state, event.key)
    if not event.items and instance.suspended_work:
        _defer(state, instance)
    end_suspension(state, instance)
    state.add(SuspensionChange(instance.key, instance))
    return instance


def work_suspended(state: State, event: WorkSuspended) -> Instance:
    instance = _instance(state, event.instance)
    append_suspended(state, instance, event.items)
    return instance


def end_suspension(state: State, instance: Instance) -> None:
    instance.suspended_at = instance.suspended_reason = None
    clear_suspended(state, instance)


def _defer(state: State, instance: Instance) -> None:
    """Make deferred work of the suspended items. The parts of paged loops that they are in may have to be loaded."""
    tree = instance.tree
    append_work(state, tree, instance.suspended_work)
    if tree.in_parts:
        tree.loaded_work = 0


def _instance(state: State, key: int) -> Instance:
    instance = state.instance(key)
    state.edit(instance)
    return instance
