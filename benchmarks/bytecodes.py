"""Executed bytecodes of a thread, by function and by package: a measure of work that does not depend on the machine."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import trio

import vivero

PACKAGES = ("core", "storage", "engine", "api")
BY_CLOCK = ("api/http1/state.py", "api/serving/server.py")
"""Their tasks run a few times a second: they cost an instance the more, the slower the machine is."""
_ROOT = f"{Path(vivero.__file__).parent}/"
_LIBRARIES = "site-packages/"


class Bytecodes:
    """Executed bytecodes of this thread, and calls, by function. `everywhere`: those of libraries count, too.

    Each continuation of a coroutine or a generator is a call.
    """

    def __init__(self, everywhere: bool = False) -> None:
        self.executed: Counter[CodeType] = Counter()
        self.calls: Counter[CodeType] = Counter()
        self._everywhere = everywhere
        self._counts: dict[str, bool] = {}

    @property
    def counts(self) -> Counter[str]:
        """The bytecodes of each package of ours."""
        found: Counter[str] = Counter()
        for code, executed in self.executed.items():
            if (package := _package(code.co_filename)) is not None:
                found[package] += executed
        return found

    def clear(self) -> None:
        """Forget what was counted until now."""
        self.executed.clear()
        self.calls.clear()

    @contextmanager
    def counted(self) -> Generator[None]:
        """A block whose bytecodes count. Frames that run already do not."""
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)

    def table(self, instances: int, most: int) -> list[str]:
        """The functions with the most bytecodes: bytecodes and calls an instance, place and name of each."""
        lines = [f"{'bytecodes':>10} {'calls':>7}  function"]
        lines += [
            f"{executed / instances:10,.1f} {self.calls[code] / instances:7.2f}  {name_of(code)}"
            for code, executed in self.executed.most_common(most)
        ]
        return lines

    def calls_of(self, name: str) -> int:
        """The calls of a function, which has this name in the table."""
        return sum(calls for code, calls in self.calls.items() if name_of(code) == name)

    def _called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        if not self._is_counted(code.co_filename):
            return None
        counts = self.executed
        self.calls[code] += 1
        frame.f_trace_lines, frame.f_trace_opcodes = False, True

        def executed(_frame: FrameType, event: str, _argument: object) -> Any:
            if event == "opcode":
                counts[code] += 1
            return executed

        return executed

    def _is_counted(self, file: str) -> bool:
        if file not in self._counts:
            self._counts[file] = self._everywhere or _package(file) is not None
        return self._counts[file]


def name_of(code: CodeType) -> str:
    """The place of a function, from its package on, and its name: `api/app.py _serve`."""
    file = code.co_filename.removeprefix(_ROOT).rpartition(_LIBRARIES)[2]
    return f"{file} {code.co_qualname}"


def _package(file: str) -> str | None:
    """The package of ours that a file belongs to; None for other files, and for tasks that run by the clock."""
    name = file.removeprefix(_ROOT)
    package = name.split("/")[0]
    return package if package in PACKAGES and name not in BY_CLOCK else None


class LoopCounts(trio.abc.Instrument):
    """The steps of tasks, the turns and the new tasks of an event loop."""

    def __init__(self) -> None:
        self.steps = self.turns = self.tasks = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.steps += 1

    def after_io_wait(self, timeout: float) -> None:
        self.turns += 1

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self.tasks += 1
