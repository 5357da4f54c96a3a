"""A task that stops for good when it is told to, as a child that hangs does. For chaos (docs/supervision.md)."""

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
    """Run `task`; once `frozen_until()` gives an event, do not let it go on after what it waits for, until that is set.

    What it waited for is given to it then all the same: a lock it got in the meantime would else never be released.
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
    with trio.CancelScope(shield=True):  # the timeout that woke the child may not wake it twice
        await thaw.wait()
