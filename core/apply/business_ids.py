"""Business ids of process instances that run."""

from __future__ import annotations

from vivero.core.records.business_ids import BusinessIdAssigned
from vivero.core.state.instance_tree import Instance
from vivero.core.state.state import State


def business_id_assigned(state: State, event: BusinessIdAssigned) -> Instance:
    instance = state.elements[event.key]
    assert isinstance(instance, Instance), f"{event.key} is no process instance"
    state.edit(instance)
    instance.business_id = event.business_id
    return instance
