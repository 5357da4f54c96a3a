"""The flow scopes in which a modification activates elements: live ones, and new ones, which begin without start event.

A new scope is planned before it exists. Its events are subscribed to at once, so that the whole modification is refused
if one of their expressions cannot be evaluated. They see the variables that the modification sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import NamedTuple

from vivero.core.bpmn.elements.ad_hoc import INNER_TYPE
from vivero.core.bpmn.model import Node, NodeId
from vivero.core.events import subscriptions
from vivero.core.modifications.problems import AMBIGUOUS, MULTI_INSTANCE, NO_ANCESTOR, Impossible
from vivero.core.records.ad_hoc import AdHocActivationsTaken
from vivero.core.records.effects import Effect, Enter
from vivero.core.records.instances import ElementActivated, ElementActivating, VariableSet
from vivero.core.records.modifications import VariableInstruction
from vivero.core.shared.flows import enter
from vivero.core.shared.variables import set_in, texts_of
from vivero.core.state.instance_tree import ACTIVATED, ACTIVATING, Element, Instance, Variable
from vivero.core.view import View

Place = tuple[str, bool]
"""The id of a scope, and whether it is an inner instance of a loop."""


AT_ONCE = 1_000
"""Activations without new scopes and variables that happen in the same quantum as the checks, and in their order.
Further ones follow in later quanta. Their scopes do not complete before."""


class Level(NamedTuple):
    """A scope around an element, in the model. `inner`: an inner instance of a loop, and not its body."""

    node: Node
    inner: bool

    @property
    def place(self) -> Place:
        return self.node.id, self.inner

    def matches(self, element: Element) -> bool:
        return element.element == self.node.id and element.is_inner is self.inner


def levels_around(target: Node, nodes: Mapping[NodeId, Node]) -> list[Level]:
    """The scopes around an element below its process, the outermost first."""
    found: list[Level] = []
    node = target
    while node.scope is not None and nodes[node.scope].scope is not None:
        node = nodes[node.scope]
        found.append(Level(node, node.loop is not None))
        if node.loop is not None:
            found.append(Level(node, False))
    return found[::-1]


class Scopes:
    """The scopes of an instance, as the modification leaves them; `effects` are what it does so far."""

    def __init__(self, instance: Instance, nodes: Mapping[NodeId, Node], view: View) -> None:
        self.effects: list[Effect] = []
        self.used: dict[int, Element] = {}
        """The live scopes in which something begins, by key."""
        self.latest: Element | None = None
        """The live scope that the latest activation uses; None: it uses a planned one."""
        self._instance, self._nodes, self._view = instance, nodes, view
        self._levels: dict[str, list[Level]] = {}
        self._planned: dict[int, Element] = {}
        """New scopes, and copies of live ones with the variables that are set."""
        self._inside: dict[int, dict[Place, list[Element]]] = {}
        """Live elements and new scopes: by the key of the scope around them, and by their places. A scope may have
        thousands, and thousands may be activated in it."""
        self._around: dict[tuple[int, str, str, bool], dict[int, Element]] = {}
        """Inner instances of ad-hoc sub-processes that have a scope of a certain place: by the key of the ad-hoc
        sub-process, their id and that place."""
        self.planned = 0
        """The number of activations so far that make new scopes or set variables."""
        self._plain: dict[tuple[str, int | None], Element] = {}
        """The scope of others, by target and ancestor, until a new scope makes another choice possible."""
        self._at_once = AT_ONCE
        """The number of further activations that happen in this quantum."""
        self._later: dict[tuple[int, str], int] = {}
        """The number of activations that follow later, by scope and target."""
        self._begun: set[int] = set()
        """Ad-hoc sub-processes that know that something in them has begun."""

    def activate(
        self, target: Node, ancestor: Element | None, variables: Sequence[VariableInstruction], times: int = 1
    ) -> int:
        """Activate an element in a live scope, up to so many times, or once in new scopes. Returns how often.

        `ancestor`: all scopes below it are new.

        Raises:
            Impossible: there is no such scope, or it is not clear which one.
            Fail: an expression of an event of a new scope cannot be evaluated.
        """
        place = target.id, None if ancestor is None else ancestor.key
        if not variables and place in self._plain:
            return self._enter(target, self._plain[place], times)
        levels = self._levels.get(target.id)
        if levels is None:
            levels = self._levels[target.id] = levels_around(target, self._nodes)
        scope, missing = self._chosen(target, levels, ancestor)
        for level in missing:
            if level.node.loop is not None:
                raise Impossible(MULTI_INSTANCE.format(level.node.id))
        if scope.state is ACTIVATED:
            self.used[scope.key] = scope
        if not (missing or variables):
            self._plain[place] = scope
            return self._enter(target, scope, times)
        self.latest = scope if scope.state is ACTIVATED else None
        self.planned += 1
        self._plain.clear()
        new = []
        for level in missing:
            scope = self._plan(level.node, scope)
            new.append(scope)
        on_target = self._set_variables(target, scope, variables)
        for one in new:
            self._begin(one)
        for entered in enter(target, scope, self._view):
            self.effects.append(entered)
            assert isinstance(entered, ElementActivating), "an element is entered by one event"
            self.effects += (VariableSet(self._view.key(), entered.key, *one) for one in on_target.items())
        return 1

    def _enter(self, target: Node, scope: Element, times: int) -> int:
        """Activate an element in a live or planned scope, at once, or later if there are many."""
        self.latest = scope if scope.state is ACTIVATED else None
        at_once = min(times, self._at_once)
        self._at_once -= at_once
        for _ in range(at_once):
            self.effects.extend(enter(target, scope, self._view))
        if times > at_once:
            place = scope.key, target.id
            self._later[place] = self._later.get(place, 0) + times - at_once
        return times

    def later(self) -> Iterable[Enter]:
        """The effects of the activations that follow later."""
        return (Enter(*place, times) for place, times in self._later.items())

    # ---- the choice of a scope

    def _chosen(
        self, target: Node, levels: Sequence[Level], ancestor: Element | None
    ) -> tuple[Element, Sequence[Level]]:
        """The innermost scope that exists or is planned already, and the levels below it that are missing."""
        if ancestor is not None:
            return ancestor, self._below(target, levels, ancestor)
        scope: Element = self._instance
        for number, level in enumerate(levels):
            found = self._candidates(scope, level, levels[number + 1 :])
            if len(found) > 1:
                raise Impossible(AMBIGUOUS.format(target.id))
            if not found:
                return scope, levels[number:]
            (scope,) = found
        return scope, ()

    def _below(self, target: Node, levels: Sequence[Level], ancestor: Element) -> Sequence[Level]:
        if ancestor is self._instance:
            return levels
        for number, level in enumerate(levels):
            if level.matches(ancestor):
                return levels[number + 1 :]
        raise Impossible(NO_ANCESTOR.format(ancestor.key))

    def _candidates(self, scope: Element, level: Level, inside: Sequence[Level]) -> Sequence[Element]:
        """The scopes of a level in which something can begin; two of them if there are more.

        Each activity of an ad-hoc sub-process begins in an inner instance of its own. One is taken if it has the next
        scope already.
        """
        if level.node.type != INNER_TYPE:
            return self.at(scope, level)
        if not inside:
            return ()
        place = scope.key, level.node.id, *inside[0].place
        if place not in self._around:
            self._around[place] = {one.key: one for one in self.at(scope, level) if self.at(one, inside[0])}
        return tuple(islice(self._around[place].values(), 2))

    def at(self, scope: Element, level: Level) -> Sequence[Element]:
        """The live and the new elements of a level in a scope."""
        return self._inside_of(scope).get(level.place, ())

    def _inside_of(self, scope: Element) -> dict[Place, list[Element]]:
        found = self._inside.get(scope.key)
        if found is None:
            found = self._inside[scope.key] = {}
            for one in scope.children.values():
                if one.state is ACTIVATED and one.then is None:
                    found.setdefault((one.element, one.is_inner), []).append(one)
        return found

    # ---- new scopes

    def _plan(self, node: Node, around: Element) -> Element:
        """A new scope, which enters with its presets, and without mappings."""
        view, scope, key = self._view, self._with_variables(around), self._view.key()
        element = Element(
            *(key, node.id, node.type, ACTIVATING, scope.tree, scope.instance, scope, (key, *scope.path), view.now),
            label=node.name,
            node=node,
        )
        self._planned[key] = element
        place = node.id, element.is_inner
        self._inside_of(scope).setdefault(place, []).append(element)
        if scope.scope is not None:
            self._around.get((scope.scope.key, scope.element, *place), {})[scope.key] = scope
        self.effects.append(ElementActivating(key, scope.key, node.id, node.type, (), -1, node.name))
        presets = {name: view.expressions.json_of(value) for name, value in node.presets.items()}
        if node.type == INNER_TYPE:
            presets |= self._begin_ad_hoc(scope)
        elif node.ad_hoc is not None:
            self._note_begun(element)
        self._set(element, presets)
        return element

    def _begin_ad_hoc(self, scope: Element) -> dict[str, str]:
        """Presets of an inner instance of an ad-hoc sub-process, which learns that one has begun."""
        settings = self._view.node(scope).ad_hoc
        assert settings is not None, f"only ad-hoc sub-processes have inner instances: {scope.element}"
        self._note_begun(scope)
        return {} if settings.result is None else {settings.result: "null"}

    def _note_begun(self, scope: Element) -> None:
        if (scope.ad_hoc is None or not scope.ad_hoc.begun) and scope.key not in self._begun:
            self._begun.add(scope.key)
            self.effects.append(AdHocActivationsTaken(scope.key, 0))

    def _begin(self, scope: Element) -> None:
        self.effects += (
            *subscriptions.subscribe_own(scope, None, self._view),
            *subscriptions.subscribe_event_sub_processes(scope, self._view),
            ElementActivated(scope.key),
        )

    # ---- variables

    def _set_variables(
        self, target: Node, scope: Element, instructions: Iterable[VariableInstruction]
    ) -> dict[str, str]:
        """Set variables in the scopes that the instructions name. Returns those of the target itself."""
        on_target: dict[str, str] = {}
        for instruction in instructions:
            texts = texts_of(instruction.variables)
            if instruction.scope == target.id:
                on_target |= texts
            else:
                self._set(self._named(instruction.scope, scope), texts)
        return on_target

    def _named(self, id: str, scope: Element) -> Element:
        """The scope of this id around an element, from the inside; an empty one means the process instance."""
        around = scope
        while around is not self._instance and around.key != self._instance.key and around.element != (id or None):
            assert around.scope is not None, "only the process instance has no scope"
            around = around.scope
        return around

    def _set(self, scope: Element, texts: Mapping[str, str]) -> None:
        if not texts:
            return
        planned = self._with_variables(scope)
        for name, value in texts.items():
            event = set_in(planned, name, value, self._view)
            self.effects.append(event)
            planned.variables = {**planned.variables, name: Variable(event.key, planned, name, value)}

    def _with_variables(self, scope: Element) -> Element:
        """The scope as it is after the variables are set: a new one, or a copy of a live one."""
        planned = self._planned.get(scope.key)
        if planned is None:
            planned = self._planned[scope.key] = copy(scope)
            if scope is not self._instance and scope.scope is not None:
                planned.scope = self._with_variables(scope.scope)
        return planned
