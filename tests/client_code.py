"""The generated part of `vivero.client`: records and filters of searches, the methods that search, and the client that
blocks. `make statements` writes it.

Records and filters follow from the resources of the routes, so that a field of a search is a field of the client. What
may be null follows from the schema. `asynchronous.py` is the source of `synchronous.py`.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.imports import ROOT
from vivero.api.routes import ROUTES
from vivero.client.records.filters import SHORT_NAMES, api_name
from vivero.client.records.filters import VARIABLES as VARIABLE_FILTERS
from vivero.storage.search import fields
from vivero.storage.search.cluster_variables import CLUSTER_VARIABLES
from vivero.storage.search.fields import PLAIN, Field
from vivero.storage.search.resources import Resource
from vivero.storage.search.variables import VARIABLES
from vivero.storage.search.wait_states import WAIT_STATES

CLIENT = ROOT / "vivero" / "client"
SCHEMA = ROOT / "storage" / "schema" / "schema.sql"

SEARCHES = {
    "/v2/process-instances": ("instances", "ProcessInstance"),
    "/v2/user-tasks": ("tasks", "UserTask"),
    "/v2/incidents": ("incidents", "Incident"),
    "/v2/jobs": ("jobs", "Job"),
    "/v2/variables": ("variables", "Variable"),
    "/v2/element-instances": ("elements", "ElementInstance"),
    "/v2/element-instances/wait-states": ("wait_states", "WaitState"),
    "/v2/timers": ("timers", "Timer"),
    "/v2/process-definitions": ("definitions", "ProcessDefinition"),
    "/v2/decision-definitions": ("decisions", "DecisionDefinition"),
    "/v2/decision-requirements": ("decision_requirements", "DecisionRequirements"),
    "/v2/decision-instances": ("decision_instances", "DecisionInstance"),
    "/v2/forms": ("forms", "Form"),
    "/v2/resources": ("resources", "GenericResource"),
    "/v2/messages": ("messages", "Message"),
    "/v2/message-subscriptions": ("message_subscriptions", "MessageSubscription"),
    "/v2/correlated-message-subscriptions": ("correlated_messages", "CorrelatedMessage"),
    "/v2/batch-operations": ("batch_operations", "BatchOperation"),
    "/v2/batch-operation-items": ("batch_operation_items", "BatchOperationItem"),
    "/v2/audit-logs": ("audit_logs", "AuditLog"),
    "/v2/cluster-variables": ("cluster_variables", "ClusterVariable"),
    "/v2/global-task-listeners": ("global_task_listeners", "GlobalTaskListener"),
    "/v2/model-drafts": ("model_drafts", "ModelDraft"),
    "/v2/users": ("users", "User"),
    "/v2/groups": ("groups", "Group"),
    "/v2/roles": ("roles", "Role"),
    "/v2/tenants": ("tenants", "Tenant"),
    "/v2/mapping-rules": ("mapping_rules", "MappingRule"),
    "/v2/tokens": ("tokens", "Token"),
    "/v2/authorizations": ("authorizations", "Authorization"),
}
"""Path → method of the client, and the beginning of the names of its record and filter."""
LEFT_OUT = {
    "/v2/authentication/me/authorizations": "of the caller, for the console",
    "/v2/saved-views": "of the console",
    "/v2/alert-rules": "no search of the tables: `client.request` sends it",
    "/background-jobs": "no search of the tables: `vivero background` lists them",
    "/outbox": "no search of the tables: `vivero outbox` lists them",
}
"""Searches without a method, each with the reason."""
BY_HAND: dict[str, Resource] = {
    "/v2/variables": VARIABLES,
    "/v2/element-instances/wait-states": WAIT_STATES,
    "/v2/cluster-variables": CLUSTER_VARIABLES,
}
"""The resources of handlers that choose one, or change what they find."""
QUERIES = {"/v2/variables": "?truncateValues=false", "/v2/cluster-variables": "?truncateValues=false"}
LISTS_OF_TEXTS = frozenset(
    {"tags", "candidateGroups", "candidateUsers", "receivedBy", "roles", "tenantIds", "permissionTypes", "eventTypes"}
)
"""Fields of type OTHER that are arrays of texts; the others are any JSON."""
NEVER_NULL = {
    "instances": {"state", "hasIncident"},
    "jobs": {"state", "hasFailedWithRetriesLeft", "worker"},
    "variables": {"isTruncated"},
    "elements": {"elementName", "type", "state", "hasIncident"},
    "wait_states": {
        *("rootProcessInstanceKey", "processInstanceKey", "elementInstanceKey"),
        *("elementType", "tenantId", "bpmnProcessId"),
    },
    "definitions": {"hasStartForm"},
    "decision_instances": {"decisionEvaluationInstanceKey", "decisionDefinitionType"},
    "cluster_variables": {"scope", "kind", "isTruncated"},
}
"""Expressions that always have a value, by the method of the search. A column says it itself."""
SPECIAL = {"hasRetriesLeft": "bool", "isLate": "bool", "isLatestVersion": "bool", "candidateGroup": "TextFilter"}
SPECIAL |= {"candidateUser": "TextFilter", "tags": "Sequence[str]", "resourceIds": "Sequence[str]"}
SPECIAL |= {"resourcePropertyNames": "Sequence[str]", "eventTypes": "Sequence[str | Where]"}
SPECIAL |= {"metadata": "Mapping[str, Any]"}
EXTRA = {
    "Variable": '''
    @property
    def decoded(self) -> Any:
        """The value, which `value` has as JSON."""
        return decoded(self.value, Any)
'''
}
"""Members of records that are no fields."""


@dataclass(frozen=True, slots=True)
class Searching:
    """One method of the client that searches."""

    path: str
    method: str
    name: str
    resource: Resource

    @property
    def module(self) -> str:
        words = re.sub(r"(?<!^)([A-Z])", r"_\1", self.name).lower()
        return words if words.endswith("s") else f"{words}s"

    @property
    def of_tenants(self) -> bool:
        return any(field.name == "tenantId" and field.operators for field in self.resource.fields)


def paths() -> dict[str, Resource | None]:
    """The path of each search without parameters, and its resource if the handler only searches it."""
    found: dict[str, Resource | None] = {}
    for route in ROUTES:
        if route.method == "POST" and route.path.endswith("/search") and "{" not in route.path:
            resource = inspect.getclosurevars(route.handler).nonlocals.get("resource")
            found[route.path.removesuffix("/search")] = resource if isinstance(resource, Resource) else None
    return found


@cache
def searches() -> list[Searching]:
    """Raises KeyError for a search that neither has a method nor is left out."""
    served = paths()
    for path in served:
        if path not in SEARCHES and path not in LEFT_OUT:
            raise KeyError(f"{path}: give this search a method in tests/client_code.py, or say why it has none")
    resources = {path: resource for path, resource in served.items() if resource is not None} | BY_HAND
    return [Searching(path, method, name, resources[path]) for path, (method, name) in SEARCHES.items()]


def python_name(name: str) -> str:
    """processInstanceKey → process_instance_key. Raises ValueError if there is no way back."""
    found = re.sub(r"([A-Z])", lambda at: f"_{at[1].lower()}", name)
    if api_name(found) != name:
        raise ValueError(f"{name} cannot be written in Python")
    return found


def filter_name(name: str) -> str:
    short = {long: short for short, long in SHORT_NAMES.items()}
    return short.get(name) or python_name(name)


# ------------------------------------------------------------------------------------------------------------ records


@cache
def columns() -> dict[str, dict[str, bool]]:
    """Table → column → whether it is NOT NULL."""
    found: dict[str, dict[str, bool]] = {}
    for table, text in re.findall(r"^CREATE TABLE (\w+) \(\n(.*?)^\)", SCHEMA.read_text(), re.MULTILINE | re.DOTALL):
        lines = re.findall(r"^    (\w+) ([^\n]*)", text, re.MULTILINE)
        found[table] = {column: " NOT NULL" in f" {rest}" for column, rest in lines}
    return found


def may_be_null(field: Field, one: Searching) -> bool:
    resource = one.resource
    sql = field.shown_sql or field.sql
    if sql == resource.key or field.type is fields.NUMBERED_KEY or field.name in NEVER_NULL.get(one.method, ()):
        return False
    if sql.startswith("left("):
        sql = field.sql
    aliases = {alias: table for table, alias in re.findall(r"\b(\w+) (\w)\b", resource.source)}
    column = re.fullmatch(r"(\w)\.(\w+)", sql)
    return column is None or not columns().get(aliases.get(column[1], ""), {}).get(column[2], False)


def record_type(field: Field) -> str:
    if field.type is fields.OTHER:
        return "list[str]" if field.name in LISTS_OF_TEXTS else "Any"
    if field.type.shown.endswith("::text"):
        return "str"
    return {"bigint": "int", "boolean": "bool", "timestamptz": "datetime"}.get(field.type.cast, "str")


def member(field: Field, one: Searching) -> str:
    kind, name = record_type(field), python_name(field.name)
    if not may_be_null(field, one):
        return f"    {name}: {kind}\n"
    return f"    {name}: {kind} = None\n" if kind == "Any" else f"    {name}: {kind} | None = None\n"


def filter_entry(field: Field) -> str:
    kinds = {"bigint": "NumberFilter", "boolean": "bool", "timestamptz": "TimeFilter"}
    kind = kinds.get(field.type.cast, "TextFilter")
    if field.type.shown.endswith("::text"):
        kind = "KeyFilter"
    if field.operators is PLAIN or kind == "bool":
        kind = {
            "KeyFilter": "KeyValue",
            "NumberFilter": "int",
            "TextFilter": "str",
            "TimeFilter": "datetime | str",
        }.get(kind, kind)
    if field.values and kind in ("TextFilter", "str"):
        values = f"Literal[{', '.join(repr(value) for value in field.values)}]"
        kind = f"{values} | Sequence[str] | Where" if kind == "TextFilter" else values
    return f"    {filter_name(field.name)}: {kind}\n"


def filters(resource: Resource) -> Iterator[str]:
    nested = [field for each in resource.nested for field in each.fields]
    for field in (*resource.fields, *nested):
        if field.operators and field.name not in resource.special:
            yield filter_entry(field)
    for name in resource.special:
        kind = "VariablesFilter" if python_name(name) in VARIABLE_FILTERS else SPECIAL[name]
        yield f"    {python_name(name)}: {kind}\n"


def record_module(one: Searching) -> str:
    resource = one.resource
    members = [member(field, one) for field in resource.fields if field.shown]
    entries = list(filters(resource))
    if resource.alternatives:
        entries.append(f"    any_of: Sequence[{one.name}Filter]\n")
    sorts = [repr(python_name(field.name)) for field in resource.fields if field.sort]
    return f'''\
"""Records and filters of `client.{one.method}`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter, KeyValue, NumberFilter, TextFilter, TimeFilter, VariablesFilter, Where
)
from vivero.client.values import decoded


class {one.name}Record(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST {one.path}/search."""

{"".join(members)}{EXTRA.get(one.name, "")}

class {one.name}Filter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

{"".join(entries) or "    pass"}

{one.name}Sort = {f"Literal[{', '.join(sorts)}]" if sorts else "Literal['']"}
'''


def searches_module() -> str:
    ones = searches()
    imports = "\n".join(
        f"from vivero.client.records.{one.module} import {one.name}Filter, {one.name}Record, {one.name}Sort"
        for one in ones
    )
    methods = "\n".join(search_method(one) for one in ones)
    return f'''\
"""The searches of the client, each with its filters. `make statements` writes them from the tables of searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, Unpack

from vivero.client.typed.asynchronous_paging import AsyncSearch
from vivero.client.typed.queries import DEFAULT_PAGE_ITEMS
{imports}

R = TypeVar("R")


class AsyncSearches(ABC):
    """Searches: filters by name, `sort` by a field, and as many items per page as one request brings."""

    @abstractmethod
    def _search(
        self,
        path: str,
        record: type[R],
        filter: Mapping[str, Any],
        sort: str | None,
        descending: bool,
        page_items: int,
        of_tenants: bool,
    ) -> AsyncSearch[R]: ...

{methods}'''


def search_method(one: Searching) -> str:
    words = one.method.replace("_", " ")
    return f'''
    def {one.method}(
        self,
        *,
        sort: {one.name}Sort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[{one.name}Filter],
    ) -> AsyncSearch[{one.name}Record]:
        """Search {words}."""
        path = "{one.path}/search{QUERIES.get(one.path, "")}"
        return self._search(path, {one.name}Record, filter, sort, descending, page_items, {one.of_tenants})
'''


DOOR = '''"""Records of searches and their filters. `make statements` writes the modules of all resources.

Entry: `process_instances.ProcessInstanceRecord`, `user_tasks.UserTaskRecord`.
Imports: nothing of ours.
"""
'''

# --------------------------------------------------------------------------------------------- the client that blocks

REPLACED = (
    (r"\[record async for record in self\]", "list(self)"),
    (r"async def ", "def "),
    (r"async with ", "with "),
    (r"async for ", "for "),
    (r"await ", ""),
    (r"Awaitable\[bytes\]", "bytes"),
    (r"AsyncIterator, Awaitable, ", "Iterator, "),
    (r"StopAsyncIteration", "StopIteration"),
    (r"__a(enter|exit|iter|next)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\b(_?)Async(?=[A-Z])", r"\1"),
    (r"\bhttp_client\b", "blocking_http_client"),
    (r"\bwhole\b(?!\.)(?=[(,\n])", "whole_blocking"),
    (r"anyio\.current_time\(\)", "time.monotonic()"),
    (r"anyio\.sleep", "time.sleep"),
    (r"^import anyio$", "import time"),
    (r"typed\.asynchronous_(\w+)", r"typed.synchronous_\1"),
)
HEADS = {
    "asynchronous.py": (
        "under asyncio and Trio (docs/client.md). `make statements` writes `synchronous.py` from this file.",
        "that blocks (docs/client.md). `make statements` writes this file from `asynchronous.py`.",
    ),
}


def blocking(text: str) -> str:
    """The module of the client that blocks, from the one that does not."""
    for head, other in HEADS.values():
        text = text.replace(head, other)
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


SOURCES = (
    "typed/asynchronous.py",
    "typed/asynchronous_administration.py",
    "typed/asynchronous_operations.py",
    "typed/asynchronous_paging.py",
    "typed/asynchronous_searches.py",
)
BY_PEOPLE = ("filters.py",)
"""Files of records that are not generated."""


def generated() -> dict[str, str]:
    """Name of each file in vivero/client → its text."""
    made = {f"records/{one.module}.py": record_module(one) for one in searches()}
    made["records/__init__.py"] = DOOR
    made["typed/asynchronous_searches.py"] = searches_module()
    sources = {name: made.get(name) or (CLIENT / name).read_text(encoding="utf-8") for name in SOURCES}
    return formatted(made | {name.replace("/a", "/"): blocking(text) for name, text in sources.items()})


def formatted(files: dict[str, str]) -> dict[str, str]:
    """The files as ruff leaves them, without imports that they do not use."""
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        settings = ["--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml"), folder]
        for command in (["check", "--select", "F401,I", "--fix-only"], ["format"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, *settings], check=True)
        return {name: Path(folder, name).read_text(encoding="utf-8") for name in files}


def main() -> None:
    (CLIENT / "records").mkdir(exist_ok=True)
    files = generated()
    for name, text in files.items():
        (CLIENT / name).write_text(text, encoding="utf-8")
    for path in (CLIENT / "records").glob("*.py"):
        if f"records/{path.name}" not in files and path.name not in BY_PEOPLE:
            path.unlink()


if __name__ == "__main__":
    main()
