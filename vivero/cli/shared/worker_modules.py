"""The workers in Python files and modules of the user, for the commands that run and check them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from vivero.worker import Worker

NAME = "vivero_user_workers"
USUAL = "worker"
"""The name that is meant if a module has several workers."""


class BadWorkers(Exception):
    """There is no such worker, or its module raises. The message says why, and in which line."""


def load(target: str) -> Worker:
    """The worker in `my_workers.py`, in the module `my_workers`, or named as in `my_workers.py:orders`.

    Raises BadWorkers.
    """
    module, _, name = target.partition(":")
    try:
        found = {key: value for key, value in vars(_imported(module)).items() if isinstance(value, Worker)}
    except (Exception, SystemExit) as error:
        raise BadWorkers(f"cannot use the workers of {module}: {_reason(error, module)}") from error
    if name or USUAL in found:
        worker = found.get(name or USUAL)
    else:
        worker = next(iter(found.values())) if len({id(each) for each in found.values()}) == 1 else None
    if worker is None:
        there = f"its workers are {', '.join(found)}" if found else "it has no object of vivero.worker.Worker"
        lacks = f"no worker '{name}'" if name else "no single worker"
        raise BadWorkers(f"{module} has {lacks}: {there}")
    return worker


def is_target(text: str) -> bool:
    """Whether the text names a Python file or module, and no model."""
    module = text.partition(":")[0]
    return module.endswith(".py") or (Path(module).suffix == "" and not Path(module).exists())


def folder_of(target: str) -> Path:
    """The directory with the code: that of the file, or the one in which the module is looked for."""
    module = target.partition(":")[0]
    return Path(module).resolve().parent if module.endswith(".py") else Path.cwd()


def _imported(module: str) -> ModuleType:
    """The module, which finds what lies beside it as if Python ran it."""
    folder = str(folder_of(module))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    path = Path(module)
    if path.suffix != ".py":
        return importlib.import_module(module)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
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
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame for frame in frames if Path(frame.filename).name == Path(module).name]
    return f"line {lines[-1].lineno}: {text}" if lines else text
