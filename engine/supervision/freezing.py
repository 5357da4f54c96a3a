"""A task that stops on request like a child that hangs. Chaos uses it (docs/supervision.md)."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any

import trio


@types.coroutine
def freezable(
    task: Coroutine[Any, Any, None], frozen_until: Callable[[], trio.Event | None]
) -> Generator[Any, Any, None]:
    """Run `task`. Once `frozen_until()` gives an event, the task does not resume before that event is set.

    It then gets the result of its wait all the same. Otherwise a lock that it acquired meanwhile would stay locked.
    """
    resume: Callable[[], Any] = partial(task.send, None)
    while True:
        try:
            trap = resume()
        except StopIteration:
            return
        try:
            resume = partial(task.send, (yield trap))
        except BaseException as error:
            resume = partial(task.throw, error)
        if (thaw := frozen_until()) is not None:
            yield from _frozen(thaw).__await__()


async def _frozen(thaw: trio.Event) -> None:
    with trio.CancelScope(shield=True):  # the timeout that woke the child must not wake it again
        await thaw.wait()
