"""Compute processes that are busy until they are let go."""

import trio


class HeldCompute:
    """Takes the place of a `ComputePool`. `kinds` are the calls that have come."""

    def __init__(self) -> None:
        self.kinds = []
        self.free = trio.Event()

    async def call(self, kind, work, *arguments, patience_s):
        self.kinds.append(kind)
        await self.free.wait()
        return work(*arguments)
