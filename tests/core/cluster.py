"""Several partitions in memory, with inboxes between them. One seed decides in which order the inboxes deliver.

Commands of one source arrive at a target in their order, as with rows of the table `inbox`. Nothing else is in order,
unless a cluster is `causal`.
"""

from collections import deque
from dataclasses import replace
from random import Random
from typing import NamedTuple

import msgspec

from tests.core.engine import Engine, keep_ended, keep_rows
from vivero.core.execution.step import DEFAULT_LIMITS
from vivero.core.memory import MemoryEngine
from vivero.core.needs import NeedKind
from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.partitions.routes import Detour, Routes, slot_of, spread
from vivero.core.records.messages import (
    AcknowledgeCorrelation,
    CloseSubscription,
    ConfirmStart,
    OpenSubscription,
    PublishMessage,
    RejectCorrelation,
    ReleaseStart,
)
from vivero.core.records.slots import HeldCommandsSent, SlotsHeld, SlotsMoved, SlotsReleased
from vivero.core.state.message_channels import Starts

MOST_DELIVERIES = 200_000
TO_CHANNELS = (
    *(PublishMessage, OpenSubscription, CloseSubscription),
    *(AcknowledgeCorrelation, RejectCorrelation, ConfirmStart, ReleaseStart),
)


def channel_of(command):
    return (command.offer if hasattr(command, "offer") else command).correlation_key


class Partition(MemoryEngine):
    """One partition of a cluster. Its catalogue is a copy of partition 1's."""

    def __init__(self, cluster, number, limits) -> None:
        super().__init__(limits, number)
        self.cluster = cluster
        self.before = number << PARTITION_SHIFT
        self.refresh()

    def _supply(self, need):
        if need.kind is NeedKind.USAGE:
            others = (one.state.catalogue.usage.get(need.key) for one in self.cluster.engines if one is not self)
            self.state.running_elsewhere[need.key] = sum(usage.running for usage in others if usage is not None)
        elif need.kind is NeedKind.HELD:
            here = self.state.partition
            self.state.held = len(self.cluster.inboxes.get((here, -here), ()))
        else:
            super()._supply(need)

    def refresh(self):
        """Read the routes."""
        detour = self.cluster.detours.get(self.state.partition)
        self.processor.set_routes(replace(self.cluster.routes, detour=detour))

    def copy_catalogue(self, source):
        """Take over what partition 1 has deployed or deleted."""
        mine, theirs = self.state.catalogue, source.state.catalogue
        mine.definitions = {key: _copy(row) for key, row in theirs.definitions.items()}
        mine.families = {
            name: {version: mine.definitions[row.key] for version, row in family.items()}
            for name, family in theirs.families.items()
        }
        mine.forms = {key: _copy(row) for key, row in theirs.forms.items()}
        mine.form_versions = {
            name: {version: mine.forms[row.key] for version, row in versions.items()}
            for name, versions in theirs.form_versions.items()
        }
        mine.generic_resources = {key: _copy(row) for key, row in theirs.generic_resources.items()}
        mine.generic_resource_versions = {
            name: {version: mine.generic_resources[row.key] for version, row in versions.items()}
            for name, versions in theirs.generic_resource_versions.items()
        }
        mine.requirements = {key: _copy(row) for key, row in theirs.requirements.items()}
        mine.requirements_versions = {
            name: {version: mine.requirements[row.key] for version, row in versions.items()}
            for name, versions in theirs.requirements_versions.items()
        }
        mine.decisions = {key: _copy(row) for key, row in theirs.decisions.items()}
        mine.decision_versions = {
            name: {version: mine.decisions[row.key] for version, row in versions.items()}
            for name, versions in theirs.decision_versions.items()
        }
        mine.starts = Starts()
        for row in theirs.starts.rows.values() if theirs.starts else ():
            mine.starts.add(_copy(row))
        self._resources, self.decision_files = source._resources, source.decision_files


def _copy(row):
    return type(row)(**{name: getattr(row, name) for name in type(row).__struct_fields__})


class InboxRow(NamedTuple):
    """`content`: arguments of `Cluster.handle`. `begun` is the time before which all commits were seen."""

    content: tuple
    written: int
    begun: int


class Cluster:
    """Takes the place of the engine in a `Engine`. New work begins in the partition `at`."""

    def __init__(self, partitions, seed, limits=DEFAULT_LIMITS, at=1, causal=False) -> None:
        """`causal`: what is committed before something else is written arrives before it, as in the table."""
        self.routes = Routes(1, partitions, spread(partitions))
        self.random = Random(seed)
        self.causal = causal
        self.time, self.ended = 0, {}
        """The number of handled commands, and what it was after the last one of each partition."""
        self.detours = {}
        """By sender, as in the table `slot_detours`."""
        self.engines = [Partition(self, number, limits) for number in self.routes.all]
        self.at = at
        self.inboxes = {}
        """Commands on their way, by (source, target)."""
        self.answers = {}
        """Outcomes by the position of the request: (rejection, response), the first one."""
        self.sent, self.arrived = {}, {}
        """Commands to channels in the order in which they were sent, and in which they were handled, by source."""
        self.delivered = 0
        """The number of commands that other partitions have sent."""

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
        partition = at or command.home(tenant, self.routes) or self.at
        known = self.routes.revision if at is None else 0
        return self.handle(partition, known, command, tenant, None)

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
        waiting = sorted(way for way, inbox in self.inboxes.items() if inbox and way[1] > 0)
        if self.causal:
            waiting = [way for way in waiting if not self._overtakes(way, waiting)]
        if not waiting:
            return False
        source, target = self.random.choice(waiting)
        self.delivered += source != target
        row = self.inboxes[source, target].popleft()
        self.ended[target] = max(self.ended.get(target, 0), row.written)
        self.handle(target, *row.content)
        return True

    def _overtakes(self, way, waiting):
        """Whether the next command was written after one of another source, for the same target, was committed."""
        first = self.inboxes[way][0]
        return any(self.inboxes[one][0].written <= first.begun for one in waiting if one[1] == way[1])

    def handle(self, partition, known, command, tenant, request):
        """`known`: the revision of the sender's routes. The partition knows at least this one."""
        engine = self[partition]
        if known > engine.state.routes.revision or self.random.random() < 0.5:
            engine.refresh()
        rows = engine.handle(command, tenant, request)
        begun, self.ended[partition] = self.ended.get(partition, 0), self.time + 1
        self.time += 1
        position = engine.log[-1].position
        for row in rows:
            rejected = row.rejection is not None and row.seq == 0 and row.request is None
            if row.answered or rejected:
                self.answers.setdefault(row.request or position, (row.rejection, row.response))
        notices = engine.processor.notices
        forwarded = any(one.command is command for one in notices.to_inbox)
        for one in notices.to_inbox:
            inbox = self.inboxes.setdefault((partition, one.partition), deque())
            content = engine.state.routes.revision, one.command, one.tenant, one.request
            inbox.append(InboxRow(content, self.time, begun))
            own = one.partition == partition or (one.partition < 0 and self._owns(partition, one.command))
            if one.command is not command and isinstance(one.command, TO_CHANNELS) and not own:
                self.sent.setdefault((partition, channel_of(one.command)), []).append(one.command)
        notices.to_inbox.clear()
        if isinstance(command, TO_CHANNELS) and not forwarded:
            self.arrived[id(command)] = len(self.arrived), command  # kept, so that no other command gets its id
        self._take_moves(engine, rows, begun)
        if partition == 1:
            self._take_catalogue()
        return position

    def _take_moves(self, engine, rows, begun):
        """The work of the database when slots move."""
        here = engine.state.partition
        for event in (event for row in rows for event in row.events):
            if isinstance(event, SlotsMoved):
                moved = self.routes.with_owner(event.slots, event.to)
                self.routes = replace(moved, revision=self.routes.revision + 1)
                self.detours |= dict.fromkeys(event.senders, Detour(here, frozenset(event.slots)))
                for place in [place for place in engine.state.channels if slot_of(*place) in event.slots]:
                    self[event.to].state.channels[place] = engine.state.channels.pop(place)
                for (source, _), inbox in self.inboxes.items():
                    if source == here and inbox:  # what the same batch has sent is as new as the move
                        inbox[-1] = inbox[-1]._replace(content=(self.routes.revision, *inbox[-1].content[1:]))
                engine.refresh()
            elif isinstance(event, SlotsHeld):
                self.detours[here] = replace(self.detours[here], held=True)
            elif isinstance(event, HeldCommandsSent):
                self._send_held(here, event.count, begun)
            elif isinstance(event, SlotsReleased):
                self._send_held(here, None, begun)
                del self.detours[here]

    def _send_held(self, here, count, begun):
        held, slot = self.inboxes.get((here, -here), deque()), min(self.detours[here].slots)
        for _ in range(len(held) if count is None else count):
            row = InboxRow(held.popleft().content, self.time, begun)
            self.inboxes.setdefault((here, self.routes.owner_of(slot)), deque()).append(row)

    def _owns(self, partition, command):
        return self.routes.of_channel("<default>", channel_of(command)) == partition

    def check_order(self):
        """Each source's commands to a channel of another partition were handled in their order."""
        for (source, channel), commands in self.sent.items():
            places = [self.arrived[id(command)][0] for command in commands if id(command) in self.arrived]
            assert places == sorted(places), f"commands of partition {source} to {channel} overtook each other"

    def _take_catalogue(self):
        for engine in self.engines[1:]:
            engine.copy_catalogue(self[1])


class ClusterEngine(Engine):
    """An engine on a cluster. What it tells of elements is of the partition `at`; its rows are those of all."""

    def __init__(self, partitions=4, seed=0, limits=DEFAULT_LIMITS, at=2, causal=False) -> None:
        self.memory = self.cluster = Cluster(partitions, seed, limits, at, causal)
        self.cluster.now = 1_000
        self.rows, self.ended, self.files = {}, {}, {}
        self.limits, self.keeps_rows = limits, True
        self.state = self.cluster.state
        for engine in self.cluster.engines:
            keep_rows(engine.state, self.rows)
            keep_ended(engine.state, self.ended)

    def open(self):
        """Open rows of all partitions: elements, their timers, subscriptions, channels, starts under way."""
        found = {}
        for engine in self.cluster.engines:
            state = engine.state
            found["elements"] = found.get("elements", 0) + len(state.elements)
            found["waits"] = found.get("waits", 0) + len(state.subscriptions)
            for channel in state.channels.values():
                found["subscriptions"] = found.get("subscriptions", 0) + len(channel.subscriptions)
                found["locks"] = found.get("locks", 0) + len(channel.locks)
        return {name: count for name, count in found.items() if count}
