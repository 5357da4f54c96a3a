"""The client of the REST API for Python programs (docs/client.md), and a smaller one for the command line and workers.

Entry: `typed.synchronous.ViveroClient`, `rest.Client`.
Imports: core, api, config.
"""

from importlib import import_module
from typing import Any

NAMES: dict[str, tuple[str, ...]] = {
    "answers": (
        "ApiError",
        "BadAddress",
        "BadRequest",
        "ClientError",
        "Conflict",
        "NotAllowed",
        "NotFound",
        "NotSendable",
        "OutcomeUnknown",
        "Overloaded",
        "Unavailable",
        "Unreachable",
    ),
    "typed.administration": ("ElementCounts", "Member", "StoredDocument"),
    "typed.asynchronous": ("AsyncBatchHandle", "AsyncInstanceHandle", "AsyncViveroClient"),
    "typed.asynchronous_paging": ("AsyncSearch",),
    "records.filters": ("Where",),
    "typed.outcomes": ("Comment", "Deployment", "NotCompleted", "NotDecided", "QueuedCommand", "StillRunning"),
    "typed.synchronous": ("BatchHandle", "InstanceHandle", "ViveroClient"),
    "typed.synchronous_paging": ("Search",),
}
"""Module → the names that it gives to this package. They are imported at their first use: the command line needs none
of the records. `__init__.pyi` tells them to type checkers."""
_MODULES = {name: module for module, names in NAMES.items() for name in names}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_MODULES))
