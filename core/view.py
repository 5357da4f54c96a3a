"""The view of handlers and stages: the state, the time and position of the command, and FEEL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vivero.core.bpmn.model import Node, Process
from vivero.core.expression_results import EXTRACT, column_text, json_of, not_kept, type_name, unexpected
from vivero.core.feel import Evaluation as FeelEvaluation
from vivero.core.feel import EvaluationError, Expression, from_json, measure_json
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.partitions.keys import partition_of
from vivero.core.partitions.tenants import covers
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.rules import (
    CHARACTERS_PER_STEP,
    STAGE_CHARACTERS_READ,
    STAGE_STEPS,
    STAGE_VALUES,
    TIMER_RULES,
    TREE_RULES,
    VERY_LARGE_JSON,
    TimerRules,
    TreeRules,
)
from vivero.core.state.catalogue import Definition, Family, FormVersion, FormVersions
from vivero.core.state.instance_tree import (
    MISSING,
    Element,
    Incident,
    Instance,
    Job,
    Subscription,
    Timer,
    UserTask,
    Variable,
)
from vivero.core.state.message_channels import MessageChannel, Starts
from vivero.core.state.state import State

LARGE = 2_000
"""Characters of JSON. Reading and encoding shorter texts is not charged."""
RESULT_CHARACTERS = 32
"""The charge for decoding one result of a loop, in addition to its length."""


class VariableScope(Mapping[str, Any]):
    """The variables that an element sees, decoded at their first use.

    In a loop they include its results so far, which are no row of `variables` before its end.
    """

    __slots__ = ("_element", "_extra", "_results", "_view")

    def __init__(self, element: Element | None, extra: Mapping[str, Any], view: View) -> None:
        self._element = element
        self._extra = extra
        self._view = view
        self._results: dict[str, list[Any]] | None = None
        """Decoded results by name."""

    def __getitem__(self, name: str) -> Any:
        if name in self._extra:
            return self._extra[name]
        scope: Element | None = self._element
        while scope is not None:
            variable = scope.variables.get(name)
            if variable is not None:
                if len(variable.value) > LARGE:
                    return self._view.read(variable)
                return variable.decode()
            if scope.loop is not None and self._view.results_name(scope) == name:
                return self._results_of(scope, name)
            scope = scope.outer()
        raise KeyError(name)

    def _results_of(self, body: Element, name: str) -> list[Any]:
        """The results of a loop, decoded once per evaluation."""
        if self._results is None:
            self._results = {}
        if name not in self._results:
            self._results[name] = self._view.loop_results(body)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(self._extra)
        scope: Element | None = self._element
        while scope is not None:
            names.update(dict.fromkeys(scope.variables))
            results = None if scope.loop is None else self._view.results_name(scope)
            if results is not None:
                names[results] = None
            scope = scope.outer()
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class View:
    """Read access for one command. Each partition has one view; `step` sets the facts of the command."""

    __slots__ = (
        "_characters_read",
        "_known",
        "_read",
        "_values_left",
        "find_model",
        "key",
        "leases",
        "now",
        "position",
        "request",
        "rules",
        "spent",
        "stage_steps",
        "state",
        "steps",
        "steps_left",
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
    ) -> None:
        self.state = state
        self.key = state.key
        """Returns the next key of this partition."""
        self.find_model = find_model
        self.rules = rules
        self.tree_rules = tree_rules
        self.stage_steps = stage_steps
        """Steps that all expressions of a stage may take."""
        self.steps_left = stage_steps
        """Steps that the current stage has left."""
        self.steps = 0
        """Steps of the quantum so far, for evaluations and for their JSON."""
        self.spent = False
        """Whether the stage has used any of its budgets."""
        self._read: dict[int, int] = {}
        """Characters of large variables and results that the stage has read, by key."""
        self._characters_read = 0
        self._known: dict[int, str] = {}
        """Canonical JSON of large variables that the stage has read, by identity of the value."""
        self._values_left = STAGE_VALUES
        self.now = 0
        """Epoch milliseconds; constant for a command."""
        self.position = 0
        """The command's position in the log."""
        self.request = 0
        """The position of the client's command that caused this one."""
        self.tenant = ""
        """The command's tenant; before `enter`, the tenants that the sender of a command by key may use."""
        self.leases: Mapping[int, str | None] = {}
        """Lease tokens by job, as of the read of the batch."""

    def enter(self, tenant: str) -> bool:
        """Continue a command by key in the tenant of the row with its key. False: the sender may not use it."""
        if tenant != self.tenant:
            if not covers(self.tenant, tenant):
                return False
            self.tenant = tenant
        return True

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

    def loop_results(self, body: Element) -> list[Any]:
        """The results of a loop so far, in the order of its items; None for a missing one.

        Raises:
            NotLoaded: some results are not in memory.
        """
        texts = [item.result for item in body.items]
        if body.pages is not None and body.loop is not None:
            self.need_results(body)
            texts = [body.pages.results.get(index) for index in range(body.loop.size)]
        collected = len(texts) if body.loop is None else len(texts) + body.loop.collected
        if collected > LARGE:
            self._note_read(body.key, collected)
            self.charge(RESULT_CHARACTERS * len(texts) + collected)
        return [None if text is None else from_json(text) for text in texts]

    def need_results(self, body: Element) -> None:
        """Raise NotLoaded if a paged loop has results that are not in memory."""
        if body.pages is not None and body.loop is not None and len(body.pages.results) < body.loop.completed:
            raise NotLoaded(Need(NeedKind.RESULTS, body.key))

    def results_name(self, body: Element) -> str | None:
        """The variable that gets the results of a loop at its end; None if it collects none."""
        loop = self.node(body).loop
        return None if loop is None else loop.output_name

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
            return self.state.signal_pages[self.tenant, name, after]
        except KeyError:
            raise NotLoaded(Need(NeedKind.SIGNAL, (self.tenant, name, after))) from None

    # ---- catalogue

    def family(self, process_id: str, tenant: str | None = None) -> Family:
        """All versions of a process of the tenant, by default the command's. It may be empty."""
        key = (self.tenant if tenant is None else tenant, process_id)
        try:
            return self.state.catalogue.families[key]
        except KeyError:
            raise NotLoaded(Need(NeedKind.FAMILY, key)) from None

    def definition(self, key: int) -> Definition | None:
        return self.state.catalogue.definitions.get(key)

    def form_versions(self, form_id: str, tenant: str | None = None) -> FormVersions:
        """All versions of a form of the tenant, by default the command's. It may be empty."""
        key = (self.tenant if tenant is None else tenant, form_id)
        try:
            return self.state.catalogue.form_versions[key]
        except KeyError:
            raise NotLoaded(Need(NeedKind.FORMS, key)) from None

    def resources_of(self, deployment: int) -> list[Definition | FormVersion]:
        """The active versions of processes and forms that a deployment has made."""
        catalogue = self.state.catalogue
        if deployment not in catalogue.deployments:
            raise NotLoaded(Need(NeedKind.DEPLOYMENT, deployment))
        made: list[Definition | FormVersion] = [*catalogue.definitions.values(), *catalogue.forms.values()]
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

    # ---- the budgets of a stage and a quantum

    def begin_stage(self) -> None:
        """Begin the budgets of the next stage."""
        self.spent = False
        self.steps_left = self.stage_steps
        self._values_left = STAGE_VALUES
        if self._read:
            self._known.clear()
            self._read.clear()
            self._characters_read = 0

    def read(self, variable: Variable) -> Any:
        """The value of a large variable for an expression. Raises Fail if the stage reads too much."""
        self._note_read(variable.key, len(variable.value))
        if variable.decoded is MISSING:
            self.charge(len(variable.value))
            if len(variable.value) > VERY_LARGE_JSON:
                self._adopt(variable)
        value = variable.decode()
        if variable.canonical is not None:
            self._known[id(value)] = variable.canonical
        return value

    def _adopt(self, variable: Variable) -> None:
        """Take the value that was decoded for this batch. Raises NotLoaded if it was not."""
        try:
            variable.decoded, variable.canonical = self.state.values[variable.value]
        except KeyError:
            raise NotLoaded(Need(NeedKind.VALUE, variable.value)) from None

    def _note_read(self, key: int, characters: int) -> None:
        if key not in self._read:
            self.spent = True
            self._read[key] = characters
            self._characters_read += characters
            if self._characters_read > STAGE_CHARACTERS_READ:
                text = f"What is read at once has more than {STAGE_CHARACTERS_READ} characters of JSON together."
                raise Fail(IncidentType.EXTRACT_VALUE_ERROR, text)

    def charge(self, characters: int) -> None:
        """Charge `characters` of JSON that were decoded or encoded."""
        self.spent = True
        self.steps += characters // CHARACTERS_PER_STEP

    # ---- values

    def evaluate(
        self,
        expression: Expression,
        element: Element | None,
        failure: IncidentType = IncidentType.EXTRACT_VALUE_ERROR,
        extra: Mapping[str, Any] = {},  # never changed
    ) -> Any:
        """The value of `expression` with `extra` and the variables that `element` sees; `extra` comes first.

        Without an element the expression sees `extra` alone.

        Raises:
            Fail: the expression has no value; of type `failure`.
        """
        if expression.is_static:
            return expression.static_value
        return self.evaluation(expression, element, failure, extra).value

    def evaluation(
        self, expression: Expression, element: Element | None, failure: IncidentType, extra: Mapping[str, Any]
    ) -> FeelEvaluation:
        """Like `evaluate`, with warnings."""
        if expression.is_static:
            return FeelEvaluation(expression.static_value, [])
        try:
            evaluation, steps = expression.evaluate_within(
                VariableScope(element, extra, self), self.now, self.steps_left
            )
        except EvaluationError as error:
            self._take_steps(error.steps)
            raise Fail(failure, f"Failed to evaluate expression '{expression.text}'. {error}") from error
        self._take_steps(steps)
        return evaluation

    def _take_steps(self, steps: int) -> None:
        self.spent = True
        self.steps += steps
        self.steps_left -= steps

    def typed(
        self,
        expression: Expression,
        element: Element,
        expected: type,
        failure: IncidentType,
        extra: Mapping[str, Any] = {},
    ) -> Any:
        """The value of `expression`, which must be of the Python type `expected`.

        Raises:
            Fail: it is of another type. The message has that type and the warnings of the evaluation.
        """
        evaluation = self.evaluation(expression, element, failure, extra)
        value, warnings = evaluation.value, evaluation.warnings
        if type(value) is expected:
            return value
        raise Fail(failure, unexpected(expression, f"'{type_name(expected)}'", type_name(type(value)), warnings))

    def text(self, expression: Expression, element: Element, failure: IncidentType = EXTRACT) -> str:
        """The value of `expression`, which must be a text that a column can hold.

        Raises:
            Fail: it is of another type, has a NUL character, or is too long.
        """
        value = expression.static_value
        if type(value) is not str:
            value = self.typed(expression, element, str, failure)
        return column_text(expression, value, failure)

    def value_of(self, text: str) -> Any:
        """Decode JSON text, and charge it to the quantum if it is large."""
        if len(text) > LARGE:
            self.charge(len(text))
        return from_json(text)

    def json_of(self, value: Any, failure: IncidentType = IncidentType.EXTRACT_VALUE_ERROR) -> str:
        """Encode a value as JSON text. Large texts are charged to the quantum, and limited per stage."""
        text = self.uncharged_json_of(value, failure)
        if len(text) > LARGE:
            self.charge(len(text))
        return text

    def uncharged_json_of(self, value: Any, failure: IncidentType = IncidentType.EXTRACT_VALUE_ERROR) -> str:
        """Encode a value as JSON text. The number of values that are encoded one by one is limited per stage."""
        if type(value) is not list and type(value) is not dict:
            return json_of(value, failure)
        try:
            text, looked_at = measure_json(value, self._known, self._values_left)
        except EvaluationError as error:
            raise not_kept(error, failure) from error
        if looked_at:
            self.spent = True
            self._values_left -= looked_at
        return text
