"""The view of handlers and stages: the state, the time and position of the command, and FEEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from vivero.core.bpmn.model import JobDefinition, Node, Process
from vivero.core.dmn import Decisions
from vivero.core.expressions.budget import StageBudget
from vivero.core.expressions.camunda_context import context
from vivero.core.expressions.evaluation import Expressions
from vivero.core.needs import NO_LEASES, Lease, Need, NeedKind, NotLoaded
from vivero.core.partitions.keys import partition_of
from vivero.core.partitions.tenants import covers
from vivero.core.records.user_tasks import NO_LISTENERS, GlobalListeners
from vivero.core.rules import (
    STAGE_STEPS,
    TIMER_RULES,
    TREE_RULES,
    TimerRules,
    TreeRules,
)
from vivero.core.state.catalogue import (
    DecisionVersion,
    DecisionVersions,
    Definition,
    Deployed,
    Family,
    FormVersion,
    FormVersions,
    GenericResourceVersion,
    GenericResourceVersions,
    RequirementsVersion,
    RequirementsVersions,
)
from vivero.core.state.compensation import PastScope
from vivero.core.state.holds import Holds
from vivero.core.state.instance_tree import (
    MISSING,
    Element,
    Incident,
    Instance,
    Job,
    Subscription,
    Timer,
    UserTask,
)
from vivero.core.state.message_channels import MessageChannel, Starts
from vivero.core.state.state import State

V = TypeVar("V")

FindDecisions = Callable[[DecisionVersion], Decisions | None]
"""Gives the compiled decisions of the file of a decision, if they are available without waiting."""


Resuming = tuple[int, list[int]]
"""The process instance whose suspended waits go on page by page, and the keys of those waits, sorted."""
NOTHING_RESUMES: Resuming = 0, []
NO_MODEL = Process("", None, None, {}, {})


def no_decisions(_decision: DecisionVersion) -> Decisions | None:
    return None


class View:
    """Read access for one command. Each partition has one view; `step` sets the facts of the command."""

    __slots__ = (
        "budget",
        "deferred",
        "expressions",
        "find_decisions",
        "find_model",
        "holds",
        "key",
        "known_key",
        "known_model",
        "leases",
        "now",
        "position",
        "request",
        "resuming",
        "rules",
        "state",
        "tenant",
        "tree_rules",
    )

    def __init__(
        self,
        state: State,
        find_model: Callable[[Definition], Process | None],
        rules: TimerRules = TIMER_RULES,
        tree_rules: TreeRules = TREE_RULES,
        stage_steps: int = STAGE_STEPS,
        find_decisions: FindDecisions = no_decisions,
    ) -> None:
        self.state = state
        self.key = state.key
        """Returns the next key of this partition."""
        self.find_model = find_model
        self.find_decisions = find_decisions
        self.rules = rules
        self.tree_rules = tree_rules
        self.budget = StageBudget(stage_steps)
        self.expressions = Expressions(state, self.budget, self.node, self.camunda)
        self.now = 0
        """Epoch milliseconds; constant for a command."""
        self.position = 0
        """The command's position in the log."""
        self.request = 0
        """The position of the client's command that caused this one."""
        self.tenant = ""
        """The command's tenant; before `enter`, the tenants that the sender of a command by key may use."""
        self.known_key = 0
        self.known_model: Process = NO_MODEL
        """The definition whose model the command has looked up last, and this model."""
        self.leases = NO_LEASES
        """As of the read of the batch."""
        self.deferred: tuple[object, frozenset[tuple[int, str]]] = (), frozenset()
        """The deferred work that was looked at last, and its elements and stages (`deferred_work.is_deferred`)."""
        self.resuming = NOTHING_RESUMES
        self.holds = Holds[Any]()

    def enter(self, tenant: str) -> bool:
        """Continue a command by key in the tenant of the row with its key. False: the sender may not use it."""
        if tenant != self.tenant:
            if not covers(self.tenant, tenant):
                return False
            self.tenant = tenant
        return True

    def lease(self, job: int) -> Lease | None:
        """The last lease of a job. Raises NotLoaded."""
        if job not in self.leases:
            raise NotLoaded(Need(NeedKind.LEASE, job))
        return self.leases[job]

    def token_of(self, job: int) -> str | None:
        """The token of the last lease of a job."""
        lease = self.leases.get(job)
        return None if lease is None else lease.token

    # ---- rows

    def element(self, key: int) -> Element | None:
        return self.state.elements.get(key)

    def instance(self, key: int) -> Instance | None:
        element = self.state.elements.get(key)
        return element if isinstance(element, Instance) else None

    def job(self, key: int) -> Job | None:
        return self.state.jobs.get(key)

    def timer(self, key: int) -> Timer | None:
        return self.state.timers.get(key)

    def user_task(self, key: int) -> UserTask | None:
        return self.state.user_tasks.get(key)

    def subscription(self, key: int) -> Subscription | None:
        return self.state.subscriptions.get(key)

    def start_timers(self, process_id: str) -> list[int]:
        """The keys of the timers that start a process of the command's tenant. Its family must be loaded."""
        return list(self.state.catalogue.start_timers.get((self.tenant, process_id), ()))

    def incident(self, key: int) -> Incident | None:
        return self.state.incidents.get(key)

    def loop_item(self, body: Element, index: int) -> str:
        """The item of an inner instance, as JSON text."""
        if body.pages is None:
            return body.items[index].item
        if (item := body.pages.item(index)) is None:
            raise NotLoaded(Need(NeedKind.LOOP_ITEM, (body.key, index)))
        return item

    # ---- messages and signals

    def channel(self, tenant: str, correlation_key: str) -> MessageChannel:
        try:
            return self.state.channels[tenant, correlation_key]
        except KeyError:
            raise NotLoaded(Need(NeedKind.CHANNEL, (tenant, correlation_key))) from None

    def starts(self) -> Starts:
        """Start events that wait for messages and signals."""
        if self.state.catalogue.starts is None:
            raise NotLoaded(Need(NeedKind.STARTS, None))
        return self.state.catalogue.starts

    def signal_page(self, name: str, after: int) -> int | None:
        """The last key of the loaded page of subscriptions that follows `after`; None for the last page."""
        try:
            return self.state.loaded_pages[self.tenant, name, after]
        except KeyError:
            raise NotLoaded(Need(NeedKind.SIGNAL, (self.tenant, name, after))) from None

    def suspended_page(self, instance: int, after: int) -> int | None:
        """The last key of the loaded page of suspended waits that follows `after`; None for the last page."""
        try:
            return self.state.loaded_pages[instance, after]
        except KeyError:
            raise NotLoaded(Need(NeedKind.SUSPENDED, (instance, after))) from None

    # ---- catalogue

    def task_listeners(self, event: str) -> GlobalListeners:
        """The task listeners of the whole cluster for an event."""
        known = self.state.catalogue.task_listeners
        if known is None:
            raise NotLoaded(Need(NeedKind.TASK_LISTENERS, None))
        return known.get(event, NO_LISTENERS)

    def camunda(self, element: Element | PastScope | None) -> dict[str, Any]:
        """The context `camunda` of the expressions of an element; without one, of the command's tenant."""
        while isinstance(element, PastScope):
            element = element.outer
        instance = None if element is None else element.instance
        tenant = self.tenant if instance is None else instance.tenant
        variables = self.state.catalogue.cluster_variables.get(tenant)
        if variables is None:
            raise NotLoaded(Need(NeedKind.CLUSTER_VARIABLES, tenant))
        return context(variables) if instance is None else context(variables, instance.key, instance.business_id)

    def family(self, process_id: str, tenant: str | None = None) -> Family:
        """All versions of a process of the tenant, by default the command's. It may be empty."""
        return self._versions(self.state.catalogue.families, NeedKind.FAMILY, process_id, tenant)

    def _versions(self, known: Mapping[tuple[str, str], V], kind: NeedKind, id: str, tenant: str | None = None) -> V:
        """All versions with an id, of the tenant or else of the command's. Raises NotLoaded."""
        key = (self.tenant if tenant is None else tenant, id)
        try:
            return known[key]
        except KeyError:
            raise NotLoaded(Need(kind, key)) from None

    def definition(self, key: int) -> Definition | None:
        return self.state.catalogue.definitions.get(key)

    def form_versions(self, form_id: str, tenant: str | None = None) -> FormVersions:
        """All versions of a form of the tenant, by default the command's. It may be empty."""
        return self._versions(self.state.catalogue.form_versions, NeedKind.FORMS, form_id, tenant)

    def generic_resource_versions(self, resource_id: str, tenant: str | None = None) -> GenericResourceVersions:
        """All versions of a generic resource of the tenant, by default the command's. It may be empty."""
        known = self.state.catalogue.generic_resource_versions
        return self._versions(known, NeedKind.GENERIC_RESOURCES, resource_id, tenant)

    def generic_resource(self, key: int) -> GenericResourceVersion | None:
        return self.state.catalogue.generic_resources.get(key)

    def requirements_versions(self, requirements_id: str) -> RequirementsVersions:
        """All versions of decision requirements of the command's tenant. It may be empty."""
        return self._versions(self.state.catalogue.requirements_versions, NeedKind.REQUIREMENTS, requirements_id)

    def requirements(self, key: int) -> RequirementsVersion | None:
        return self.state.catalogue.requirements.get(key)

    def decision_versions(self, decision_id: str, tenant: str | None = None) -> DecisionVersions:
        """All versions of a decision of the tenant, by default the command's. It may be empty."""
        return self._versions(self.state.catalogue.decision_versions, NeedKind.DECISIONS, decision_id, tenant)

    def decision(self, key: int) -> DecisionVersion | None:
        return self.state.catalogue.decisions.get(key)

    def decisions_in(self, requirements: int) -> list[DecisionVersion]:
        """The decisions of a version of decision requirements that was loaded by its key."""
        return [one for one in self.state.catalogue.decisions.values() if one.requirements == requirements]

    def compiled(self, decision: DecisionVersion) -> Decisions | None:
        """The compiled decisions of a decision's file; None if this version of the program cannot read it any more.

        The decision in them is `Key(decision.sha256, decision.decision_id)`.
        """
        found = self.find_decisions(decision)
        if found is None and decision.sha256 not in self.state.catalogue.unreadable:
            raise NotLoaded(Need(NeedKind.DECISION_MODEL, decision.key))
        return found

    def resources_of(self, deployment: int) -> list[Deployed]:
        """The active versions of all that a deployment has made, without single decisions."""
        catalogue = self.state.catalogue
        if deployment not in catalogue.deployments:
            raise NotLoaded(Need(NeedKind.DEPLOYMENT, deployment))
        made: list[Deployed] = [*catalogue.definitions.values(), *catalogue.forms.values()]
        made += [*catalogue.generic_resources.values(), *catalogue.requirements.values()]
        return [one for one in made if one.deployment == deployment and one.state == "ACTIVE"]

    def form(self, key: int) -> FormVersion | None:
        return self.state.catalogue.forms.get(key)

    def running(self, definition_key: int) -> int:
        """The number of running instances of a definition in this partition."""
        usage = self.state.catalogue.usage.get(definition_key)
        return usage.running if usage is not None else 0

    def running_elsewhere(self, definition_key: int) -> int:
        """The number of running instances of a definition in all other partitions."""
        if not self.state.routes.several:
            return 0
        try:
            return self.state.running_elsewhere[definition_key]
        except KeyError:
            raise NotLoaded(Need(NeedKind.USAGE, definition_key)) from None

    def held_commands(self) -> int:
        """The number of commands that this partition holds while slots move. A batch under way may add to it."""
        if self.state.held is None:
            raise NotLoaded(Need(NeedKind.HELD, None))
        return self.state.held

    def other_partitions(self) -> list[int]:
        return [one for one in self.state.routes.all if one != self.state.partition]

    def partition_for_start(self, tenant: str, number: int) -> int | None:
        """Another partition, if the tenant is pinned to others than this one. `number` chooses one of several."""
        pinned = self.state.routes.pins.get(tenant)
        if pinned is None or self.state.partition in pinned:
            return None
        return pinned[number % len(pinned)]

    def is_of_this_partition(self, key: int) -> bool:
        """Whether this partition has assigned the key, and owns its aggregate."""
        return partition_of(key) == self.state.partition

    def model(self, definition_key: int) -> Process:
        """The model of a definition whose row is in the state."""
        if definition_key != self.known_key:
            self.known_model, self.known_key = self._find(definition_key), definition_key
        return self.known_model

    def _find(self, definition_key: int) -> Process:
        definition = self.state.catalogue.definitions.get(definition_key)
        model = None if definition is None else self.find_model(definition)
        if model is None:
            raise NotLoaded(Need(NeedKind.MODEL, definition_key))
        return model

    def node(self, element: Element) -> Node:
        """The node of an element in its model; kept in its row."""
        node = element.node
        if node is MISSING:
            node = element.node = self.model(element.instance.definition_key).nodes[element.element]
        return node

    def listeners_of_end(self, element: Element) -> Mapping[str, tuple[JobDefinition, ...]]:
        """The listeners of an element that ends early. One whose file cannot be read any more ends without them."""
        if element.node is MISSING:
            definition = self.definition(element.instance.definition_key)
            if definition is not None and definition.sha256 in self.state.catalogue.unreadable:
                return {}
        return self.node(element).listeners
