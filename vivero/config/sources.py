"""The settings from their sources, in order of precedence: defaults < TOML file < environment < flags.

A setting has its name `section.field` in the TOML file, and `VIVERO_SECTION_FIELD` in the environment. Two common
settings also have short names: `VIVERO_DATABASE_URL` and `VIVERO_DATA_DIR`.
"""

from __future__ import annotations

import os
import re
import tomllib
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from vivero.config.files import Unreadable, read_text
from vivero.config.json_input import parsed
from vivero.config.processes import Division, problem, suited
from vivero.config.roles import parse
from vivero.config.sections import Config, ConfigError, names
from vivero.config.settings_lines import lines_of, quoted
from vivero.config.task_listeners import TaskListenerSettings
from vivero.config.values import short, typed_as
from vivero.engine.compute.settings import processors
from vivero.engine.connectors.settings import SECRET_PREFIX
from vivero.engine.jobs.type_settings import JobTypeSettings

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
        typed = typed_as(kinds[item], value) if kind is None else _tables(name, value, origin, kind)
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
