"""The program, in which changes of variables take as long as their names say: for tests of what is too slow.

`crawl`: computes on and on, and gives others of its thread their turns. `block`: computes, and lets nobody else run.
"""

from time import monotonic

import trio

from vivero.cli import main
from vivero.core.records.instances import SetVariables
from vivero.engine.consumer import batch

BLOCKS_S = 600.0
TURN_S = 0.005
compute = batch.compute


def burn(seconds):
    end = monotonic() + seconds
    while monotonic() < end:
        pass


async def slowly(processor, decoded, *others):
    for one in decoded:
        if isinstance(one.command, SetVariables) and one.rejection is None:
            names = repr(one.command)
            while "crawl" in names:
                burn(TURN_S)
                await trio.lowlevel.checkpoint()
            if "block" in names:
                burn(BLOCKS_S)
    return await compute(processor, decoded, *others)


batch.compute = slowly
main()
