"""Imports the code of a command. Imports take most of the time of a start."""

from __future__ import annotations

import gc
import importlib
import sys
from types import ModuleType

SERVER = "vivero.cli.server.up"


def load(name: str) -> ModuleType:
    """The module of this name.

    The collector rests meanwhile, and skips what the import has made: modules stay as long as the program.
    """
    if name in sys.modules:
        return sys.modules[name]
    collects = gc.isenabled()
    gc.disable()
    try:
        if name == SERVER:
            _import_structlog_alone()
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collects:
            gc.enable()


def _import_structlog_alone() -> None:
    """structlog imports rich where it finds it, to draw tracebacks. Ours are plain, and the server draws nothing."""
    if not {"structlog", "rich"} & sys.modules.keys():
        sys.modules["rich"] = None  # type: ignore[assignment]  # so the import of rich fails
        try:
            import structlog  # noqa: F401
        finally:
            del sys.modules["rich"]
