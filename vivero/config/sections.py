"""Settings, in order of precedence: defaults < TOML file < environment < flags. Each section is a frozen object.

A setting's name is `section.field`, as in the TOML file. In the environment it is `VIVERO_SECTION_FIELD`. Two common
settings also have short names: `VIVERO_DATABASE_URL` and `VIVERO_DATA_DIR`.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from vivero.api.access.settings import AuthSettings, TenantSettings
from vivero.api.callers.audited import AuditSettings
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.tls_settings import TlsSettings
from vivero.api.settings import ApiSettings
from vivero.config.files import Unreadable, read_text
from vivero.config.json_input import parsed
from vivero.config.processes import MAX_PROCESSES, AdminSettings, Division, problem, roles_of_each, suited
from vivero.config.roles import ALL, Role, parse
from vivero.config.settings_lines import lines_of, quoted
from vivero.config.task_listeners import TaskListenerSettings, UserTaskSettings
from vivero.core.feel import DEFAULT_LIMITS, FeelLimits
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.cluster.settings import ClusterSettings
from vivero.engine.compute.settings import ComputeSettings, processors
from vivero.engine.connectors.outbox.settings import OutboxSettings
from vivero.engine.connectors.settings import SECRET_PREFIX, ConnectorSettings
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.definitions.cache import DefinitionSettings
from vivero.engine.documents.settings import DocumentSettings
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.type_settings import JobTypeSettings
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
MAX_DIGITS = 20
"""The digits of a whole number."""
MAX_SHOWN = 200
"""Characters of a wrong value that a message shows."""


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
    as many again for reads with the second role. At most; fewer if PostgreSQL grants fewer.
    """
    allow_unsafe_commits: bool = False
    """Start although the server may lose acknowledged commits in a crash (`synchronous_commit` or `fsync` off). For
    tests.
    """


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
    """Wait of a stop for open requests."""
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


Values = Mapping[str, Any]
"""Settings by their full name (`api.port`)."""

Origin = Callable[[str], str]
"""Gives the source of a setting by its name, for messages."""

PREFIX = "VIVERO_"
FILE_SUFFIX = "_FILE"
"""The end of a variable that names a file with the value, as secrets of containers and of systemd are given."""
OTHER_VARIABLES = (
    *("VIVERO_ADDRESS", "VIVERO_CONFIG", "VIVERO_POSTGRES_BIN", "VIVERO_CASES", "VIVERO_TRACEBACK"),
    *("VIVERO_TOKEN", "VIVERO_USERNAME", "VIVERO_PASSWORD"),
)
"""Variables that other code reads."""
MIN_SIMILARITY = 0.65
"""The least `difflib` ratio of a misspelt name and the right one. DATABASE_URI and DATABASE_URL exceed it."""
SHORT_NAMES = {"VIVERO_DATABASE_URL": "database.url", "VIVERO_DATA_DIR": "database.data_dir"}


def load(file: Path | None = None, environment: Mapping[str, str] | None = None, flags: Values | None = None) -> Config:
    """The settings of this program. `flags` maps full names to values; None means that a flag is not given.

    Raises:
        ConfigError: a setting does not exist, or its value is invalid.
    """
    given: dict[str, _Given] = {}
    if file is not None:
        given |= _given(*_from_file(file))
    environment = os.environ if environment is None else environment
    given |= _given(_from_environment(environment), lambda _name: "the environment")
    flagged = {name: value for name, value in (flags or {}).items() if value is not None}
    if "database.data_dir" in flagged:
        # This flag selects the embedded server, even if the environment names another server.
        flagged.setdefault("database.url", None)
    given |= _given(flagged, lambda _name: "the command line")
    config = _config_of(given)
    if config.processes != 1 and config.metrics.port is not None:
        raise ConfigError("the admin port of several processes serves GET /metrics: metrics.port must not be set")
    roles = parse(config.roles)
    if (why := problem(Division(config.processes, config.engine_processes), roles)) is not None:
        raise ConfigError(why)
    if config.processes:
        return config
    return replace(config, **suited(processors(), config.partitions, roles)._asdict())


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


def _from_file(file: Path) -> tuple[dict[str, Any], Origin]:
    try:
        text = read_text(file)
        content = tomllib.loads(text)
    except Unreadable as error:
        raise ConfigError(f"the settings file: {error}") from error
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: a number with too many digits
        raise ConfigError(f"the settings file '{file}' is not valid TOML: {error}") from error
    values: dict[str, Any] = {}
    for section, value in content.items():
        if isinstance(value, dict):
            values |= {f"{section}.{name}": inner for name, inner in value.items()}
        else:
            values[section] = value
    lines = lines_of(text)

    def origin(name: str) -> str:
        """The line of a setting, or else the first one of what it contains."""
        found = lines.get(name) or min((lines[each] for each in lines if each.startswith(f"{name}.")), default=None)
        return f"file {file}" if found is None else f"file {file}, line {found}"

    return values, origin


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    known = _variables()
    values = {known[name]: value for name, value in environment.items() if name in known and value != ""}
    for name, file in environment.items():
        setting = known.get(name.removesuffix(FILE_SUFFIX)) if name.endswith(FILE_SUFFIX) else None
        if setting is None or file == "":
            continue
        if setting in values:
            raise ConfigError(f"{name} and {name.removesuffix(FILE_SUFFIX)} are both set: leave one of them out")
        try:
            values[setting] = read_text(Path(file)).rstrip("\r\n")
        except Unreadable as error:
            raise ConfigError(f"{name}: {error}") from error
    return values


def _variables() -> dict[str, str]:
    """The variables of the environment, and the setting of each."""
    return {PREFIX + name.replace(".", "_").upper(): name for name in names()} | SHORT_NAMES


def misspelt(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Unknown variables of the environment whose names resemble a setting's variable, with that variable.

    They are not an error: other programs may have set them, such as Kubernetes for a service named vivero.
    """
    environment = os.environ if environment is None else environment
    known = _variables() | {f"{name}{FILE_SUFFIX}": setting for name, setting in _variables().items()}
    ours = sorted(name for name in environment if name.startswith(PREFIX) and name not in OTHER_VARIABLES)
    ours = [name for name in ours if not name.startswith(SECRET_PREFIX)]
    meant = {name: _nearest(name, known) for name in ours if name not in known}
    return {name: near for name, near in meant.items() if near is not None}


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The variable that ends with `name`, which then lacks the section; otherwise the one with a similar spelling."""
    bare = name.removeprefix(PREFIX)
    sections = {each.removeprefix(PREFIX): each for each in known}
    endings = [each for each in sections if each.endswith(f"_{bare}")]
    return next((sections[each] for each in endings or get_close_matches(bare, sections, 1, MIN_SIMILARITY)), None)


class _Given(typing.NamedTuple):
    """A value as its source has it, the same in the setting's type, and its source, for messages."""

    value: Any
    typed: Any
    source: str


def _given(values: Values, origin: Origin) -> dict[str, _Given]:
    """The settings of one source, by their full names. Each has a right type, also if another source overrides it."""
    defaults, known = Config(), set(names())
    given: dict[str, _Given] = {}
    for name, value in values.items():
        if name not in known:
            hint = "".join(f": did you mean '{near}'?" for near in get_close_matches(name, known, 1))
            raise ConfigError(f"there is no setting '{name}' ({origin(name)}){hint}")
        section, _, item = name.rpartition(".")
        given[name] = _given_item(getattr(defaults, section) if section else defaults, section, item, value, origin)
    return given


def _given_item(target: Any, section: str, item: str, value: Any, origin: Origin) -> _Given:
    name = f"{section}.{item}" if section else item
    with _naming(name, value, origin(name)):
        kind = _TABLES.get((section, item))
        kinds = typing.get_type_hints(type(target))
        typed = _typed(kinds[item], value) if kind is None else _tables(name, value, origin, kind)
    return _Given(value, typed, origin(name))


def _config_of(given: Mapping[str, _Given]) -> Config:
    """The settings with what all sources give. Values of a section may depend on each other, whatever their sources:
    a key is in the file, and its secret in the environment. Each section is therefore made once."""
    sections: dict[str, dict[str, _Given]] = {}
    for name, one in given.items():
        section, _, item = name.rpartition(".")
        sections.setdefault(section, {})[item] = one
    config = Config()
    for section, items in sections.items():
        changed = _changed(getattr(config, section) if section else config, section, items)
        config = replace(config, **{section: changed}) if section else changed
    return config


def _changed(target: Any, section: str, items: Mapping[str, _Given]) -> Any:
    typed = {item: one.typed for item, one in items.items()}
    try:
        return replace(target, **typed)
    except (TypeError, ValueError) as error:
        item = _guilty(target, typed, str(error))
        with _naming(f"{section}.{item}" if section else item, items[item].value, items[item].source):
            return replace(target, **typed)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The settings of single things of a kind, such as types of jobs. They need the items that are `required`."""

    settings: type[Any]
    what: str
    required: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in fields(self.settings) if item.name != "origin")


_TABLES = {
    ("jobs", "types"): _Kind(JobTypeSettings, "type of job"),
    ("user_tasks", "listeners"): _Kind(TaskListenerSettings, "task listener", ("type", "event_types")),
}


def _tables(section: str, value: Any, origin: Origin, kind: _Kind) -> dict[str, Any]:
    """The settings of single things: a table of tables in the file, a JSON object in the environment."""
    given = parsed(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not all(isinstance(items, dict) for items in given.values()):
        raise TypeError(f"it must be a table with a table for each {kind.what}")
    return {name: _table_of(f"{section}.{quoted(name)}", items, origin, kind) for name, items in given.items()}


def _table_of(name: str, items: Mapping[str, Any], origin: Origin, kind: _Kind) -> Any:
    known = kind.names()
    for item in items:
        if item not in known:
            hint = "".join(f": did you mean '{near}'?" for near in get_close_matches(item, known, 1))
            raise ConfigError(f"there is no setting '{name}.{item}' ({origin(f'{name}.{item}')}){hint}")
    for item in kind.required:
        if not items.get(item):
            raise ConfigError(f"the setting '{name}' ({origin(name)}) needs '{item}'")
    defaults = kind.settings()
    given = {item: _given_item(defaults, name, item, value, origin) for item, value in items.items()}
    changed = _changed(defaults, name, given)
    return replace(changed, origin=f"{name} ({origin(name)})")


def _guilty(target: Any, typed: Mapping[str, Any], error: str) -> str:
    """The item to name: one without which the others are valid, if possible one that the error names."""
    guilty = [name for name in typed if _is_valid(target, typed, name)] or list(typed)
    return next((name for name in guilty if re.search(rf"\b{name}\b", error)), guilty[0])


def _is_valid(target: Any, typed: Mapping[str, Any], without: str) -> bool:
    try:
        replace(target, **{name: value for name, value in typed.items() if name != without})
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def _naming(name: str, value: Any, source: str) -> Iterator[None]:
    """Errors of the block become a ConfigError that names the setting and its source."""
    try:
        yield
    except (TypeError, ValueError) as error:
        shown = "this value" if name.endswith(("password", "secret")) else short(value)
        raise ConfigError(f"the setting '{name}' ({source}) cannot be {shown}: {error}") from error


def short(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _typed(kind: Any, value: Any) -> Any:
    """Convert `value`, which is a string if it comes from the environment, to the setting's type."""
    if isinstance(kind, types.UnionType):
        if value is None:
            return None
        kind = next(option for option in typing.get_args(kind) if option is not types.NoneType)
    if typing.get_origin(kind) is tuple:
        return _texts(value)
    if typing.get_origin(kind) is dict:
        return _table(value)
    if kind is bool:
        return _boolean(value)
    if isinstance(value, str) and kind in (int, float, Path):
        if kind is int and len(value) > MAX_DIGITS:
            raise ValueError("it is too large")
        value = kind(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"it must have the type {kind.__name__}")
    return value


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError as error:  # a whole number of a thousand digits
        raise ValueError("it is too large") from error
    if not math.isfinite(number):
        raise ValueError("it must be a finite number")
    return number


def _table(value: Any) -> dict[str, str]:
    """A table of texts: in the file a table, in the environment a JSON object."""
    given = parsed(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise TypeError("it must be a table of texts")
    return given


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("it must be a list of texts")
    return tuple(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("it must be true or false")
