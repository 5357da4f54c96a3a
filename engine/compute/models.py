"""Files of deployments, read without keeping the event loop from others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
import trio

from vivero.core.bpmn.packing import Packed, parse_and_pack, unpack
from vivero.core.bpmn.parser import Parsed, parse
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import CannotWork, TooCostly
from vivero.engine.compute.turns import WorkKind

log = structlog.get_logger(__name__)

SMALL_BYTES = 16 * 1024
"""Files up to this size are read at once: that takes a few milliseconds, less than a trip to another process."""
URGENT_BYTES = 32 * 1024
"""The same for a file that a partition waits for, because the start of a compute process takes longer."""

ReadModel = Callable[[bytes, str, bool], Awaitable[Parsed]]
"""Reads a BPMN file: its content, its name, and whether a partition waits for it."""


class UnreadableModel(Exception):
    """The file takes more CPU time or memory than a compute process may use."""


async def read_here(content: bytes, name: str, _urgent: bool = False) -> Parsed:
    """Read a BPMN file in the event loop."""
    await trio.lowlevel.checkpoint()
    return parse(content, name)


def model_reader(pool: ComputePool, limits: XmlLimits = LIMITS) -> ReadModel:
    """Reads small files at once, and others in a compute process. If there can be none, a partition does not wait for
    that: its file is read in a thread, which delays others.

    Raises (when it reads): UnreadableModel; NotComputed.
    """

    async def read(content: bytes, name: str, urgent: bool) -> Parsed:
        if len(content) <= (URGENT_BYTES if urgent else SMALL_BYTES):
            await trio.lowlevel.checkpoint()
            return parse(content, name, limits)
        kind = WorkKind.ENGINE if urgent else WorkKind.MODELS
        try:
            packed = await pool.call(kind, parse_and_pack, content, name, limits, patience_s=float("inf"))
        except TooCostly as error:
            raise UnreadableModel(f"reading it takes {error}") from error
        except CannotWork as error:
            if not urgent:
                raise
            log.warning("a model is read in a thread", sha256=name, detail=str(error))
            return await trio.to_thread.run_sync(parse, content, name, limits)
        return await unpacked(packed)

    return read


async def unpacked(packed: Packed) -> Parsed:
    """The parsed file. Other tasks get their turn after each chunk."""
    await trio.lowlevel.checkpoint()
    for parsed in unpack(packed):
        if parsed is not None:
            return parsed
        await trio.lowlevel.checkpoint()
    raise AssertionError("the last item is the parsed file")
