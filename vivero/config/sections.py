"""All settings of the program, as sections of frozen objects. A setting's name is `section.field`.

`vivero.config.sources` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path

from vivero.api.access.settings import AuthSettings, TenantSettings
from vivero.api.callers.audited import AuditSettings
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.tls_settings import TlsSettings
from vivero.api.settings import ApiSettings
from vivero.config.processes import MAX_PROCESSES, AdminSettings, Division, roles_of_each
from vivero.config.roles import ALL, Role, parse
from vivero.config.task_listeners import UserTaskSettings
from vivero.core.feel import DEFAULT_LIMITS, FeelLimits
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.cluster.settings import ClusterSettings
from vivero.engine.compute.settings import ComputeSettings
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.outbox.settings import OutboxSettings
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.definitions.cache import DefinitionSettings
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.log_levels import LEVELS as LOG_LEVELS
from vivero.engine.retention.chore_settings import ExpirySettings, MaintenanceSettings, RetentionSettings
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.timers.settings import TimerSettings
from vivero.logs.levels import parse as parse_levels
from vivero.metrics.settings import MetricsSettings
from vivero.storage.cluster.leadership import MAX_PARTITIONS
from vivero.tracing.settings import TracingSettings
from vivero.web.settings import WebSettings

LOG_FORMATS = ("console", "json")


class ConfigError(Exception):
    """A setting is unknown or invalid. The message names the setting and its source."""


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The PostgreSQL server: `url`, or without one an embedded server with its data in `data_dir`."""

    url: str | None = None
    """Your own PostgreSQL, as a URL or `key=value` pairs; `--database-url`. None: an embedded server."""
    data_dir: Path | None = None
    """Data of the embedded PostgreSQL; `--data-dir`."""
    reader_url: str | None = None
    """With tenants: the same database with the second role. The embedded PostgreSQL makes this role itself."""
    pool_size: int = 8
    """Connections for reads, as many again for leasing jobs, a quarter of it for reading large jobs, and with tenants
    as many again for reads with the second role. At most; fewer if PostgreSQL grants fewer."""
    allow_unsafe_commits: bool = False
    """Start although the server may lose acknowledged commits in a crash (`synchronous_commit` or `fsync` off), in
    tests."""


@dataclass(frozen=True, slots=True)
class FeelSettings:
    """Limits of one expression, in models (at deployment and at run time) and in POST /v2/expression/evaluation."""

    source_length: int = DEFAULT_LIMITS.source_length
    """Characters of an expression's text. If a deployed model exceeds a lowered limit, its instances get incidents."""
    nesting_depth: int = DEFAULT_LIMITS.nesting_depth
    """Nested expressions and nested calls."""
    steps: int = DEFAULT_LIMITS.steps
    """Steps of an evaluation: about one for each operation, item touched, and call."""
    list_size: int = DEFAULT_LIMITS.list_size
    """Items of a list that an expression builds."""
    range_size: int = DEFAULT_LIMITS.range_size
    """Numbers of `a..b` in `for`, `some`, `every`."""
    string_size: int = DEFAULT_LIMITS.string_size
    """Characters of a text that an expression builds."""
    regex_timeout_ms: int = DEFAULT_LIMITS.regex_timeout_ms
    """Time of each call of a regular expression."""

    def __post_init__(self) -> None:
        if any(getattr(self, item.name) < 1 for item in fields(self)):
            raise ValueError("it must be at least 1")

    @property
    def limits(self) -> FeelLimits:
        """The limits in FEEL's own type."""
        return FeelLimits(**{item.name: getattr(self, item.name) for item in fields(self)})


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of the program."""

    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    tenants: TenantSettings = field(default_factory=TenantSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    http: ServerSettings = field(default_factory=ServerSettings)
    tls: TlsSettings = field(default_factory=TlsSettings)
    web: WebSettings = field(default_factory=WebSettings)
    appender: AppenderSettings = field(default_factory=AppenderSettings)
    consumer: ConsumerSettings = field(default_factory=ConsumerSettings)
    definitions: DefinitionSettings = field(default_factory=DefinitionSettings)
    timers: TimerSettings = field(default_factory=TimerSettings)
    expiry: ExpirySettings = field(default_factory=ExpirySettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    feel: FeelSettings = field(default_factory=FeelSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    documents: DocumentSettings = field(default_factory=DocumentSettings)
    batch_operations: BatchOperationSettings = field(default_factory=BatchOperationSettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    user_tasks: UserTaskSettings = field(default_factory=UserTaskSettings)
    connectors: ConnectorSettings = field(default_factory=ConnectorSettings)
    agents: AgentSettings = field(default_factory=AgentSettings)
    outbox: OutboxSettings = field(default_factory=OutboxSettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    compute: ComputeSettings = field(default_factory=ComputeSettings)
    supervision: SupervisionSettings = field(default_factory=SupervisionSettings)
    admin: AdminSettings = field(default_factory=AdminSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    tracing: TracingSettings = field(default_factory=TracingSettings)
    processes: int = 1
    """Processes, each a node of its own, at most 256; 0: as many as suit the cores; `--processes`."""
    engine_processes: int = 0
    """The number of them that lead partitions; the others serve clients; 0: each does both; `--engine-processes`."""
    partitions: int = 1
    """Partitions of a new database, at most 1,024; an older database keeps its number; `--partitions`."""
    roles: str = ALL
    """Roles of this node, separated by commas; `--roles`."""
    chaos: bool = False
    """Serve `POST /chaos/children/{name}`, which injects failures. For tests; `--chaos`."""
    control_clock: bool = False
    """Let clients set the engine's clock (`PUT /v2/clock`). For tests; `--control-clock`."""
    drain_s: float = 10.0
    """Wait of a stop for open requests. With 10 s, a stop takes at most 28 s, with engine processes 54 s."""
    log_format: str = "console"
    """`console`: lines for people; `json`: for machines. Both go to standard error; `--log-format`."""
    log_level: str = "info"
    """`debug`, `info`, `warning` or `error`."""
    log_levels: str | None = None
    """Other levels for single loggers: `vivero.api=debug,vivero.engine.jobs=warning`."""
    log_exception_texts: bool = False
    """Show the texts of unexpected exceptions, too. They may quote data."""

    def __post_init__(self) -> None:
        for name, allowed in (("log_format", LOG_FORMATS), ("log_level", LOG_LEVELS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"it must be one of {', '.join(allowed)}")
        parse_levels(self.log_levels or "")
        if not 1 <= self.partitions <= MAX_PARTITIONS:
            raise ValueError(f"it must be from 1 to {MAX_PARTITIONS}")
        if not (0 <= self.processes <= MAX_PROCESSES and 0 <= self.engine_processes <= MAX_PROCESSES):
            raise ValueError(f"it must be from 0 to {MAX_PROCESSES}")
        parse(self.roles)

    @property
    def works_connectors(self) -> bool:
        """Whether this node works the jobs of connectors."""
        return self.connectors.enabled and self.has_role(Role.JOBS)

    @property
    def of_each_process(self) -> Sequence[Config]:
        """The settings of each process: they differ in the roles. Those with the same roles share them."""
        made = cache(lambda roles: replace(self, roles=roles))
        return [made(one) for one in roles_of_each(parse(self.roles), Division(self.processes, self.engine_processes))]

    def has_role(self, *roles: Role) -> bool:
        """Whether this node has one of the roles."""
        return not parse(self.roles).isdisjoint(roles)


@cache
def names() -> tuple[str, ...]:
    """The full names of all settings."""
    defaults = Config()
    return tuple(
        f"{section.name}.{item.name}" if is_dataclass(value) else section.name
        for section in fields(Config)
        for value in (getattr(defaults, section.name),)
        for item in (fields(value) if is_dataclass(value) else (section,))
    )
