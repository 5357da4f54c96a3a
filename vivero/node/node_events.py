"""The events that the parts of a node tell each other and other nodes: appends, commits, jobs, timers, the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog

from vivero.api.access.authentication import Authenticator
from vivero.api.activation.long_polls import LongPolls
from vivero.api.admission.command_routing import CommandRouting
from vivero.core.execution.outcomes import Ended
from vivero.engine.appender.task import Appender
from vivero.engine.batch_operations.settings import BATCH_OPERATIONS_PARTITION
from vivero.engine.batch_operations.task import BatchOperations
from vivero.engine.cluster.handovers import Handovers
from vivero.engine.consumer.piggyback import PiggybackedStatement, Subject
from vivero.engine.definitions.warm_up import WarmUp
from vivero.engine.outcomes.completions import Completions
from vivero.engine.timers.task import Changes, Timers
from vivero.node.background import BackgroundJobs
from vivero.node.connector_tasks import ConnectorTasks
from vivero.storage.access.identities import CHANNEL as IDENTITIES
from vivero.storage.access.identities import SESSIONS_ENDED
from vivero.storage.background.job_executions import JOBS_CHANNEL
from vivero.storage.cluster.clock import CLOCK_CHANNEL as CLOCK
from vivero.storage.cluster.nodes import NODES_CHANNEL
from vivero.storage.cluster.routes import ROUTES_CHANNEL as ROUTES
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres import announcer as announcing
from vivero.storage.postgres.announcer import Announcer
from vivero.storage.state.save import DEFINITIONS_CHANNEL as DEFINITIONS
from vivero.storage.work.batch_operations import BATCHES_CHANNEL as BATCHES
from vivero.web.live import Hub

log = structlog.get_logger(__name__)

APPENDED, PROCESSED, AVAILABLE = "vivero_appended", "vivero_processed", "vivero_available"
INBOX = "vivero_inbox"
CHANNELS = (
    *(APPENDED, PROCESSED, AVAILABLE, INBOX, NODES_CHANNEL, DEFINITIONS, CLOCK, IDENTITIES),
    *(JOBS_CHANNEL, ROUTES, BATCHES),
)
"""The channels of NOTIFY between nodes."""


def announce_append(handovers: Handovers, announcer: Announcer, partition: int, position: int) -> None:
    """Tell the consumer of a partition that its log has new rows, on this node or on another."""
    if handovers.leads(partition):
        handovers.wake(partition)
    else:
        announcer.announce(APPENDED, str(partition), position)


class NodeEvents:
    """Passes events on, to the tasks of this node at once and to other nodes through the announcer. Never waits."""

    def __init__(
        self,
        completions: Completions,
        long_polls: LongPolls,
        announcer: Announcer,
        handovers: Handovers,
        appender: Appender,
        timers: Mapping[int, Timers],
        look_at_nodes: Callable[[], None],
        warm_up: WarmUp,
        hub: Hub,
        access: Authenticator | None = None,
        routing: CommandRouting | None = None,
        jobs: BackgroundJobs | None = None,
        connectors: ConnectorTasks | None = None,
        batch_operations: BatchOperations | None = None,
    ) -> None:
        """`timers` by partition. `look_at_nodes()`: something changed about nodes or leaders. `access` is None
        without authentication."""
        self._completions = completions
        self._long_polls = long_polls
        self._announcer = announcer
        self._handovers = handovers
        self._appender = appender
        self._timers = timers
        self._look_at_nodes = look_at_nodes
        self._warm_up = warm_up
        self._hub = hub
        self._access = access
        self._routing = CommandRouting() if routing is None else routing
        self._jobs = jobs
        self._connectors = connectors
        self._batch_operations = batch_operations
        self._unreadable = 0

    # -- from the consumers

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        self._completions.committed(partition, watermark, outcomes, ended)
        self._routing.loads.processed(partition, watermark)
        self._announcer.announce(PROCESSED, str(partition), watermark)
        self._hub.processed(partition, watermark)
        self._follow(partition)
        self._appender.processed(partition)
        self._timers[partition].committed(watermark)

    def available(self, type: str, tenant: str, count: int) -> None:
        self._available(type, tenant, count)
        self._announcer.announce(AVAILABLE, f"{tenant}\n{type}", count)

    def _available(self, type: str, tenant: str, count: int) -> None:
        self._long_polls.available(type, tenant, count)
        if self._connectors is not None:
            self._connectors.available(type, tenant)

    def piggybacked(self, available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
        return self._long_polls.piggybacked(available)

    def inbox_filled(self, partition: int) -> None:
        if self._handovers.leads(partition):
            self._appender.inbox_filled(partition)
        else:
            self._announcer.announce(INBOX, str(partition), 1)

    def timers_changed(self, partition: int, changes: Changes) -> None:
        self._timers[partition].changed(changes)

    def leads(self, partition: int, epoch: int) -> None:
        self._completions.term_began()
        self._timers[partition].term(epoch)
        if self._batch_operations is not None and partition == BATCH_OPERATIONS_PARTITION:
            self._batch_operations.term(epoch)

    # -- from the API of this or another node

    def clock_changed(self) -> None:
        self._long_polls.wake_all()
        self._look_for_jobs()
        for timers in self._timers.values():
            timers.clock_changed()

    # -- from other nodes

    def heard(self, channel: str, payload: str) -> None:
        """Pass on a notification of another node."""
        if channel == DEFINITIONS:
            self._webhooks_outdated()
            self._warm_up.deployed()
        elif channel == NODES_CHANNEL:
            self._look_at_nodes()
        elif channel == CLOCK:
            self.clock_changed()
        elif channel == JOBS_CHANNEL:
            self._look_for_jobs()
        elif channel == BATCHES:
            self._look_for_batch_operations()
        elif channel == IDENTITIES:
            self._identities_changed(payload)
        elif channel == ROUTES:
            self._routing.outdated()
        else:
            self._announced(channel, payload)

    def _webhooks_outdated(self) -> None:
        if self._connectors is not None:
            self._connectors.deployed()

    def _look_for_jobs(self) -> None:
        if self._jobs is not None:
            self._jobs.look()
        if self._connectors is not None:
            self._connectors.look()

    def _look_for_batch_operations(self) -> None:
        if self._batch_operations is not None:
            self._batch_operations.look()

    def _follow(self, partition: int) -> None:
        """Tell the consumers of events that a partition has new ones."""
        if self._jobs is not None:
            self._jobs.committed(partition)

    def _identities_changed(self, payload: str) -> None:
        """Long polls end with a change of rights only: people sign out all day."""
        if payload != SESSIONS_ENDED:
            self._forget_callers()
        elif self._access is not None:
            self._access.forget_sessions()

    def _forget_callers(self) -> None:
        if self._access is not None:
            self._access.forget()
            self._long_polls.end_waits()

    def _announced(self, channel: str, payload: str) -> None:
        announced = announcing.decode(payload)
        if announced is None:
            self._count_unreadable(payload)
            return
        for key, value in announced.items():
            if channel == APPENDED:
                self._handovers.wake(int(key))
            elif channel == PROCESSED:
                self._routing.loads.processed(int(key), value)
                self._completions.processed(int(key), value)
                self._follow(int(key))
                self._hub.processed(int(key), value)
            elif channel == INBOX:
                if self._handovers.leads(int(key)):
                    self._appender.inbox_filled(int(key))
            elif channel == AVAILABLE:
                tenant, _, type_ = key.partition("\n")
                self._available(type_, tenant, value)

    def _count_unreadable(self, payload: str) -> None:
        self._unreadable += 1
        if self._unreadable.bit_count() == 1:  # 1, 2, 4, 8, …, because there may be thousands per second
            log.warning("cannot decode a notification", so_far=self._unreadable, size=len(payload))

    def connected(self, connected: bool) -> None:
        """After each connection of the notification listener, every part looks once: notifications may be lost."""
        if connected:
            self._webhooks_outdated()
            self._warm_up.deployed()
            self._forget_callers()
            self._routing.outdated()
            self._completions.sweep_soon()
            self.clock_changed()
            self._look_for_batch_operations()
            self._handovers.wake_all()
            self._look_at_nodes()
