"""Whether a store can be used from here: a probe is written, read and deleted."""

from __future__ import annotations

from uuid import uuid4

import trio

from vivero.engine.documents.stores import ObjectStore, StoreProblem

PROBE = b"vivero doctor"
PROBE_S = 60.0
"""A store that takes longer is as good as away."""


async def probe(objects: ObjectStore) -> None:
    """Write, read and delete an object. Raises StoreProblem."""
    name = f"probe-{uuid4().hex}"
    with trio.move_on_after(PROBE_S) as limit:
        try:
            await _write(objects, name)
            if await objects.read(name, 0, len(PROBE)) != PROBE:
                raise StoreProblem(f"{objects.place}: what was written to {name} is not what is read from it")
        finally:
            await objects.delete(name)
    if limit.cancelled_caught:
        raise StoreProblem(f"{objects.place} does not answer within {PROBE_S:.0f} s")


async def _write(objects: ObjectStore, name: str) -> None:
    writer = await objects.writer(name)
    try:
        await writer.write(PROBE)
        await writer.finish(trio.lowlevel.checkpoint)
    finally:
        await writer.close()
