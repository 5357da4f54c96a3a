"""Large bodies are decoded, and their variables encoded, in a thread: requests of others go on meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import msgspec
import trio

from vivero.api.decoding import as_variables, decode, decode_optional
from vivero.api.request import Request
from vivero.api.services import Services
from vivero.engine.core.records.base import Variables

T = TypeVar("T")

LARGE_BYTES = 128 * 1024
"""Below this size, a thread would take longer than the work itself keeps others waiting."""


async def body_of(request: Request, services: Services, decoder: msgspec.json.Decoder[T]) -> T:
    """The body of a request that must have one. Raises Problem 400."""
    if len(request.body) < LARGE_BYTES:
        return decode(request, decoder, services.settings)
    return await _in_thread(services, decode, request, decoder, services.settings)


async def optional_body_of(request: Request, services: Services, decoder: msgspec.json.Decoder[T]) -> T:
    """The body of a request; a missing body counts as {}. Raises Problem 400."""
    if len(request.body) < LARGE_BYTES:
        return decode_optional(request, decoder, services.settings)
    return await _in_thread(services, decode_optional, request, decoder, services.settings)


async def variables_of(request: Request, services: Services, values: Mapping[str, Any] | None) -> Variables:
    """The variables of the request's command, each value as compact JSON. Raises Problem 400."""
    if len(request.body) < LARGE_BYTES:
        return as_variables(values, services.settings)
    return await _in_thread(services, as_variables, values, services.settings)


async def _in_thread(services: Services, work: Callable[..., T], *arguments: object) -> T:
    return await trio.to_thread.run_sync(partial(work, *arguments), limiter=services.decoding)
