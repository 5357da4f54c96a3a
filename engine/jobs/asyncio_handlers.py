"""asyncio functions under trio-asyncio.

Importing this module patches asyncio. It is loaded when an asyncio function is registered.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

_NAMES = ("get_running_loop", "_get_running_loop", "get_event_loop")
_unpatched = {name: getattr(asyncio, name) for name in _NAMES}

import trio_asyncio  # noqa: E402  (it replaces the functions above)


def _patch_libraries() -> None:
    """Give the patched functions to libraries that were imported earlier and had taken the functions by name.

    They would find no running event loop.
    """
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for name, unpatched in _unpatched.items():
            if names.get(name) is unpatched:
                setattr(module, name, getattr(asyncio, name))


_patch_libraries()


def event_loop() -> AbstractAsyncContextManager[Any]:
    """An asyncio event loop for the block."""
    loop: AbstractAsyncContextManager[Any] = trio_asyncio.open_loop()
    return loop


async def call(handler: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Call an asyncio function from Trio. Cancellation, timeouts and context variables are passed on."""
    return await trio_asyncio.aio_as_trio(handler)(*args)


async def call_trio(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Call a Trio function from asyncio."""
    return await trio_asyncio.trio_as_aio(function)(*args)
