"""The models of a node: the cache of definitions, and the compute processes that read files for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.core.bpmn.reading.xml import LIMITS
from vivero.core.dmn import read_decisions
from vivero.core.resources.decisions import limits_of_decisions
from vivero.engine.compute.models import model_reader
from vivero.engine.compute.pool import ComputePool
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.supervision.children import Child
from vivero.node.connections import Pools
from vivero.node.part import NodePart


class NodeModels(NodePart):
    """Turns files into models, within `limits`."""

    def __init__(self, config: Config, pools: Pools) -> None:
        self.limits = replace(LIMITS, feel=config.feel.limits)
        self.compute = ComputePool(config.compute, config.processes)
        reader = model_reader(self.compute, self.limits)
        self.definitions = DefinitionCache(
            pools.reads.connection,
            config.definitions,
            reader,
            partial(read_decisions, limits=limits_of_decisions(self.limits)),
            evaluates=config.has_role(Role.ENGINE),
        )

    def children(self) -> Iterator[Child]:
        """The task that keeps the compute processes."""
        yield Child("compute", self.compute.run)

    def figures(self) -> Iterator[object]:
        yield self.definitions
        yield self.compute

    async def close(self) -> None:
        await self.compute.close()
