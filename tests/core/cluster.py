"""Several partitions in memory, with inboxes between them. One seed decides in which order the inboxes deliver.

Commands of one source arrive at a target in their order, as with rows of the table `inbox`. Nothing else is in order.
"""

from collections import deque
from random import Random

import msgspec

from tests.core.bench import Bench, keep_ended, keep_rows
from vivero.engine.core.homes import HOMES
from vivero.engine.core.memory import MemoryEngine
from vivero.engine.core.needs import NeedKind
from vivero.engine.core.records.base import PARTITION_SHIFT
from vivero.engine.core.routes import Routes, spread
from vivero.engine.core.state.message_channels import Starts
from vivero.engine.core.step import DEFAULT_LIMITS

MOST_DELIVERIES = 200_000


class Partition(MemoryEngine):
    """One partition of a cluster. Its catalogue is a copy of partition 1's."""

    def __init__(self, cluster, number, limits) -> None:
        super().__init__(limits, number)
        self.cluster = cluster
        self.before = number << PARTITION_SHIFT
        self.processor.set_routes(cluster.routes)

    def _supply(self, need):
        if need.kind is NeedKind.USAGE:
            others = (one.state.catalogue.usage.get(need.key) for one in self.cluster.engines if one is not self)
            self.state.running_elsewhere[need.key] = sum(usage.running for usage in others if usage is not None)
            return
        super()._supply(need)

    def copy_catalogue(self, source):
        """Take over what partition 1 has deployed or deleted."""
        mine, theirs = self.state.catalogue, source.state.catalogue
        mine.definitions = {key: _copy(row) for key, row in theirs.definitions.items()}
        mine.families = {
            name: {version: mine.definitions[row.key] for version, row in family.items()}
            for name, family in theirs.families.items()
        }
        mine.starts = Starts()
        for row in theirs.starts.rows.values() if theirs.starts else ():
            mine.starts.add(_copy(row))
        self._resources = source._resources


def _copy(row):
    return type(row)(**{name: getattr(row, name) for name in type(row).__struct_fields__})


class Cluster:
    """Takes the place of the engine in a `Bench`. New work begins in the partition `at`."""

    def __init__(self, partitions, seed, limits=DEFAULT_LIMITS, at=1) -> None:
        self.routes = Routes(1, partitions, spread(partitions))
        self.random = Random(seed)
        self.engines = [Partition(self, number, limits) for number in self.routes.all]
        self.at = at
        self.inboxes = {}
        """Commands on their way, by (source, target)."""
        self.answers = {}
        """Outcomes by the position of the request: (rejection, response), the first one."""
        self.delivered = 0
        """How many commands another partition has sent."""

    def __getitem__(self, partition) -> Partition:
        return self.engines[partition - 1]

    @property
    def state(self):
        return self[self.at].state

    @property
    def processor(self):
        return self[self.at].processor

    @property
    def log(self):
        return [logged for engine in self.engines for logged in engine.log]

    @property
    def now(self):
        return self.engines[0].now

    @now.setter
    def now(self, now):
        for engine in self.engines:
            engine.now = now

    def deploy(self, content, name="process.bpmn", tenant="<default>"):
        reply = self[1].deploy(content, name, tenant)
        self._take_catalogue()
        return reply

    def run(self, command, tenant="<default>", at=None):
        """Handle a command and all that follows from it. Its outcome, wherever it was handled."""
        position = self.send(command, tenant, at)
        self.settle()
        return self.outcome(position)

    def send(self, command, tenant="<default>", at=None):
        """Handle a command in the partition `at`, by default in its home. What follows is on its way. The position."""
        partition = at or HOMES[type(command)](command, tenant, self.routes) or self.at
        return self.handle(partition, command, tenant, None)

    def outcome(self, position):
        """The first row, with the answer that the client gets."""
        engine = self[position >> PARTITION_SHIFT]
        first = engine.log[position - engine.before - 1].handled[0]
        rejection, response = self.answers.get(position, (None, None))
        return msgspec.structs.replace(first, rejection=rejection, response=response)

    def settle(self):
        """Deliver all that is on its way, in a random order."""
        for _ in range(MOST_DELIVERIES):
            if not self.deliver():
                return
        raise AssertionError("the partitions go on without end")

    def deliver(self):
        """Deliver one command; False if none is on its way."""
        waiting = sorted(way for way, inbox in self.inboxes.items() if inbox)
        if not waiting:
            return False
        source, target = self.random.choice(waiting)
        self.delivered += source != target
        self.handle(target, *self.inboxes[source, target].popleft())
        return True

    def handle(self, partition, command, tenant, request):
        engine = self[partition]
        rows = engine.handle(command, tenant, request)
        position = engine.log[-1].position
        for row in rows:
            rejected = row.rejection is not None and row.seq == 0 and row.request is None
            if row.answered or rejected:
                self.answers.setdefault(row.request or position, (row.rejection, row.response))
        notices = engine.processor.notices
        for one in notices.to_inbox:
            self.inboxes.setdefault((partition, one.partition), deque()).append((one.command, one.tenant, one.request))
        notices.to_inbox.clear()
        if partition == 1:
            self._take_catalogue()
        return position

    def _take_catalogue(self):
        for engine in self.engines[1:]:
            engine.copy_catalogue(self[1])


class ClusterBench(Bench):
    """A bench on a cluster. What it tells of elements is of the partition `at`; its rows are those of all."""

    def __init__(self, partitions=4, seed=0, limits=DEFAULT_LIMITS, at=2) -> None:
        self.engine = self.cluster = Cluster(partitions, seed, limits, at)
        self.cluster.now = 1_000
        self.rows, self.ended = {}, {}
        self.limits, self.keeps_rows = limits, True
        self.state = self.cluster.state
        for engine in self.cluster.engines:
            keep_rows(engine.state, self.rows)
            keep_ended(engine.state, self.ended)

    def open(self):
        """What is open in any partition: elements, timers of elements, subscriptions, channels, starts under way."""
        found = {}
        for engine in self.cluster.engines:
            state = engine.state
            found["elements"] = found.get("elements", 0) + len(state.elements)
            found["waits"] = found.get("waits", 0) + len(state.subscriptions)
            for channel in state.channels.values():
                found["subscriptions"] = found.get("subscriptions", 0) + len(channel.subscriptions)
                found["locks"] = found.get("locks", 0) + len(channel.locks)
        return {name: count for name, count in found.items() if count}
