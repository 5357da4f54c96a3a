"""Answers of other servers, read whole and up to a limit: they may have no end."""

from __future__ import annotations

import anyio
import httpx


async def read_whole(response: httpx.Response, most: int) -> bytes | None:
    """The body of a streamed response; None if it has more bytes than `most`."""
    body = bytearray()
    with anyio.CancelScope() as reading:  # a cancellation ends all generators below
        async for part in response.aiter_bytes():
            body += part
            if len(body) > most:
                reading.cancel()
    return None if len(body) > most else bytes(body)
