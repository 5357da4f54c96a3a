"""How long the steps of one task compute, and whether it computes now. For a task that is under suspicion only."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from time import process_time, thread_time
from typing import Any, TypeVar

T = TypeVar("T")


class CpuMeter:
    """Counts the processor's time of a coroutine's own steps, and not that of others between them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """Of all steps that have ended."""
        self._began: float | None = None

    def step_s(self) -> float | None:
        """For other threads: how long this process has computed in the step that is under way; None: none is."""
        began = self._began
        return None if began is None else process_time() - began

    @types.coroutine
    def run(self, task: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
        """What `task` gives, metered."""
        resume: Callable[[], Any] = partial(task.send, None)
        while True:
            self._began, began = process_time(), thread_time()
            try:
                trap = resume()
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                self._began = None
                self.seconds += thread_time() - began
            try:
                resume = partial(task.send, (yield trap))
            except BaseException as error:
                resume = partial(task.throw, error)
