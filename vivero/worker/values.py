"""Variables between JSON and Python. msgspec knows most types; those with `model_validate` convert themselves.

Numbers keep all of their digits: `Decimal` comes from a number or a text, and goes out as a number, as FEEL needs it.
Pydantic reads numbers as floats, which have 17 digits; a text keeps all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from vivero.client.results import AdHocDecision, Corrections, Denial, JobCompletion
from vivero.client.values import plain_data
from vivero.worker.failures import described
from vivero.worker.outcomes import JobFailed

Decode = Callable[[bytes], Any]
MAX_PROBLEMS = 5
"""Problems of one value that a message lists."""
RESULTS = "a mapping of variables, an object with fields, None, a Denial, Corrections or an AdHocDecision"


def decoder(type_: Any) -> Decode:
    """The function from JSON to a value of the type. It raises ValueError with path and reason."""
    if hasattr(type_, "model_validate_json"):  # a model of Pydantic, which may be strict, reads JSON itself
        return _decoder_of_model(type_)
    found = msgspec.json.Decoder(type_, dec_hook=_from_plain)

    def decode(raw: bytes) -> Any:
        try:
            return found.decode(raw)
        except msgspec.ValidationError as error:
            reason, _, path = str(error).partition(" - at `$")
            raise _Problem(path.rstrip("`"), reason) from error

    return decode


class _Problem(ValueError):
    """`path`: from the variable to the wrong value, such as `.items[0].price`."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path


def path_of(error: ValueError) -> str:
    """The path from the variable to the value that a decoder has refused."""
    return error.path if isinstance(error, _Problem) else ""


def _decoder_of_model(model: Any) -> Decode:
    def decode(raw: bytes) -> Any:
        try:
            return model.model_validate_json(raw)
        except ValueError as error:
            problems = _problems_of_model(error)
            raise _Problem(problems[0][0], "; ".join(_texts_of(problems))) from error

    return decode


def _texts_of(problems: list[tuple[str, str]]) -> list[str]:
    """The first reason alone, because its path stands before it, and the others with their paths."""
    (_, first), *others = problems[:MAX_PROBLEMS]
    more = [f"{path.lstrip('.')}: {reason}" for path, reason in others]
    left_out = len(problems) - MAX_PROBLEMS
    return [first, *more, *([f"{left_out} more problems"] if left_out > 0 else [])]


def _problems_of_model(error: ValueError) -> list[tuple[str, str]]:
    """The paths and reasons of a Pydantic error."""
    found = getattr(error, "errors", None)
    if found is None:
        return [("", str(error))]
    return [
        ("".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in one["loc"]), str(one["msg"]))
        for one in found()
    ]


def _from_plain(type_: type, value: Any) -> Any:
    """A value of a type that msgspec does not know, inside of one that it knows. Raises ValueError."""
    validate = getattr(type_, "model_validate", None)
    if validate is None:
        raise ValueError(f"`{type_.__name__}` cannot be made from JSON: use a dataclass, a Struct or a Pydantic model")
    try:
        return validate(value)
    except ValueError as error:
        problems = _problems_of_model(error)
        raise ValueError(
            "; ".join(f"{path.lstrip('.')}: {reason}" for path, reason in problems[:MAX_PROBLEMS])
        ) from error


# ------------------------------------------------------------------------------------------------------- results


def completion_of(returned: Any, result: str | None = None) -> JobCompletion:
    """The completion of a job with what its function returned, as plain data. Raises JobFailed.

    `result`: the name of the variable that gets what is returned.
    """
    if isinstance(returned, JobCompletion):
        found = returned
    elif isinstance(returned, Denial | Corrections | AdHocDecision):
        found = returned.completion()
    elif result is not None:
        found = JobCompletion({result: returned})
    else:
        found = JobCompletion({} if returned is None else returned)
    variables = variables_of(found.variables)
    return JobCompletion(variables, None if found.result is None else _plain(found.result, "result"))


def variables_of(given: Any) -> dict[str, Any]:
    """Variables as plain data. Raises JobFailed if they are no mapping, or have no form in JSON."""
    found = _plain(given, "variables")
    if not isinstance(found, dict):
        raise JobFailed(f"the function must return {RESULTS}, but it returned {type(given).__name__}")
    return found


def _plain(value: Any, what: str) -> Any:
    try:
        return plain_data(value)
    except Exception as error:  # also those of the user's classes
        raise JobFailed(f"the {what} of the function cannot be written as JSON: {described(error)}") from error
