"""Compensation: events about completed activities, and about what undoes them. BPMN 2.0.2 §10.7."""

from __future__ import annotations

from vivero.core.records.base import Event


class CompensationRegistered(Event, frozen=True):
    """The activity `element` completes, and may be compensated from now on. Later ones have larger keys.

    `handler`: the boundary event or event sub-process that compensates it. `is_scope`: handlers see its variables.
    """

    key: int
    element: int
    handler: str | None = None
    is_scope: bool = False


class CompensationStarted(Event, frozen=True):
    """`element` begins to compensate the registered activity `key`. The fields from `thrower` on are those of the
    state's `Compensation`.

    `replaces`: it compensates the activity in place of what is registered inside, which it may throw for.
    """

    key: int
    element: int
    thrower: int | None
    scopes: tuple[int, ...]
    inside: tuple[int, ...]
    before: int
    only: str | None = None
    replaces: bool = False


class CompensationHandedOver(Event, frozen=True):
    """The handler `key` goes on with the compensation that its boundary event `element` has begun."""

    key: int
    element: int


class CompensationEnded(Event, frozen=True):
    """Nothing of the registered activity is left to compensate."""

    key: int
