"""The load plan of a batch: the keys that it needs and the state lacks, by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vivero.core.needs import Need, NeedKind
from vivero.core.partitions.keys import keys_of
from vivero.core.partitions.tenants import EVERY_TENANT, covers
from vivero.core.state.instance_tree import TERMINATING
from vivero.core.state.state import State
from vivero.storage.state import pages
from vivero.storage.state.compensations import Latest

OF_TREES = frozenset(
    (
        *(NeedKind.JOB, NeedKind.INCIDENT, NeedKind.ELEMENT, NeedKind.INSTANCE),
        *(NeedKind.TIMER, NeedKind.SUBSCRIPTION, NeedKind.USER_TASK),
    )
)
"""Needs of these kinds name rows of an instance tree."""


BY_KEY = OF_TREES | {NeedKind.DEFINITION, NeedKind.DECISION}
ELEMENTS = frozenset((NeedKind.ELEMENT, NeedKind.INSTANCE))
WITH_TENANT = frozenset((NeedKind.TIMER, NeedKind.DEFINITION, NeedKind.DECISION))
"""The rows of other kinds have the tenant of their instance."""


def is_foreign(need: Need, row: Any) -> bool:
    """Whether a row in memory belongs to a tenant that the sender of the command may not use.

    It is looked up all the same. Otherwise the time of an answer would tell such a key from an unknown one.
    """
    if need.tenants == EVERY_TENANT or need.kind not in BY_KEY:
        return False
    if need.kind in WITH_TENANT:
        return not covers(need.tenants, row.tenant)
    element = row if need.kind in ELEMENTS else row.element
    return not covers(need.tenants, element.instance.tenant)


def _only_ends(need: Need, row: Any) -> bool:
    """Whether the command needs no variables, because it ends an instance or goes on ending it."""
    return need.to_end or (need.kind is NeedKind.INSTANCE and row.state is TERMINATING)


class LoadPlan:
    """The keys to ask the database for, by kind, without those that the state has.

    `found` and `looked_up` are numbers of needed rows of instances, by whether the state has them.
    """

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
        self.forms: set[tuple[str, str]] = set()
        self.form_keys: set[int] = set()
        self.generic_resources: set[tuple[str, str]] = set()
        self.generic_resource_keys: set[int] = set()
        self.requirements: set[tuple[str, str]] = set()
        self.requirements_keys: set[int] = set()
        self.decisions: set[tuple[str, str]] = set()
        self.decision_keys: set[int] = set()
        self.task_listeners: set[None] = set()
        self.cluster_variables: set[str] = set()
        self.deployments: set[int] = set()
        self.work: set[int] = set()
        self.items: set[tuple[int, int]] = set()
        self.results: set[int] = set()
        self.variables: set[int] = set()
        self.whole: set[int] = set()
        self.registrations: set[int] = set()
        self.latest_registrations: set[Latest] = set()
        self.all_registrations: set[tuple[int, int]] = set()
        self.found = self.looked_up = 0
        known: dict[NeedKind, tuple[set[Any], Any]] = {
            NeedKind.JOB: (self.jobs, state.jobs),
            NeedKind.INCIDENT: (self.incidents, state.incidents),
            **dict.fromkeys(ELEMENTS, (self.elements, state.elements)),
            NeedKind.TIMER: (self.timers, state.timers),
            NeedKind.SUBSCRIPTION: (self.subscriptions, state.subscriptions),
            NeedKind.USER_TASK: (self.user_tasks, state.user_tasks),
            NeedKind.LEASE: (self.leases, ()),
            NeedKind.USAGE: (self.usages, ()),
            NeedKind.HELD: (self.held, ()),
            NeedKind.FAMILY: (self.families, state.catalogue.families),
            NeedKind.DEFINITION: (self.definitions, state.catalogue.definitions),
            NeedKind.FORMS: (self.forms, state.catalogue.form_versions),
            NeedKind.DEPLOYMENT: (self.deployments, state.catalogue.deployments),
            NeedKind.FORM: (self.form_keys, state.catalogue.forms),
            NeedKind.GENERIC_RESOURCES: (self.generic_resources, state.catalogue.generic_resource_versions),
            NeedKind.GENERIC_RESOURCE: (self.generic_resource_keys, state.catalogue.generic_resources),
            NeedKind.REQUIREMENTS: (self.requirements, state.catalogue.requirements_versions),
            NeedKind.REQUIREMENTS_KEY: (self.requirements_keys, ()),
            NeedKind.DECISIONS: (self.decisions, state.catalogue.decision_versions),
            NeedKind.DECISION: (self.decision_keys, state.catalogue.decisions),
            NeedKind.TASK_LISTENERS: (self.task_listeners, ()),
            NeedKind.CLUSTER_VARIABLES: (self.cluster_variables, state.catalogue.cluster_variables),
            NeedKind.WORK: (self.work, ()),
            NeedKind.LOOP_ITEM: (self.items, ()),
            NeedKind.RESULTS: (self.results, ()),
            NeedKind.VARIABLES: (self.variables, ()),
            NeedKind.WHOLE: (self.whole, ()),
            NeedKind.REGISTRATION: (self.registrations, state.registrations.by_key),
            NeedKind.REGISTRATIONS: (self.latest_registrations, ()),
            NeedKind.ALL_REGISTRATIONS: (self.all_registrations, ()),
        }
        own = keys_of(state.partition)
        for need in needs:
            if need.kind in known:
                self._ask_for(need, *known[need.kind], own)

    def _ask_for(self, need: Need, asked: set[Any], present: Any, own: tuple[int, int]) -> None:
        """Add the key of a need to those to ask for, unless it is `present`. `own`: the keys between them are ours."""
        if need.key not in present or is_foreign(need, present[need.key]):
            if need.kind not in OF_TREES:
                asked.add(need.key)
            elif own[0] < need.key < own[1]:  # others have their own trees
                self.looked_up += 1
                asked.add(need.key)
        elif need.kind in OF_TREES:
            self.found += 1
            if not _only_ends(need, present[need.key]):
                self.variables.update(pages.lazy_parts(present[need.key]))
