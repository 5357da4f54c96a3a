"""Ad-hoc sub-processes: the command that activates elements in them, their events, and the results of their jobs."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended

Activation = tuple[tuple[str, ...], dict[str, str]]
"""Elements (ids) that begin in one inner instance, and its variables (JSON text)."""


class ElementToActivate(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An element of an ad-hoc sub-process, with the variables of its inner instance."""

    element_id: str
    variables: Variables = {}


class ActivateAdHocElements(Command, frozen=True):
    """Activate elements of the ad-hoc sub-process `key`. `cancel_remaining`: after all else in it has ended."""

    intent: ClassVar[str] = "AD_HOC_SUB_PROCESS_INSTRUCTION:ACTIVATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    elements: tuple[ElementToActivate, ...]
    cancel_remaining: bool = False


class AdHocResult(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="adHocSubProcess", tag_field="type"):
    """The decision of the worker of an ad-hoc sub-process. `fulfilled`: nothing more is to be activated.

    `cancel_remaining`: what still runs ends first.
    """

    elements: tuple[ElementToActivate, ...] = ()
    fulfilled: bool = False
    cancel_remaining: bool = False


class AdHocActivationsAdded(Event, frozen=True):
    """These elements are to be activated in the ad-hoc sub-process `scope`, each entry in an inner instance."""

    scope: int
    activations: tuple[Activation, ...]


class AdHocActivationsTaken(Event, frozen=True):
    """The inner instances of the first `count` activations have begun."""

    scope: int
    count: int


class AdHocSecretsLocated(Event, frozen=True):
    """The first job of the ad-hoc sub-process `scope` has this header with the places of secrets in its inputs.

    Later jobs have it, too: inputs are mapped once.
    """

    scope: int
    header: str


class AdHocToolApproved(Event, frozen=True):
    """A person has approved a tool of the ad-hoc sub-process `scope`, which needs an approval once."""

    scope: int
    tool: str


class AdHocFulfilled(Event, frozen=True):
    """The completion condition is true: nothing more begins in the ad-hoc sub-process."""

    scope: int


class AdHocOutputAdded(Event, frozen=True):
    """`value` (JSON text) was appended to the list in the variable `name` of the scope."""

    scope: int
    name: str
    value: str
