"""The services of handlers, which the supervision tree provides. Handlers depend on these protocols only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import trio

from vivero.api.access.rates import Rates
from vivero.api.activation.bodies import ActivationBodies
from vivero.api.activation.long_polls import LongPolls
from vivero.api.admission.command_routing import CommandRouting
from vivero.api.admission.redirects import Redirects
from vivero.api.admission.refusals import NotAdmitted
from vivero.api.admission.single_turns import SingleTurns
from vivero.api.admission.waits import Waits
from vivero.api.callers.audited import AuditSettings
from vivero.api.callers.caller import Caller
from vivero.api.commands.evaluation_turns import EvaluationTurns
from vivero.api.commands.inner_requests import InnerRequests
from vivero.api.commands.large_command_turns import LargeCommandTurns
from vivero.api.commands.reply_pool import ReplyPool
from vivero.api.documents.links import LinkKeys
from vivero.api.http.deadlines import Deadlines
from vivero.api.http.metrics import Metrics, RequestFigures
from vivero.api.http.request import Headers
from vivero.api.http.shared_budget import SharedBudget
from vivero.api.settings import ApiSettings
from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.xml import LIMITS, XmlLimits
from vivero.engine.appender.calls import Append, PendingCommand
from vivero.engine.compute.pool import ComputePool
from vivero.engine.connectors.inbound.webhook_registry import WebhookRegistry
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.engine.documents.pace import Pace
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.documents.stores import DocumentStores
from vivero.engine.dry_runs.dry_runs import DryRuns
from vivero.engine.outcomes.replies import OutcomeRegistry, Replies, Reply
from vivero.engine.outcomes.waiters import InstanceEnd
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.supervision.children import ChildHealth
from vivero.engine.tracing.tracer import Tracer
from vivero.storage.log.command_log import Appended
from vivero.storage.postgres.driver import Connection


class CommandAppender(Protocol):
    """`engine.appender.task.Appender`."""

    def admits_new(self) -> bool: ...

    def begin_append(
        self, item: Append, replies: trio.MemorySendChannel[Reply], outcomes: OutcomeRegistry | None = None
    ) -> PendingCommand: ...

    async def finish_append(self, pending: PendingCommand, replies: Replies, deadline: float) -> Appended: ...


class CompletionRegistry(OutcomeRegistry, Protocol):
    """`engine.outcomes.completions`: a registration lasts until the message, `close`, or the block's end."""

    def register_end(
        self, instance_key: int, send: trio.MemorySendChannel[InstanceEnd]
    ) -> AbstractContextManager[object]: ...


class ConnectionPool(Protocol):
    """`storage.postgres.pool.Pool`: there are pools for reads, for job leases, and for reads of large jobs."""

    def connection(self) -> AbstractAsyncContextManager[Connection]: ...


class DefinitionStore(Protocol):
    """`engine.definitions.cache.DefinitionCache`: keeps what a deployment has read, so that no command waits for it."""

    def put(self, sha256: str, parsed: Parsed) -> None: ...

    async def process(self, tenant: str, key: int) -> Process | None: ...

    async def prepare_decisions(self, contents: Mapping[str, bytes]) -> None: ...


class Access(Protocol):
    """`api.access.authentication.Authenticator`."""

    async def authenticate(self, headers: Headers, address: str) -> Caller: ...


class WebhookAccess(Protocol):
    """`api.webhooks.Webhooks`, which needs libraries that only connectors need."""

    @property
    def registry(self) -> WebhookRegistry: ...

    def used_secrets(self) -> UsedSecrets: ...

    def has_secret(self, name: str) -> bool: ...

    def limit(self, path: str, address: str) -> None: ...

    async def find_key(self, url: str, id: str | None) -> Any: ...


CheckPassword = Callable[[str, str, str], Awaitable[Caller]]
"""The user with a name and password, at an address. Raises Problem 401, 429, 503; and StorageError."""


class Health(Protocol):
    """`engine.supervision.supervisor.Supervisor`, which is healthy if every child is."""

    @property
    def healthy(self) -> bool: ...

    def health(self) -> Sequence[ChildHealth]: ...


Chaos = Callable[[str, str], bool]
"""Makes a child (name) "raise", "cancel" or "hang". Returns whether it was running. KeyError for an unknown name."""


@dataclass(frozen=True, slots=True)
class CommandServices:
    """The way of a command: where it goes, whether it is taken, and who waits for its outcome."""

    appender: CommandAppender
    completions: CompletionRegistry
    routing: CommandRouting = field(default_factory=CommandRouting)
    redirects: Redirects | None = None
    """None: this node serves all writes itself."""
    refusals: NotAdmitted = field(default_factory=NotAdmitted)
    waits: Waits = field(default_factory=lambda: Waits(ApiSettings().max_waiting))
    large_commands: LargeCommandTurns = field(default_factory=LargeCommandTurns)
    """The large bodies whose commands are on their way through the log."""
    evaluations: EvaluationTurns = field(default_factory=EvaluationTurns)
    """The expensive evaluations of decisions that are on their way through the log."""
    dry_runs: DryRuns = field(default_factory=DryRuns)
    """The trials of commands that change nothing."""
    replies: ReplyPool = field(default_factory=ReplyPool)
    """The memory channels of requests that wait for outcomes."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    """The deadlines of these requests."""


@dataclass(frozen=True, slots=True)
class ReadServices:
    """Reads and searches."""

    pool: ConnectionPool
    readers: ConnectionPool | None = None
    """Connections of the role that row-level security holds, for callers with some tenants; None without tenants."""
    pages: SharedBudget = field(default_factory=lambda: SharedBudget(ApiSettings().pages_bytes))
    """The memory for large pages of searches."""
    exporting: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2))
    """The pages of lists as CSV that are read at a time: other reads have the other connections."""


@dataclass(frozen=True, slots=True)
class JobServices:
    """Jobs for workers."""

    long_polls: LongPolls
    leasing: ConnectionPool
    large_jobs: ConnectionPool
    activation_bodies: ActivationBodies = field(default_factory=ActivationBodies)


@dataclass(frozen=True, slots=True)
class FileServices:
    """Files: models, their checks and evaluation, and the archive. `limits` are those of files and expressions."""

    definitions: DefinitionStore
    limits: XmlLimits = LIMITS
    compute: ComputePool = field(default_factory=ComputePool)
    """The processes that do heavy work."""
    webhooks: WebhookAccess | None = None
    """None: connectors are disabled."""
    archive: Archive | None = None
    """None: ended instances are not archived."""
    archive_deletions: bool = False
    """Whether instances that people delete are archived first."""
    simulate: Callable[[bytes], tuple[bytes, str | None]] | None = None
    """Runs a model with test data: JSON → its report, or the problem (`library.simulation`). None: it cannot."""
    validating: SingleTurns = field(default_factory=lambda: SingleTurns("validation"))
    simulating: SingleTurns = field(default_factory=lambda: SingleTurns("simulation"))


@dataclass(frozen=True, slots=True)
class DocumentServices:
    """Documents. One part is written at a time, and few are read: the connections of all reads serve them."""

    settings: DocumentSettings = field(default_factory=DocumentSettings)
    pace: Pace = field(default_factory=Pace)
    links: LinkKeys = field(default_factory=lambda: LinkKeys(DocumentSettings().max_link_s))
    reading: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2))
    stores: DocumentStores = field(default_factory=DocumentStores)


@dataclass(frozen=True, slots=True)
class ObservingServices:
    """The state and the figures of the program, and its controls. `node` is its name as the leader of partitions.

    `chaos` is None unless the program was started with --chaos. `clock_changed` wakes all tasks that wait for a time;
    None: clients must not set the clock.
    """

    status: Health
    node: str = "node"
    figures: Callable[[], Mapping[str, Any]] = dict
    """The figures of this node's tasks, partitions and caches."""
    metrics: Callable[[], Awaitable[Metrics]] | None = None
    """The metrics of this node as text; None: they are off, or served elsewhere."""
    requests: RequestFigures = field(default_factory=RequestFigures)
    tracer: Tracer | None = None
    """None: nothing is traced."""
    chaos: Chaos | None = None
    clock_changed: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class AccessServices:
    """Authentication, limits and the audit log. Without authentication, every client may do everything."""

    authenticator: Access | None = None
    """None: without authentication."""
    check_password: CheckPassword | None = None
    """None: without authentication."""
    rates: Rates | None = None
    """None: no client has a limit."""
    multi_tenancy: bool = False
    """Whether there are tenants other than `<default>`."""
    audit: AuditSettings = field(default_factory=AuditSettings)
    login_delegated: bool = False
    """Whether browsers sign in at an identity provider."""


@dataclass(frozen=True, slots=True)
class Services:
    """All services of handlers, by what they are for."""

    settings: ApiSettings
    commands: CommandServices
    reads: ReadServices
    jobs: JobServices
    files: FileServices
    observing: ObservingServices
    access: AccessServices = field(default_factory=AccessServices)
    inner: InnerRequests = field(default_factory=InnerRequests)
    """Requests of handlers to the application itself."""
    documents: DocumentServices = field(default_factory=DocumentServices)
