"""Signatures of functions: the variables that their parameters name, and the arguments for a job."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from vivero.worker.job import Job
from vivero.worker.outcomes import JobFailed
from vivero.worker.values import Decode, decoder, path_of

Function = Callable[..., Any]
NO_RETRIES = 0
"""Another attempt finds the same variables: a person must help."""
_ABSENT = object()


class BadFunction(TypeError):
    """The function cannot be a worker's: its parameters or their types have no meaning for a job."""


@dataclass(frozen=True, slots=True)
class Variable:
    """The name of a variable that is not the parameter's: `order_id: Annotated[str, Variable("orderId")]`."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that gets a variable. `default`: its value without the variable, if it has one."""

    name: str
    variable: str
    decode: Decode
    takes_null: bool
    default: Any = _ABSENT

    @property
    def is_required(self) -> bool:
        return self.default is _ABSENT and not self.takes_null

    def value(self, job: Job, function: str) -> Any:
        """The argument. A variable that is null counts as missing, unless the type takes null. Raises JobFailed."""
        raw = job.raw_variables.get(self.variable)
        if raw is None or (bytes(raw) == b"null" and not self.takes_null):
            if self.default is not _ABSENT:
                return self.default
            if self.takes_null:
                return None
            state = "missing" if raw is None else "null"
            raise self._failed(f"variable '{self.variable}' is {state}", function)
        try:
            return self.decode(bytes(raw))
        except ValueError as error:
            raise self._failed(f"variable '{self.variable}{path_of(error)}': {error}", function) from error

    def _failed(self, why: str, function: str) -> JobFailed:
        return JobFailed(f"{why} (parameter '{self.name}' of {function})", NO_RETRIES)


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function. `job`: the one that gets the job. `rest`: whether it takes all other variables."""

    function: str
    parameters: Sequence[Parameter]
    job: str | None
    rest: bool
    returned: Any = None
    """The annotation of what it returns."""

    @property
    def fetched(self) -> list[str] | None:
        """The variables that it needs; None: all, also for a function that has only the job."""
        if self.rest or not self.parameters:
            return None
        return [one.variable for one in self.parameters]

    def arguments(self, job: Job) -> dict[str, Any]:
        """The arguments for a job. Raises JobFailed, without retries, for a variable that does not fit."""
        found: dict[str, Any] = {one.name: one.value(job, self.function) for one in self.parameters}
        if self.job is not None:
            found[self.job] = job
        if self.rest:
            named = {one.variable for one in self.parameters}
            found |= {name: value for name, value in job.variables.items() if name not in named | found.keys()}
        return found


def signature_of(function: Function) -> Signature:
    """Raises BadFunction."""
    name = getattr(function, "__qualname__", repr(function)).rpartition("<locals>.")[2]
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        found = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        raise BadFunction(f"the parameters of {name} cannot be read: {error}") from error
    parameters, job, rest = [], None, False
    for one in found.parameters.values():
        kind = hints.get(one.name, Any)
        if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL):
            raise BadFunction(f"{name} gets its arguments by name: '{one}' cannot have one")
        if one.kind is one.VAR_KEYWORD:
            rest = True
        elif kind is Job:
            if job is not None:
                raise BadFunction(f"{name} has two parameters for its job: '{job}' and '{one.name}'")
            job = one.name
        else:
            parameters.append(_parameter(name, one, kind))
    return Signature(name, parameters, job, rest, hints.get("return"))


def _parameter(function: str, found: inspect.Parameter, kind: Any) -> Parameter:
    variable = found.name
    if typing.get_origin(kind) is typing.Annotated:
        variable = next((one.name for one in kind.__metadata__ if isinstance(one, Variable)), variable)
    try:
        decode = decoder(kind)
    except (TypeError, ValueError) as error:  # such as a union of two dataclasses, which JSON cannot tell apart
        raise BadFunction(f"the type of parameter '{found.name}' of {function} has no form in JSON: {error}") from error
    default = _ABSENT if found.default is found.empty else found.default
    return Parameter(found.name, variable, decode, _takes_null(decode), default)


def _takes_null(decode: Decode) -> bool:
    try:
        decode(b"null")
    except ValueError:
        return False
    return True


def returned_names(kind: Any) -> Iterator[str]:
    """The variables that a function sets, as far as its annotation tells them."""
    if typing.get_origin(kind) is typing.Annotated:
        kind = kind.__origin__
    for one in typing.get_args(kind) if typing.get_origin(kind) is not dict else ():
        yield from returned_names(one)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from kind.__struct_encode_fields__
    elif dataclasses.is_dataclass(kind):
        yield from (one.name for one in dataclasses.fields(kind))
    elif hasattr(kind, "model_fields"):
        yield from (one.alias or name for name, one in kind.model_fields.items())
    elif typing.is_typeddict(kind):
        yield from kind.__annotations__
