"""The record of a connector's contract: job types, inputs, result, errors, limits, and the code that works its jobs.

A contract is data. Importing it imports no library of a protocol, so that deployments, `vivero validate` and the
documentation read it at no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.util import find_spec


class Kind(StrEnum):
    """The values that an input takes. Numbers, flags and durations may also come as texts."""

    TEXT = "text"
    TEXTS = "list, or text with commas"
    NUMBER = "number"
    FLAG = "true or false"
    DURATION = "duration"
    CONTEXT = "context"
    LIST = "list"
    ANY = "any value"


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a connector. Dots in its name lead into contexts: `data.smtpConfig.smtpHost`."""

    name: str
    kind: Kind = Kind.TEXT
    default: str | int | bool | None = None
    """None: absent is null."""
    choices: tuple[str, ...] = ()
    """The only values, in any case. Empty: every value."""
    required: bool = False


@dataclass(frozen=True)
class Contract:
    """The contract of a connector."""

    name: str
    """Its name for people."""
    types: tuple[str, ...]
    """The job types, the newest first."""
    inputs: tuple[Input, ...]
    result: str
    """The fields that result expressions see."""
    handler: str
    """`module:name` of a `work.calls.Connector`, which is imported when the first job comes."""
    secrets: tuple[str, ...] | None = ()
    """The inputs in which `{{secrets.NAME}}` is replaced, with all below them. None: all. Elsewhere it is text."""
    errors: tuple[str, ...] = ()
    """The codes of errors that only this connector has."""
    limit: str = "connectors.max_call"
    """The setting that limits the time of a call."""
    at_once: int | None = None
    """The jobs that a node works at once. None: `connectors.max_concurrent`."""
    extra: str | None = None
    """The extra of the package that it needs. None: none."""
    modules: tuple[str, ...] = ()
    """The modules that the extra installs."""

    @cached_property
    def fetched(self) -> tuple[str, ...]:
        """The variables that a job is activated with."""
        return tuple(dict.fromkeys(each.name.partition(".")[0] for each in self.inputs))

    @cached_property
    def by_name(self) -> dict[str, Input]:
        return {each.name: each for each in self.inputs}

    @property
    def is_installed(self) -> bool:
        """Whether the modules that it needs are there. Nothing is imported."""
        return all(find_spec(module) is not None for module in self.modules)


@dataclass(frozen=True)
class InboundContract(Contract):
    """The contract of an inbound connector. Its inputs are properties of the element, and `result` is an event.

    `handler` names a `receivers.receiver.Receiver`."""

    starts: bool = True
    """Whether start events may have it."""
    per_wait: bool = False
    """It works for each element instance that waits, of all versions. Otherwise for the latest version alone."""
    ttl_s: float = 3600.0
    """The life of a message whose model names none."""
