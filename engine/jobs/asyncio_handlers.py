"""asyncio functions under trio-asyncio.

Importing this module patches asyncio. It is loaded when an asyncio function is registered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import trio_asyncio


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
