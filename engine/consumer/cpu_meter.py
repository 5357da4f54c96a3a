"""The CPU time of one task's steps, and whether a step runs now. Used only while a command is tried alone."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from time import process_time, thread_time
from typing import Any, TypeVar

T = TypeVar("T")


class CpuMeter:
    """Adds up the CPU time of a coroutine's own steps, without that of other tasks between them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """The CPU time of all steps that have ended."""
        self._began: float | None = None

    def step_s(self) -> float | None:
        """For other threads: the CPU time of this process since the current step began; None between steps."""
        began = self._began
        return None if began is None else process_time() - began

    @types.coroutine
    def run(self, task: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
        """Run `task`, and measure its steps. Returns its result."""
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
