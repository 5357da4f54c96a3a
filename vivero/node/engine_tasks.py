"""The tasks of the engine: the appender, the cluster task, and a consumer and timers for each partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import structlog

from vivero import logs
from vivero.api.access.creators import PresentRights
from vivero.api.admission.redirects import ALL_ADDRESSES
from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.core.execution.outcomes import Ended
from vivero.engine.appender.task import Appender, WorkChannel
from vivero.engine.batch_operations.settings import BATCH_OPERATIONS_PARTITION
from vivero.engine.batch_operations.task import BatchOperations
from vivero.engine.cluster.partition_duties import PartitionDuties
from vivero.engine.cluster.task import Cluster
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.counters.counts_by_type import CountsByType
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.definitions.warm_up import WarmUp
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.opening import open_store
from vivero.engine.supervision.children import Child, task_name
from vivero.engine.timers.task import Timers
from vivero.engine.tracing.tracer import Tracer
from vivero.node.connections import Connections
from vivero.node.node_events import APPENDED, INBOX, NodeEvents
from vivero.node.part import NodePart
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.cluster.nodes import NODES_CHANNEL, ClusterView, Registration
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool
from vivero.storage.schema.migration_files import SCHEMA_VERSION
from vivero.storage.state.save import DEFINITIONS_CHANNEL
from vivero.storage.work.batch_operations import BATCHES_CHANNEL

log = structlog.get_logger(__name__)


class EngineTasks(NodePart):
    """Connects the tasks. A failure of one restarts no other.

    Consumers and timers exist by partition. A new partition gets them while the program runs.
    """

    def __init__(
        self,
        config: Config,
        connections: Connections,
        node: str,
        definitions: DefinitionCache,
        events: NodeEvents,
        add: Callable[..., None],
        tracer: Tracer | None = None,
        reads: Pool | None = None,
        work: WorkChannel | None = None,
    ) -> None:
        """`add(*children)` runs the tasks of a new partition.
        `reads`: for the archive. `work`: the channel of the appender."""
        self._config, self._connections, self._node = config, connections, node
        self._definitions, self._events, self._tracer = definitions, events, tracer
        store = open_store(config.retention)
        self.archive = None if store is None or reads is None else Archive(store, reads.connection)
        self.consumers: dict[int, Consumer] = {}
        self.jobs = CountsByType()
        self.timers: dict[int, Timers] = {}
        self.duties = PartitionDuties(changed=self._cluster_changed)
        self.warm_up = WarmUp(definitions, self._cluster_changed)
        self.appender = Appender(
            connections.dedicated("appender"),
            config.appender,
            appended=self._appended,
            offer_segment=self.duties.take,
            progress_of=self.duties.progress_of,
            led_partitions=self.duties.led,
            tracer=tracer,
            work=work,
        )
        self.batch_operations = BatchOperations(
            connections.dedicated(
                "batch-operations", **CHORES, statement_timeout=_ms(config.batch_operations.scan_timeout_s)
            ),
            self.appender,
            PresentRights(
                authentication=config.auth.mode != "none",
                multi_tenancy=config.tenants.enabled,
                shared_names=config.auth.shared_names,
            ),
            partial(self.duties.leads, BATCH_OPERATIONS_PARTITION),
            config.batch_operations,
            None if self.archive is None or not config.retention.archive_deletions else self.archive.before_deletion,
        )
        self.cluster = Cluster(
            connections.dedicated("cluster", **CHORES),
            _registration(config, node),
            self.duties,
            config.cluster,
            lambda: events.announce(NODES_CHANNEL, node, 1),
            lambda partition: add(*self._open(partition)),
            lambda: self.warm_up.done,
            _change_log_levels,
        )

    def view(self) -> ClusterView:
        """The newest view that this node has of the cluster."""
        return self.cluster.view

    def _cluster_changed(self) -> None:
        self.cluster.changed()

    def children(self) -> Iterator[Child]:
        """The children of this node's roles."""
        appender, cluster = self.appender, self.cluster
        if self._config.has_role(Role.API, Role.ENGINE) or self._config.works_connectors:
            yield Child("appender", appender.run, appender.close, appender.drain)
        yield Child("cluster", cluster.run, cluster.close, cluster.drain)
        if self._config.has_role(Role.ENGINE):
            for partition in range(1, self._config.partitions + 1):
                yield from self._open(partition)
            yield Child("warm-up", self.warm_up.run)
            yield Child("batch-operations", self.batch_operations.run, self.batch_operations.close)

    def figures(self) -> Iterator[object]:
        yield self.appender
        yield self.jobs
        yield from self.consumers.values()
        yield from self.timers.values()

    def hears(self, events: NodeEvents) -> None:
        """Subscribe to what concerns partitions and their logs."""
        events.outcomes.append(self._committed)
        events.leading += [self.appender.processed, self._processed]
        events.leads.append(self._term_began)
        events.timers_changed.append(lambda partition, changes: self.timers[partition].changed(changes))
        events.inbox_filled.append(self._inbox_filled)
        events.channels.announced_of_partitions(APPENDED, lambda partition, _position: self.duties.wake(partition))
        events.channels.announced_of_partitions(INBOX, lambda partition, _count: self._note_inbox(partition))
        events.channels.changed(self.warm_up.deployed, DEFINITIONS_CHANNEL)
        events.channels.changed(self._clock_changed, CLOCK_CHANNEL)
        events.channels.changed(self.batch_operations.wake, BATCHES_CHANNEL)
        events.channels.changed(self.cluster.refresh_soon, NODES_CHANNEL)
        events.channels.reconnected.append(self.duties.wake_all)

    def _appended(self, partition: int, position: int) -> None:
        """Tell the consumer of a partition that its log has new rows, on this node or on another."""
        if self.duties.leads(partition):
            self.duties.wake(partition)
        else:
            self._events.announce(APPENDED, partition, position)

    def _committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], _ended: list[Ended]) -> None:
        self.batch_operations.committed(partition, watermark, outcomes)

    def _processed(self, partition: int, watermark: int) -> None:
        self.timers[partition].committed(watermark)

    def _inbox_filled(self, partition: int) -> None:
        if not self._note_inbox(partition):
            self._events.announce(INBOX, partition, 1)

    def _note_inbox(self, partition: int) -> bool:
        """Let the appender move an inbox to its log. False if this node does not lead the partition."""
        if leads := self.duties.leads(partition):
            self.appender.inbox_filled(partition)
        return leads

    def _term_began(self, partition: int, epoch: int) -> None:
        self.timers[partition].term(epoch)
        if partition == BATCH_OPERATIONS_PARTITION:
            self.batch_operations.term(epoch)

    def _clock_changed(self) -> None:
        for timers in self.timers.values():
            timers.clock_changed()

    def _open(self, partition: int) -> Iterator[Child]:
        """Make the tasks of a partition."""
        self.duties.open(partition)
        self.timers[partition] = timers = self._make_timers(partition)
        self.consumers[partition] = consumer = self._make_consumer(partition)
        yield Child(task_name("consumer", partition), consumer.run, consumer.close)
        yield Child(task_name("timers", partition), timers.run, timers.close)

    def _make_timers(self, partition: int) -> Timers:
        return Timers(
            self._connections.dedicated(task_name("timers", partition)),
            self.appender,
            self._config.timers,
            partition,
            partial(self.duties.leads, partition),
        )

    def _make_consumer(self, partition: int) -> Consumer:
        return Consumer(
            self._connections.primary.connect,
            self._node,
            self._definitions,
            self._events,
            self._config.consumer,
            partition,
            self._config.timers.rules,
            lambda: self.appender.busy,
            self.duties[partition],
            self._tracer,
            self.jobs,
        )


def _change_log_levels(levels: Mapping[str, str]) -> None:
    if logs.LEVELS.change(levels):
        log.warning("levels of loggers were changed", count=len(levels))


def _ms(seconds: float) -> str:
    return str(int(seconds * 1000))


def _registration(config: Config, node: str) -> Registration:
    roles = [role.value for role in Role if config.has_role(role)]
    host, port = config.api.host, config.api.port
    return Registration(node, roles, config.api.version, SCHEMA_VERSION, host, port, address_of(config))


def address_of(config: Config) -> str | None:
    """The URL at which clients reach this node; None if it listens on all addresses and the settings name none."""
    if config.api.advertised_address:
        return config.api.advertised_address
    if config.api.host in ALL_ADDRESSES:
        return None
    scheme = "http" if config.tls.certificate is None else "https"
    host = f"[{config.api.host}]" if ":" in config.api.host else config.api.host
    return f"{scheme}://{host}:{config.api.port}"
