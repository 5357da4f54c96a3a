"""The load plan of a batch: the keys that it needs and the state lacks, by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vivero.engine.core.needs import Need, NeedKind
from vivero.engine.core.records.base import keys_of
from vivero.engine.core.state.state import State
from vivero.storage.state import pages

OF_TREES = frozenset(
    (
        *(NeedKind.JOB, NeedKind.INCIDENT, NeedKind.ELEMENT, NeedKind.INSTANCE),
        *(NeedKind.TIMER, NeedKind.SUBSCRIPTION, NeedKind.USER_TASK),
    )
)
"""Needs of these kinds name rows of an instance tree."""


class LoadPlan:
    """The keys to ask the database for, by kind, without those that the state has."""

    def __init__(self, state: State, needs: Iterable[Need]) -> None:
        self.jobs: set[int] = set()
        self.incidents: set[int] = set()
        self.elements: set[int] = set()
        self.timers: set[int] = set()
        self.subscriptions: set[int] = set()
        self.user_tasks: set[int] = set()
        self.leases: set[int] = set()
        self.families: set[tuple[str, str]] = set()
        self.usages: set[int] = set()
        self.held: set[None] = set()
        self.definitions: set[int] = set()
        self.work: set[int] = set()
        self.items: set[tuple[int, int]] = set()
        self.results: set[int] = set()
        self.variables: set[int] = set()
        known: dict[NeedKind, tuple[set[Any], Any]] = {
            NeedKind.JOB: (self.jobs, state.jobs),
            NeedKind.INCIDENT: (self.incidents, state.incidents),
            NeedKind.ELEMENT: (self.elements, state.elements),
            NeedKind.INSTANCE: (self.elements, state.elements),
            NeedKind.TIMER: (self.timers, state.timers),
            NeedKind.SUBSCRIPTION: (self.subscriptions, state.subscriptions),
            NeedKind.USER_TASK: (self.user_tasks, state.user_tasks),
            NeedKind.LEASE: (self.leases, ()),
            NeedKind.USAGE: (self.usages, ()),
            NeedKind.HELD: (self.held, ()),
            NeedKind.FAMILY: (self.families, state.catalogue.families),
            NeedKind.DEFINITION: (self.definitions, state.catalogue.definitions),
            NeedKind.WORK: (self.work, ()),
            NeedKind.LOOP_ITEM: (self.items, ()),
            NeedKind.RESULTS: (self.results, ()),
            NeedKind.VARIABLES: (self.variables, ()),
        }
        lowest, beyond = keys_of(state.partition)
        for need in needs:
            if need.kind in known:
                asked, present = known[need.kind]
                if need.key not in present:
                    if need.kind not in OF_TREES or lowest < need.key < beyond:  # others have their own trees
                        asked.add(need.key)
                elif need.kind in OF_TREES and (part := pages.part_with_lazy_variables(present[need.key])) is not None:
                    self.variables.add(part)
