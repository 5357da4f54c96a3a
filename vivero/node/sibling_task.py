"""The way to the other processes of the same program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.outcomes.completions import Completions
from vivero.engine.siblings.task import Siblings
from vivero.engine.supervision.children import Child
from vivero.node.engine_tasks import EngineTasks
from vivero.node.part import NodePart


class SiblingTask(NodePart):
    """The task of siblings, which the appender offers commands first. A program of one process has none."""

    def __init__(
        self, config: Config, directory: Path | None, node: str, completions: Completions, engine: EngineTasks
    ) -> None:
        """`directory` has the sockets of the processes; None: there is only one."""
        self._siblings = None
        if directory is not None:
            self._siblings = Siblings(directory, node, completions, engine.appender, engine.view)
            engine.appender.forward_to_sibling = self._siblings.take
        self._runs = config.has_role(Role.API, Role.ENGINE)

    def children(self) -> Iterator[Child]:
        """The task, if there are other processes."""
        if self._siblings is not None and self._runs:
            yield Child("siblings", self._siblings.run)
