"""Large bodies, taken apart in a compute process. It imports this module, and little else."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from vivero.api.http.decoding import any_decoder, as_variables, decode_json, encode_value
from vivero.api.http.problems import Problem
from vivero.api.settings import ApiSettings
from vivero.storage.state.normal_form import normal_bytes

VARIABLES = "variables"
_of_doubles = msgspec.json.Decoder(object)
_IS_SPELLED_OTHERWISE = re.compile(rb"[:,\[{]\s|[0-9][eE]|\.[0-9]*0[,\]}]|[0-9.]{18}|-0[,\]}]")
"""White space, exponents, needless zeros, and more digits than a double has: `encode_value` does not write them."""
_LOOKED_AT = 1_000
"""Bytes that tell how the rest is spelled, in most bodies."""


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
        document, variables = _decoded(body, settings.max_nesting), None
        if isinstance(document, dict) and isinstance(document.get(VARIABLES), dict):
            variables = {name: bytes(value) for name, value in as_variables(document[VARIABLES], settings).items()}
            document[VARIABLES] = {}
        return Split(encode_value(document), variables)
    except Problem as problem:
        return Split(problem=(problem.status, problem.title, problem.detail))


def _decoded(body: bytes, max_nesting: int) -> Any:
    """The document, whose numbers keep all of their digits. Raises Problem 400.

    Doubles are decoded several times as fast as decimals. They have lost nothing if they are encoded as they were sent.
    """
    if not _IS_SPELLED_OTHERWISE.search(body, 0, _LOOKED_AT):
        with suppress(Problem, ArithmeticError):
            document = decode_json(body, _of_doubles, max_nesting)
            if encode_value(document) == body:
                return document
    return decode_json(body, any_decoder, max_nesting)


def canonical(body: bytes, left_out: Collection[str]) -> bytes:
    """A JSON body in normal form: white space, order and the spelling of values do not distinguish requests."""
    return normal_bytes(body, left_out) if body.strip() else b"{}"
