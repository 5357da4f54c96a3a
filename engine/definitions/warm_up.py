"""Task: loads models and decisions before they are needed, so that a new leader does not parse files under load.

At the start of a node it loads the models of the definitions with most running instances and the newest files of
decisions, and afterwards each file that any node deploys, while the cache has room. This happens while other nodes
lead, or beside the first commands. No command waits for it.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from vivero.engine.compute.problems import NotComputed
from vivero.engine.definitions.cache import DefinitionCache, UnreadableResource
from vivero.engine.definitions.decisions import Files, UnreadableDecisions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

LOAD_TIMEOUT_S = 120.0
"""The deadline for one file: a connection, the read, and its turn in a compute process, which deployments use, too."""


class WarmUp:
    """The handle of the task; `run` is the child."""

    def __init__(self, definitions: DefinitionCache, done: Callable[[], None] = lambda: None) -> None:
        """`done()` is called when everything that was in use at the start is loaded."""
        self._definitions = definitions
        self._tell_done = done
        self._unreadable: set[str | Files] = set()
        self._deployed = WakeUp()
        self.done = False
        """Whether everything that was in use at the start is loaded."""
        self.loaded = 0
        """Files that the task loaded, for metrics and tests."""

    def deployed(self) -> None:
        """A process or a decision was deployed or deleted, perhaps on another node."""
        self._deployed.set()

    async def run(self, beat: Beat) -> None:
        """Load until cancelled. Raises when PostgreSQL is away; the supervisor restarts it."""
        beat.beat()
        while True:
            await self.run_once(beat)
            if not self.done:
                self.done = True
                self._tell_done()
            await self._deployed.idle(beat)

    async def run_once(self, beat: Beat) -> None:
        """Load what is in use or was deployed lately, and not in the cache."""
        self._deployed.clear()
        with beat.waiting(LOAD_TIMEOUT_S):
            files = await self._definitions.files_to_load()
        for file in [each for each in files if each not in self._unreadable]:
            beat.beat()
            if not self._definitions.fits_another:
                return  # what is loaded ahead must not displace what is used
            with beat.waiting(LOAD_TIMEOUT_S):
                await self._load(file)

    async def _load(self, file: str | Files) -> None:
        """An unreadable file is logged and left out. Its instances get incidents when they are to go on. One that could
        not be read now is loaded when it is needed."""
        try:
            await self._definitions.load(file)
        except (UnreadableResource, UnreadableDecisions) as error:
            self._unreadable.add(file)
            sha256 = file if isinstance(file, str) else file[0]
            log.error("a deployed file can no longer be read", sha256=sha256, problems=describe(error))
        except NotComputed as error:
            log.warning("a model was not loaded ahead", sha256=file, detail=str(error))
        else:
            self.loaded += 1
