"""Loads the module with the jobs of the user."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from vivero.engine.jobs.definitions import JobRegistry
from vivero.storage.postgres.startup_problems import StartupProblem

NAME = "vivero_user_jobs"


class BadJobs(StartupProblem):
    """The module of jobs cannot be used; the message says why, and in which line."""


@lru_cache(maxsize=1)
def load(module: str | None) -> JobRegistry:
    """The jobs of a file or of an importable module; none without one.

    Raises:
        BadJobs: there is no such module, it raises, or it defines no usable jobs.
    """
    if module is None:
        return JobRegistry()
    try:
        return JobRegistry.of_module(_imported(module))
    except (Exception, SystemExit) as error:
        raise BadJobs(f"cannot use the jobs of {module}: {_reason(error, module)}") from error


def _imported(module: str) -> ModuleType:
    path = Path(module)
    if path.suffix != ".py":
        return importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    made = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = made
    spec.loader.exec_module(made)
    return made


def _reason(error: BaseException, module: str) -> str:
    """The error, with the last line of the user's file that led to it."""
    text = f"{type(error).__name__}: {error}"
    lines = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == Path(module).name
    ]
    return f"line {lines[-1].lineno}: {text}" if lines else text
