"""Parameters of background jobs: the fields of the payload that a function takes, checked when a job is deferred and
when it runs.

@job("send-invoice")
async def send_invoice(execution, invoice: str, amount: Decimal = Decimal(0)): ...

A function that takes the execution alone reads its payload itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import Any, Protocol, get_type_hints

import msgspec

RESERVED = frozenset({"self", "queue", "at", "unique_key", "allow_unknown"})
"""Names that `JobDefinition.defer` has itself."""


class DeferQueue(Protocol):
    """The part of `vivero.transaction.Queue` that defers jobs."""

    def defer(
        self, job_type: str, payload: Any, *, at: datetime | None, unique_key: str | None, allow_unknown: bool
    ) -> int: ...


class BadPayload(ValueError):
    """The payload does not fit the parameters of the function. The message names the field."""


def names_of(handler: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters behind the execution. Raises ValueError for those that no payload can give.

    The first parameter may be `*args`, as in a decorator without `functools.wraps`: it takes the execution.
    """
    parameters = list(inspect.signature(handler).parameters.values())
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise ValueError("the function must take the execution as its first parameter, by position")
    for each in parameters[1:]:
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise ValueError(f"the parameter '{each}' cannot be a field of a payload: name each field")
        if each.name in RESERVED:
            raise ValueError(f"the parameter '{each.name}' cannot be a field of a payload: `defer` has that name")
    return tuple(each.name for each in parameters[1:])


def required_by(handler: Callable[..., Any]) -> tuple[str, ...]:
    """Those without a default. Raises as `names_of` does."""
    found = inspect.signature(handler).parameters
    return tuple(name for name in names_of(handler) if found[name].default is inspect.Parameter.empty)


def payload_of(handler: Callable[..., Any], fields: Mapping[str, Any]) -> Any:
    """The payload with these fields, as plain JSON values; None without any. Raises BadPayload."""
    payload = msgspec.to_builtins(dict(fields))
    if names := names_of(handler):
        for unknown in fields.keys() - set(names):
            near = "".join(f": did you mean '{name}'?" for name in get_close_matches(unknown, names, 1))
            raise BadPayload(f"there is no parameter '{unknown}'{near}")
        arguments(handler, payload)
    return payload or None


def arguments(handler: Callable[..., Any], payload: Any) -> dict[str, Any]:
    """The arguments of the function, from a payload, whose other fields are left out. Raises BadPayload."""
    if not (names := names_of(handler)):
        return {}
    try:
        found = msgspec.convert({} if payload is None else payload, _struct(handler))
    except msgspec.ValidationError as error:
        raise BadPayload(f"the payload does not fit: {error}") from error
    return {name: getattr(found, name) for name in names}


@cache
def _struct(handler: Callable[..., Any]) -> type[msgspec.Struct]:
    """Made at the first use: a module may define a type behind the function that names it."""
    hints = get_type_hints(handler)
    signature = inspect.signature(handler)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name in names_of(handler):
        default = signature.parameters[name].default
        kind = hints.get(name, Any)
        fields.append((name, kind) if default is inspect.Parameter.empty else (name, kind, _default(default)))
    return msgspec.defstruct("Payload", fields, kw_only=True)


def _default(value: Any) -> Any:
    """A mutable default belongs to the function: the struct has the same one, as Python does."""
    return msgspec.field(default_factory=lambda: value)
