"""Compute processes that outlive a test, as those of a program outlive a request: to start one takes 0.3 s of CPU."""

from vivero.engine.compute.compute_process import ComputeProcess
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.settings import ComputeSettings


class KeptProcesses:
    """The idle compute processes of a session, all with the same settings. Pools take one of them before a new one."""

    def __init__(self) -> None:
        self._settings = ComputeSettings()
        self._idle: list[ComputeProcess] = []

    def pool(self) -> ComputePool:
        """A pool of one test, which leaves its processes to the next one when it closes."""
        return ComputePool(self._settings, start=self._begin)

    async def _begin(self, settings: ComputeSettings) -> ComputeProcess:
        while self._idle:
            process = self._idle.pop()
            if process.runs:
                return process
            await ComputeProcess.end(process)
        kept = self._idle

        class Kept(ComputeProcess):
            async def end(self) -> None:
                if self.usable and self.runs:
                    kept.append(self)
                else:
                    await super().end()

        return await Kept.start(settings)

    async def end(self) -> None:
        """End all processes."""
        while self._idle:
            await ComputeProcess.end(self._idle.pop())
