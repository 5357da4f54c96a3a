"""Runs a handler in its environment: in Trio, in asyncio under trio-asyncio, or in a thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio

from vivero.engine.jobs.definitions import Handler, JobDefinition, RescheduleAt, RescheduleIn, Runs
from vivero.engine.jobs.execution import Execution
from vivero.engine.jobs.parameters import arguments
from vivero.storage.postgres.given_time import patient

Result = RescheduleAt | RescheduleIn | None


class BadResult(TypeError):
    """A handler returned something that is neither None nor RescheduleIn nor RescheduleAt."""


@asynccontextmanager
async def event_loop(definitions: Iterable[JobDefinition]) -> AsyncGenerator[None]:
    """An asyncio event loop for the block, if one of the handlers needs it."""
    if any(each.runs is Runs.ASYNCIO for each in definitions):
        from vivero.engine.jobs import asyncio_handlers

        async with asyncio_handlers.event_loop():
            yield
    else:
        yield


async def call(definition: JobDefinition, execution: Execution, threads: set[str]) -> Result:
    """The handler's result. Raises what the handler raises, `trio.TooSlowError` after its timeout, BadPayload and
    BadResult.

    `threads` has the leases of runs whose threads have not ended.
    """
    limit_s = float("inf") if definition.timeout_s is None else definition.timeout_s
    with trio.fail_after(limit_s) as scope, patient(scope):
        result = await _call(definition, execution, threads)
    if result is not None and not isinstance(result, RescheduleAt | RescheduleIn):
        raise BadResult(f"job '{definition.type}' returned {result!r}; return None, RescheduleIn or RescheduleAt")
    return result


async def _call(definition: JobDefinition, execution: Execution, threads: set[str]) -> Any:
    handler = _with_arguments(definition.handler, execution)
    if definition.runs is Runs.ASYNCIO:
        from vivero.engine.jobs import asyncio_handlers

        return await asyncio_handlers.call(handler, execution)
    if definition.runs is Runs.THREAD:
        # A thread cannot be cancelled. Abandoned, it goes on, and the execution is recovered when its lease is stale.
        work = partial(_in_thread, handler, execution, threads)
        threads.add(execution.lease)
        return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=trio.CapacityLimiter(1))
    return await handler(execution)


def _with_arguments(handler: Handler, execution: Execution) -> Handler:
    """The function with what it takes of the payload. Raises BadPayload."""
    given = arguments(handler, execution.payload)
    return partial(handler, **given) if given else handler


def _in_thread(handler: Handler, execution: Execution, threads: set[str]) -> Any:
    try:
        return handler(execution)
    finally:
        threads.discard(execution.lease)
