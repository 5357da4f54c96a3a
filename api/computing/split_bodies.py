"""Large bodies, taken apart in a compute process. It imports this module, and little else."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from vivero.api.http.decoding import any_decoder, as_variables, decode_json, encode_value
from vivero.api.http.problems import Problem
from vivero.api.settings import ApiSettings
from vivero.storage.state.normal_form import normal_bytes

VARIABLES = "variables"


class Split(NamedTuple):
    """A large body. `problem`: status, title and detail, if it is wrong."""

    rest: bytes = b""
    """The body with empty variables."""
    variables: dict[str, bytes] | None = None
    """Each value as compact JSON; None if the body has no variables."""
    problem: tuple[int, str, str] | None = None


def split(body: bytes, settings: ApiSettings) -> Split:
    """Check a body, and take out its variables."""
    try:
        document, variables = decode_json(body, any_decoder, settings.max_nesting), None
        if isinstance(document, dict) and isinstance(document.get(VARIABLES), dict):
            variables = {name: bytes(value) for name, value in as_variables(document[VARIABLES], settings).items()}
            document[VARIABLES] = {}
        return Split(encode_value(document), variables)
    except Problem as problem:
        return Split(problem=(problem.status, problem.title, problem.detail))


def canonical(body: bytes, left_out: Collection[str]) -> bytes:
    """A JSON body in normal form: white space, order and the spelling of values do not distinguish requests."""
    return normal_bytes(body, left_out) if body.strip() else b"{}"
