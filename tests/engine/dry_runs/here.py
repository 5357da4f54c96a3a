"""Compute processes without processes: what would travel to another process and back does so here."""

import pickle

import trio


class Here:
    """Takes the place of a `ComputePool`."""

    def __init__(self) -> None:
        self.calls = 0

    async def call(self, _kind, work, *arguments, patience_s):
        await trio.lowlevel.checkpoint()
        self.calls += 1
        work, arguments = pickle.loads(pickle.dumps((work, arguments)))
        return pickle.loads(pickle.dumps(work(*arguments)))

    async def close(self):
        """Nothing is open."""
