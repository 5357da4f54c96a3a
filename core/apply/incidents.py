"""Incidents, and the number of open ones below each element."""

from __future__ import annotations

from vivero.core.records.instances import IncidentRaised, IncidentResolved
from vivero.core.state.instance_tree import INCIDENT_WEIGHT, NO_PAGES, Element, Incident
from vivero.core.state.state import State


def incident_raised(state: State, event: IncidentRaised) -> Incident:
    element = state.elements[event.element]
    incident = Incident(
        event.key, element, event.type, event.message, state.now, event.stage, event.argument, event.job
    )
    state.add(incident)
    state.link(state.incidents, event.key, incident)
    state.link(element.own_waits().incidents, event.key, incident)
    state.edit(element)
    element.incident = event.key
    state.written += len(event.message)
    _count(state, element, 1)
    element.tree.of_pages = NO_PAGES  # a page of a migration may have failed: the tree changes before the next one
    return incident


def incident_resolved(state: State, event: IncidentResolved) -> Incident:
    incident = state.incidents[event.key]
    state.edit(incident)
    incident.state = "RESOLVED"
    incident.resolved_at = state.now
    element = incident.element
    state.unlink(state.incidents, event.key)
    state.unlink(element.waits.incidents, event.key)
    state.edit(element)
    element.incident = next(iter(element.waits.incidents), None)
    _count(state, element, -1)
    return incident


def _count(state: State, element: Element, by: int) -> None:
    state.add_weight(element.tree, by * INCIDENT_WEIGHT)
    above: Element | None = element
    while above is not None:
        state.edit(above)
        above.incidents += by
        above = above.scope
