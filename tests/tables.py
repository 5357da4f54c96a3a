"""The settings in docs/reference/settings.md, and the values in docs/limits.md. `make tables` writes both, and the
tables of `rest_operations` and `connector_table`, and the templates of `element_templates`.

Settings follow from the classes of `vivero.config.sections`: an item has the name, the default and the docstring of a
field. On the page of limits, people write the items; what is bold in one is the value of the settings and constants
that `tests/limits.toml` names for it. A value in italics is no number of the code.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import tomllib
from collections import defaultdict
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests import connector_table, element_templates, rest_operations
from tests.imports import ROOT
from vivero.config import sections
from vivero.core.bpmn.reading.xml import XmlLimits

SETTINGS = ROOT / "docs" / "reference" / "settings.md"
LIMITS = ROOT / "docs" / "limits.md"
LINKS = {
    "database.data_dir": "postgresql.md#the-embedded-server",
    "database.reader_url": "security.md#row-level-security",
    "database.pool_size": "operations.md#connections",
    "api.allowed_origins": "rest-api.md#web-pages",
    "api.allowed_hosts": "rest-api.md#web-pages",
    "api.advertised_address": "several-nodes.md#redirects-to-the-leader",
    "api.redirect_to_leader": "several-nodes.md#redirects-to-the-leader",
    "api.requests_per_s": "security.md#rate-limits",
    "auth.oidc_shared_names": "security.md#an-identity-provider",
    "api.max_waiting": "rest-api.md#too-many-clients",
    "http.max_connections": "rest-api.md#too-many-clients",
    "retention.instances": "retention.md",
    "retention.log": "retention.md#the-logs",
    "retention.archive": "operations/archive.md",
    "retention.failed_jobs_days": "background-jobs.md#attempts",
    "retention.usage_days": "retention.md",
    "jobs.types": "background-jobs.md#settings-of-single-types",
    "user_tasks.listeners": "task-listeners.md#in-the-settings-file",
    "tenants.enabled": "security.md#tenants",
    "audit.changes": "security.md#audit",
    "admin.port": "several-nodes.md#the-admin-port",
    "metrics.enabled": "observability.md#metrics",
    "tracing.otlp_endpoint": "observability.md#traces",
    "processes": "several-nodes.md#several-processes",
    "roles": "several-nodes.md#roles",
    "log_levels": "observability.md#levels",
}
"""The places where a page says more of a setting."""
SECTIONS = {
    "database": ("PostgreSQL", ""),
    "api": ("The API", ""),
    "auth": ("Authentication", "See [Security](../security.md)."),
    "tenants": ("Tenants", ""),
    "audit": ("The audit log", ""),
    "http": ("The HTTP server", ""),
    "tls": ("TLS", "See [Security](../security.md#tls)."),
    "web": ("The console", ""),
    "appender": ("The log appender", ""),
    "consumer": ("The log consumer", ""),
    "definitions": ("The cache of definitions", ""),
    "compute": ("Compute processes", "See [Limits](../limits.md#compute-processes)."),
    "timers": ("Timers", ""),
    "batch_operations": ("Batch operations", "See [Batch operations](../batch-operations.md)."),
    "maintenance": ("Maintenance", ""),
    "expiry": ("Messages", ""),
    "retention": ("Retention", "See [Retention](../retention.md)."),
    "documents": ("Documents", "[Documents](../documents.md) are files that clients keep beside their processes."),
    "connectors": ("Connectors", "See [Connectors](../connectors.md)."),
    "agents": ("AI agents", "See [AI agents](../agents.md)."),
    "outbox": ("Events to another system", "See [Connectors](../connectors.md#events-to-another-system)."),
    "jobs": ("Background jobs", "See [Background jobs](../background-jobs.md)."),
    "user_tasks": ("User tasks", "See [Task listeners](../task-listeners.md#in-the-settings-file)."),
    "cluster": ("Several nodes", ""),
    "feel": (
        "FEEL",
        "Limits of one expression. Beyond them a deployment is rejected, an instance gets an incident, a request 400.",
    ),
    "supervision": ("Supervision", "See [Supervision](../supervision.md)."),
    "metrics": ("Metrics", ""),
    "tracing": ("Traces", ""),
    "admin": ("The admin port", ""),
    "program": ("The program", ""),
}
"""Section → its heading, and what stands before its list, in the order of the page."""
HEAD = """# All settings

`make tables` writes this page from the code. [Settings](../configuration.md) says where to set them. Defaults are in
brackets. Numbers are the most that is allowed, unless the text says otherwise.
"""
_ITEM = re.compile(r"^- (.*?): \*\*(.*?)\*\*", re.MULTILINE)
_CONSTANT = re.compile(r"_?[A-Z][A-Z_]{3,}(\.[a-z_]+)?")
UNITS = {"bytes": "bytes", "_ms": "ms", "_s": "s", "_days": "days", "_log": "bytes", "characters": "characters"}
"""The end of a name, and the unit of its values."""


def shown(name: str, value: Any) -> str:
    """A value with the unit that the end of its name tells. Texts and booleans are code."""
    if value is None or value == "":
        return "none" if value is None else ""
    if isinstance(value, bool) or not isinstance(value, int | float) or name.endswith("port"):
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"
    rate = "/s" if name.lower().endswith("_per_s") else ""
    unit = unit_of(name.lower().removesuffix("_per_s") if rate else name.lower())
    number, unit = rounded(value, unit)
    return f"{number:,}{f' {unit}' if unit else ''}{rate}"


def unit_of(name: str) -> str:
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "")


def rounded(value: float, unit: str) -> tuple[float, str]:
    """A number in the unit that makes it short: 4 MiB, 25 ms, 15 s."""
    if unit == "s" and 0 < value < 0.1:
        return round(value * 1000), "ms"
    if unit == "bytes" and value and value % 1024 == 0:
        return (int(value) >> 20, "MiB") if value % (1 << 20) == 0 else (int(value) >> 10, "KiB")
    return int(value) if value == int(value) else value, unit


# ---------------------------------------------------------------------------------------------------- settings


@cache
def meanings(kind: Any) -> dict[str, str]:
    """Field → its docstring, of a class of settings."""
    [body] = [
        node.body for node in ast.parse(textwrap.dedent(inspect.getsource(kind))).body if isinstance(node, ast.ClassDef)
    ]
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def owner(name: str) -> Any:
    """The object whose field a setting is, with the defaults."""
    section = name.rpartition(".")[0]
    return getattr(sections.Config(), section) if section else sections.Config()


def default(name: str) -> Any:
    return getattr(owner(name), name.rpartition(".")[2])


def item_of_setting(name: str) -> str:
    """Raises KeyError if the field has no docstring."""
    meaning = meanings(type(owner(name)))[name.rpartition(".")[2]]
    linked = f"[`{name}`](../{LINKS[name]})" if name in LINKS else f"`{name}`"
    value = shown(name, default(name))
    return f"- {linked}{f' ({value})' if value not in ('', 'none') else ''}: {meaning}"


def settings_of(section: str) -> list[str]:
    """The names of a section's settings, in the order of the code; of `program`, those without a section."""
    if section == "program":
        return [name for name in sections.names() if "." not in name]
    return [name for name in sections.names() if name.startswith(f"{section}.")]


def settings_page(_text: str) -> str:
    """The whole page follows from the code. Raises KeyError for a section without a heading."""
    names = dict.fromkeys(name.rpartition(".")[0] or "program" for name in sections.names())
    return "\n".join([HEAD, *map(_section, sorted(names, key=list(SECTIONS).index))])


def _section(name: str) -> str:
    title, hint = SECTIONS[name]
    items = "\n".join(map(item_of_setting, settings_of(name)))
    return f"## {title}\n\n" + (f"{hint}\n\n" if hint else "") + f"{items}\n"


# ------------------------------------------------------------------------------------------------------ limits


@cache
def constants() -> dict[str, list[str]]:
    """Name of a constant → the modules of the product that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in ("core", "storage", "engine", "api", "vivero"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = path.relative_to(ROOT).with_suffix("").as_posix()
            if not re.match(r"vivero/(core|storage|engine|api)/", module):
                for name in re.findall(r"^(_?[A-Z][A-Z_]{3,})\b.* = ", path.read_text(encoding="utf-8"), re.MULTILINE):
                    found[name].append(module)
    return found


def value_of(name: str, path: str) -> Any:
    """The value of a setting, or of a constant in the module of this path, or in the only one. Raises ValueError."""
    if name in sections.names():
        return default(name)
    name, _, attribute = name.partition(".")
    if name == "XmlLimits":
        return getattr(XmlLimits(), attribute)
    modules = [path.removesuffix(".py")] if path else constants()[name]
    if len(modules) != 1:
        raise ValueError(f"{name} is in {len(modules)} modules: name one of {modules}")
    module = modules[0].replace("/", ".")
    found = getattr(import_module(module if module.startswith("vivero.") else f"vivero.{module}"), name)
    return getattr(found, attribute) if attribute else found


@cache
def sources() -> dict[str, str]:
    """Item of the page of limits → the settings and constants that set it."""
    return tomllib.loads((ROOT / "tests" / "limits.toml").read_text(encoding="utf-8"))


def named(cell: str) -> list[tuple[str, str]]:
    """The settings and constants that a cell names, each with the path of the file that is named before it."""
    found, path = [], ""
    for word in re.findall(r"`([^`]+)`", cell):
        if word.endswith(".py"):
            path = word
        elif word in sections.names() or _CONSTANT.fullmatch(word) or word.startswith("XmlLimits."):
            found.append((word, path))
    return found


def limits_page(text: str) -> str:
    """The page with the values of the code. Raises KeyError for an item that `tests/limits.toml` does not have."""

    def item(found: re.Match[str]) -> str:
        values = "; ".join(shown(name, value_of(name, path)).strip("`") for name, path in named(sources()[found[1]]))
        return f"- {found[1]}: **{values}**"

    return _ITEM.sub(item, text)


PAGES = {
    SETTINGS: settings_page,
    LIMITS: limits_page,
    rest_operations.PAGE: rest_operations.page,
    connector_table.PAGE: connector_table.page,
    element_templates.PAGE: element_templates.page,
}


def rewrite(page: Path) -> str:
    """A page as it should be."""
    return PAGES[page](page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rewrite(page), encoding="utf-8")
