"""Activate elements of an ad-hoc sub-process: for its collection, a request, or the result of its job.

What is given together is one activation. Elements whose flows reach a common node with several incoming flows begin in
one inner instance, so that a join there gets all their tokens (BPMN 2.0.2 §13.3.5); every other one begins in its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vivero.core.bpmn.model import AdHoc, NodeId
from vivero.core.records.ad_hoc import Activation, AdHocActivationsAdded, AdHocFulfilled, ElementToActivate
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.instances import ScopeInterrupted
from vivero.core.rules import MAX_ACTIVATIONS
from vivero.core.shared.variables import texts_of
from vivero.core.state.ad_hoc import AdHocState
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

NEW = AdHocState()
RESUME = ("resume",)

Wanted = tuple[NodeId, dict[str, str]]
"""An element, and its variables as JSON text."""


class Conflict(Exception):
    """Elements that share an inner instance have variables of one name with different values."""


def settings_of(scope: Element, view: View) -> AdHoc:
    settings = view.node(scope).ad_hoc
    assert settings is not None, f"only ad-hoc sub-processes get here: {scope.element}"
    return settings


def progress_of(scope: Element) -> AdHocState:
    return scope.ad_hoc or NEW


def is_open(scope: Element) -> bool:
    """Whether elements can be activated in it."""
    return scope.is_open and not progress_of(scope).fulfilled


def doing(scope: Element) -> str:
    """The begin of messages."""
    return f"Expected to activate activities for ad-hoc sub-process with key '{scope.key}', but"


def unknown(ids: Iterable[str], settings: AdHoc) -> str | None:
    """The end of the message about elements that cannot be activated; None if all can."""
    missing = [id for id in dict.fromkeys(ids) if id not in settings.activatable]
    return f"the given elements [{', '.join(missing)}] do not exist." if missing else None


def activate_given(
    scope: Element, given: Sequence[ElementToActivate], cancel_remaining: bool, view: View, *, repeats: bool = False
) -> Effects:
    """Activate the elements of a command. `repeats`: an element may be given several times.

    Raises:
        Reject: one of them cannot be activated, or they contradict each other.
    """
    settings, ids = settings_of(scope, view), [one.element_id for one in given]
    if not repeats and len(set(ids)) < len(ids):
        raise Reject(RejectionCode.INVALID_ARGUMENT, f"{doing(scope)} duplicate activities were given.")
    if len(progress_of(scope).pending) + len(ids) > MAX_ACTIVATIONS:
        text = f"{doing(scope)} at most {MAX_ACTIVATIONS} elements may wait for their activation."
        raise Reject(RejectionCode.INVALID_ARGUMENT, text)
    wrong = unknown(ids, settings)
    if wrong is not None:
        raise Reject(RejectionCode.NOT_FOUND, f"{doing(scope)} {wrong}")
    try:
        activations = grouped([(one.element_id, texts_of(one.variables)) for one in given], settings)
    except Conflict as conflict:
        raise Reject(RejectionCode.INVALID_ARGUMENT, f"{doing(scope)} {conflict}") from None
    if cancel_remaining and scope.live:
        yield ScopeInterrupted(scope.key, RESUME)
    yield AdHocActivationsAdded(scope.key, activations)


def fulfil(scope: Element, cancel_remaining: bool, others: bool) -> Effects:
    """Nothing more begins. `others`: something in it still runs, which ends first or is waited for."""
    yield AdHocFulfilled(scope.key)
    if others and cancel_remaining:
        yield ScopeInterrupted(scope.key, RESUME)


def check_is_active(scope: Element, message: str) -> None:
    """Raises Reject if nothing can be activated in it."""
    if not is_open(scope):
        raise Reject(RejectionCode.INVALID_STATE, message)


# Groups ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Elements that begin in one inner instance, with their places in the list. `bits`: the nodes that they share."""

    bits: int = 0
    wanted: list[tuple[int, Wanted]] = field(default_factory=list)

    def absorb(self, other: _Group) -> None:
        self.bits |= other.bits
        self.wanted += other.wanted


def grouped(wanted: Sequence[Wanted], settings: AdHoc) -> tuple[Activation, ...]:
    """The activations of elements that are given together, in the order of the first element of each.

    An element that is given twice begins in two inner instances. Raises Conflict.
    """
    groups = [group for round_ in _rounds(wanted) for group in _groups(round_, settings)]
    ordered = sorted(sorted(group.wanted) for group in groups)
    return tuple(_activation([one for _, one in group]) for group in ordered)


def _rounds(wanted: Sequence[Wanted]) -> list[list[tuple[int, Wanted]]]:
    """The elements with their places, so that each round has an element at most once."""
    rounds: list[list[tuple[int, Wanted]]] = []
    times: dict[NodeId, int] = {}
    for place, one in enumerate(wanted):
        number = times[one[0]] = times.get(one[0], -1) + 1
        if number == len(rounds):
            rounds.append([])
        rounds[number].append((place, one))
    return rounds


def _groups(round_: Iterable[tuple[int, Wanted]], settings: AdHoc) -> Iterable[_Group]:
    """Each shared node is examined once, however many elements reach it."""
    group_of: dict[int, _Group] = {}
    into: dict[int, _Group] = {}
    groups: dict[int, _Group] = {}
    for place, one in round_:
        group = groups.setdefault(place, _Group(wanted=[(place, one)]))
        left = settings.activatable[one[0]]
        while left:
            bit = left & -left
            known = group_of.setdefault(bit, group)
            while id(known) in into:
                known = into[id(known)]
            if known is group:
                group.bits |= bit
            else:
                known.absorb(group)
                into[id(group)] = known
                group = known
            left &= ~group.bits
    return [group for group in groups.values() if id(group) not in into]


def _activation(wanted: Sequence[Wanted]) -> Activation:
    variables: dict[str, str] = {}
    for _, values in wanted:
        for name, value in values.items():
            if variables.setdefault(name, value) != value:
                ids = ", ".join(id for id, _ in wanted)
                raise Conflict(f"the elements [{ids}] share an inner instance and set '{name}' to different values.")
    return tuple(id for id, _ in wanted), variables
