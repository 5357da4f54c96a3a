"""The files of a deployment, compiled: decisions, business knowledge models, decision services and input data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.dmn.compiling.effort import Effort, TooMuchEffort
from vivero.core.dmn.compiling.invocations import unknown_functions
from vivero.core.dmn.compiling.json_inputs import json_input
from vivero.core.dmn.compiling.linking import Key, Linked
from vivero.core.dmn.compiling.logic import compile_function, compile_logic
from vivero.core.dmn.compiling.names import names_of_parts, names_of_types
from vivero.core.dmn.compiling.parts import CompiledDecision, Graph, Source, put, result_name
from vivero.core.dmn.compiling.scope import FileContext, TextScope, null
from vivero.core.dmn.compiling.services import service_function
from vivero.core.dmn.compiling.tables import CompiledTable
from vivero.core.dmn.compiling.types import Types, checked_by_camunda
from vivero.core.dmn.model import Decision, ElementReference, InputData, Knowledge, Logic, Service, Table
from vivero.core.feel.closures.fragments import known_names
from vivero.core.feel.values import FeelLimits, Function


def compile_graph(
    linked: Linked, reports: Mapping[str, Report], limits: FeelLimits, effort: Effort, keeps: bool = True
) -> Graph | None:
    """Compile the files of a deployment; None if that takes too much `effort`. Texts that cannot be parsed are problems
    of the reports, and so is the effort.

    Without `keeps` nothing that was compiled is kept: the graph cannot be evaluated, and the problems are the result.
    """
    graph = Graph(linked, {}, {}, {}, {}, {})
    files = []
    for resource, file in linked.files.items():
        types = Types(resource, linked, reports[resource], limits, effort)
        try:
            files.append(_File(resource, FileContext(file.mode, types, reports[resource], limits, keeps), graph))
            files[-1].compile()
        except TooMuchEffort as error:
            reports[resource].add_file_problem(str(error))
            return None
    for each in files:
        each.connect_functions()
    return graph


class _File:
    """The compilation of one file."""

    def __init__(self, resource: str, place: FileContext, graph: Graph) -> None:
        self._resource, self._place, self._graph = resource, place, graph
        self._linked = graph.linked
        parts = names_of_parts(resource, self._linked) | names_of_types(resource, self._linked)
        self._scope = TextScope(place, known_names(parts))
        self._visible: list[tuple[dict[str, Any], list[Source]]] = []
        """The variables that each function of the file sees, which get their values when all are compiled."""

    def compile(self) -> None:
        for element in self._linked.files[self._resource].elements.values():
            key = Key(self._resource, element.id)
            if isinstance(element, Decision):
                self._graph.decisions[key] = self._decision(element)
            elif isinstance(element, Knowledge):
                self._graph.functions[key] = self._knowledge(key, element)
            elif isinstance(element, Service):
                coerce = self._scope.coercion(self._place.types.result_of(element.variable.type_ref))
                self._graph.functions[key] = service_function(self._graph, key, element, coerce)
            elif isinstance(element, InputData):
                type_ref = element.variable.type_ref
                self._graph.coercions[key] = self._scope.coercion(type_ref)
                if not self._place.is_camunda:
                    self._graph.json_inputs[key] = json_input(self._place.types.items, type_ref)

    def connect_functions(self) -> None:
        """Let the functions of the file see those that they require, in this file and in others."""
        for variables, sources in self._visible:
            for source in sources:
                put(variables, source, self._graph.functions[source.key])

    def _decision(self, element: Decision) -> CompiledDecision:
        inputs, decisions, functions = map(self._sources, (element.inputs, element.decisions, element.knowledge))
        names = _names([*inputs, *decisions, *functions])
        self._check_invocations(element.logic, names)
        scope = self._scope.with_names(names)
        table = CompiledTable(element.logic, scope) if isinstance(element.logic, Table) else None
        closure = null if element.logic is None or table is not None else compile_logic(element.logic, scope)
        type_ref = element.variable.type_ref
        return CompiledDecision(
            element,
            self._place.is_camunda,
            inputs,
            decisions,
            functions,
            closure,
            table,
            scope.coercion(type_ref),
            checked_by_camunda(type_ref) if self._place.is_camunda else None,
        )

    def _knowledge(self, key: Key, element: Knowledge) -> Function:
        """A function of a business knowledge model. It sees the functions that it requires, and itself."""
        required = self._sources(element.knowledge)
        own = [Source("", name, key) for name in dict.fromkeys((element.variable.name, element.name))]
        sources = [*required, *own]
        names = _names(sources)
        self._check_invocations(element.function, names)
        scope = self._scope.with_names(names)
        result = self._place.types.result_of(element.variable.type_ref) or element.function.type_ref
        build = compile_function(element.function, scope, result)
        variables: dict[str, Any] = {}
        self._visible.append((variables, sources))
        return build(variables, self._place.is_camunda)

    def _check_invocations(self, logic: Logic | None, names: set[str]) -> None:
        """Refuse what Camunda refuses; in DMN's mode such an invocation gives null."""
        if logic is not None and self._place.is_camunda:
            for text in unknown_functions(logic, (names,)):
                self._place.report.add_problem_at(text.id, text.line, f"no BKM found with name {quote(text.text)}")

    def _sources(self, references: tuple[ElementReference, ...]) -> list[Source]:
        """The variables that references stand for. A function has the name of its variable and its own."""
        found = []
        for key in self._linked.keys(self._resource, references):
            element = self._linked.element(key)
            prefix = self._linked.name_of_import(self._resource, key.resource)
            if isinstance(element, Decision):
                names = [result_name(element, self._linked.files[key.resource].mode)]
            else:
                names = [element.variable.name, element.name]
            found += [Source(prefix, name, key) for name in dict.fromkeys(names) if name]
        return found


def _names(sources: Iterable[Source]) -> set[str]:
    return {source.prefix or source.name for source in sources}
