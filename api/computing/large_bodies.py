"""Large bodies are decoded in a compute process, and their variables encoded: requests of others go on meanwhile.

The compute process checks everything that a decoder of variables would. It gives the variables as the command needs
them, and the rest of the body, which is decoded here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from vivero.api.computing.split_bodies import canonical, split
from vivero.api.computing.turns import computed
from vivero.api.http.decoding import LARGE_BYTES, as_variables, check_count, decode, decode_json, decode_optional
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.core.records.base import Variables
from vivero.engine.compute.turns import WorkKind

T = TypeVar("T", bound=msgspec.Struct)


class EncodedVariables(dict[str, Any]):
    """The variables of a large body: checked, each value as compact JSON."""


async def body_of(request: Request, services: Services, decoder: msgspec.json.Decoder[T]) -> T:
    """The body of a request that must have one. Raises Problem 400, 503."""
    if len(request.body) < LARGE_BYTES:
        return decode(request, decoder, services.settings)
    return await _large(request, services, decoder)


async def optional_body_of(request: Request, services: Services, decoder: msgspec.json.Decoder[T]) -> T:
    """The body of a request; a missing body counts as {}. Raises Problem 400, 503."""
    if len(request.body) < LARGE_BYTES or not request.body.strip():
        return decode_optional(request, decoder, services.settings)
    return await _large(request, services, decoder)


def variables_of(services: Services, values: Mapping[str, Any] | None) -> Variables:
    """The variables of a command, each value as compact JSON. Raises Problem 400."""
    if isinstance(values, EncodedVariables):
        return {name: msgspec.Raw(value) for name, value in values.items()}
    return as_variables(values, services.settings)


async def canonical_of(body: bytes, services: Services, left_out: Collection[str] = ()) -> bytes:
    """A JSON body in normal form (`split_bodies.canonical`). Raises Problem 503."""
    if len(body) < LARGE_BYTES:
        return canonical(body, left_out)
    return await computed(services, WorkKind.BODIES, canonical, body, tuple(left_out))


async def _large(request: Request, services: Services, decoder: msgspec.json.Decoder[T]) -> T:
    parts = await computed(services, WorkKind.BODIES, split, request.body, services.settings)
    if parts.problem is not None:
        raise Problem(*parts.problem)
    check_count(parts.rest)
    body = decode_json(parts.rest, decoder, services.settings.max_nesting)
    if parts.variables is None:
        return body
    return msgspec.structs.replace(body, variables=EncodedVariables(parts.variables))
