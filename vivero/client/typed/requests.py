"""Requests of the API as data: what people do with processes, messages, tasks, incidents and batches."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from uuid import uuid4

from vivero.client.answers import NotSendable
from vivero.client.rest import path_part
from vivero.client.values import encoded, variables_from
from vivero.config.files import Unreadable, read_bytes

Json = dict[str, Any]
FileToDeploy = str | PathLike[str] | tuple[str, bytes]
"""A path, or a name with its content."""
WAITS = "wait=30"
"""The header `Prefer` of commands: they are answered with their outcomes, whatever the server does by default."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request. `is_read`: it changes nothing. A command gets a key, so that no repetition of it happens twice.

    `patience_s`: the time that the server may take beyond the usual one.
    """

    method: str
    path: str
    body: Any = None
    files: tuple[tuple[str, bytes], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str, bytes, str], ...] = ()
    """Name, name of the file, content and its type."""
    is_read: bool = False
    keeps_no_key: bool = False
    """The server ignores keys of this request: one that may have arrived is not repeated."""
    patience_s: float = 0.0

    @property
    def is_repeatable(self) -> bool:
        return not self.keeps_no_key

    def headers(self) -> dict[str, str]:
        """The headers of all tries, with a new key for a command."""
        found = {} if self.files or self.parts else {"content-type": "application/json"}
        if self.is_read:
            return found
        return {**found, "prefer": WAITS} | ({} if self.keeps_no_key else {"idempotency-key": str(uuid4())})

    def content(self) -> dict[str, Any]:
        """The body as the HTTP library takes it. Raises NotSendable."""
        if self.files:
            parts: list[Any] = [("resources", (name, data, "application/octet-stream")) for name, data in self.files]
            return {"files": parts, "data": dict(self.fields)}
        if self.parts:
            return {"files": [(part, (name or None, data, type_)) for part, name, data, type_ in self.parts]}
        if self.body is None:
            return {}
        try:
            return {"content": encoded(self.body)}
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise NotSendable(f"the request has no form in JSON: {error}") from error


def key_of(subject: Any, *names: str) -> str:
    """The key of a subject: the key itself, or a record or handle that has it under one of these names."""
    for name in names:
        if (found := getattr(subject, name, None)) is not None:
            return path_part(str(found))
    if not isinstance(subject, str | int) or isinstance(subject, bool) or subject == "":
        raise NotSendable(f"{subject!r} is no key, and has none under the name {' or '.join(names)}")
    return path_part(str(subject))


def get(path: str) -> ApiRequest:
    """A read."""
    return ApiRequest("GET", path, is_read=True)


def command(method: str, path: str, body: Any = None, **more: Any) -> ApiRequest:
    """A command; members of its body that are None are left out."""
    given = {name: value for name, value in body.items() if value is not None} if body is not None else None
    return ApiRequest(method, path, given, **more)


def deployment(files: Iterable[FileToDeploy], tenant_id: str | None) -> ApiRequest:
    """Raises NotSendable for a file that cannot be read."""
    try:
        contents = tuple(_file(each) for each in files)
    except Unreadable as error:
        raise NotSendable(str(error)) from error
    if not contents:
        raise NotSendable("there are no files to deploy")
    fields = (("tenantId", tenant_id),) if tenant_id is not None else ()
    return ApiRequest("POST", "/v2/deployments", files=contents, fields=fields)


def _file(given: FileToDeploy) -> tuple[str, bytes]:
    match given:
        case (str(), bytes()):
            return given
        case str() | PathLike():
            path = Path(fspath(given))
        case _:
            raise NotSendable(f"a file to deploy must be a path, or (name, bytes), not {given!r}")
    return path.name, read_bytes(path)


def creation(
    process: str,
    variables: Json,
    *,
    version: int | None,
    business_id: str | None,
    tags: Collection[str],
    before: Collection[str],
    tenant_id: str | None,
) -> ApiRequest:
    body = {
        "processDefinitionId": process,
        "variables": variables,
        "processDefinitionVersion": version,
        "businessId": business_id,
        "tags": texts("tags", tags) or None,
        "startInstructions": [{"elementId": id} for id in texts("before", before)] or None,
        "tenantId": tenant_id,
    }
    return command("POST", "/v2/process-instances", body)


def message(
    way: str, name: str, correlation_key: str, variables: Json, tenant_id: str | None, **more: Any
) -> ApiRequest:
    """`way`: publication or correlation."""
    body = {"name": name, "correlationKey": correlation_key, "variables": variables, "tenantId": tenant_id, **more}
    return command("POST", f"/v2/messages/{way}", body)


def signal(name: str, variables: Json, tenant_id: str | None) -> ApiRequest:
    body = {"signalName": name, "variables": variables, "tenantId": tenant_id}
    return command("POST", "/v2/signals/broadcast", body)


def decision(id: str, variables: Json, tenant_id: str | None) -> ApiRequest:
    body = {"decisionDefinitionId": id, "variables": variables, "tenantId": tenant_id}
    return command("POST", "/v2/decision-definitions/evaluation", body)


def of_instance(subject: Any, action: str, body: Json | None = None) -> ApiRequest:
    """A command on a process instance: cancellation, modification, …"""
    key = key_of(subject, "process_instance_key", "key")
    return command("POST", f"/v2/process-instances/{key}/{action}", {} if body is None else body)


def modification(activate: Any, move: Mapping[Any, str], terminate: Collection[str | int], variables: Json) -> Json:
    """The body of a modification. `variables`: those of the instance, which all new elements see."""
    given = [{"variables": variables}] if variables else []
    return {
        "activateInstructions": [
            {"elementId": id, "variableInstructions": given} for id in texts("activate", activate)
        ],
        "moveInstructions": [
            _move(str(source), target) | {"variableInstructions": given} for source, target in pairs("move", move)
        ],
        "terminateInstructions": [
            {"elementInstanceKey" if one.isdecimal() else "elementId": one} for one in texts("terminate", terminate)
        ],
    }


def _move(source: str, target: str) -> Json:
    named = (
        {"sourceType": "byKey", "sourceElementInstanceKey": source}
        if source.isdecimal()
        else {"sourceType": "byId", "sourceElementId": source}
    )
    return {
        "sourceElementInstruction": named,
        "targetElementId": target,
        "ancestorScopeInstruction": {"ancestorScopeType": "inferred"},
    }


def migration(target: Any, mappings: Mapping[str, str]) -> Json:
    """The plan of a migration to a process definition."""
    return {
        "targetProcessDefinitionKey": key_of(target, "process_definition_key"),
        "mappingInstructions": [
            {"sourceElementId": source, "targetElementId": goal} for source, goal in pairs("mappings", mappings)
        ],
    }


def batch(path: str, filter: Json, more: Json) -> ApiRequest:
    """The creation of a batch operation. Raises NotSendable without a filter: it would be about everything."""
    if not filter:
        raise NotSendable("a batch needs a filter, such as process='order': without one it would be about everything")
    return command("POST", f"/v2/{path}", {"filter": filter, **more})


def named_variables(given: Any, named: Mapping[str, Any]) -> Json:
    return variables_from(given, named)


def texts(name: str, given: Collection[str | int]) -> list[str]:
    """The texts of an argument. Raises NotSendable for anything but a list of them."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise NotSendable(f"{name} must be a list of texts, not {given!r}")
    return [str(one) for one in given]


def pairs(name: str, given: Mapping[Any, str]) -> list[tuple[Any, str]]:
    """The items of a mapping. Raises NotSendable for anything else."""
    if not isinstance(given, Mapping):
        raise NotSendable(f"{name} must be a mapping, not {given!r}")
    return list(given.items())


def milliseconds(name: str, time_s: float) -> int:
    """Raises NotSendable for what is no number of seconds."""
    if isinstance(time_s, bool) or not isinstance(time_s, int | float) or not math.isfinite(time_s):
        raise NotSendable(f"{name} must be a number of seconds, not {time_s!r}")
    return round(time_s * 1000)


def awaited(creation: ApiRequest, wait_s: float) -> ApiRequest:
    """A creation that is answered at the end of the instance. The key stays valid: it does not cover how to wait."""
    body = {**creation.body, "awaitCompletion": True, "requestTimeout": max(round(wait_s * 1000), 1)}
    return replace(creation, body=body, patience_s=wait_s)


def of_task(subject: Any, action: str, body: Json, **more: Any) -> ApiRequest:
    """A command on a user task: completion, assignment or comments."""
    return command("POST", f"/v2/user-tasks/{key_of(subject, 'user_task_key')}/{action}", body, **more)


def task_changes(
    due_date: datetime | str | None,
    follow_up_date: datetime | str | None,
    candidate_users: Collection[str] | None,
    candidate_groups: Collection[str] | None,
    priority: int | None,
) -> Json:
    """The changes of a user task as a request has them."""
    given = {
        "dueDate": _date("due_date", due_date),
        "followUpDate": _date("follow_up_date", follow_up_date),
        "candidateUsers": None if candidate_users is None else texts("candidate_users", candidate_users),
        "candidateGroups": None if candidate_groups is None else texts("candidate_groups", candidate_groups),
        "priority": priority,
    }
    return {name: value for name, value in given.items() if value is not None}


def _date(name: str, date: datetime | str | None) -> str | None:
    if not isinstance(date, datetime):
        return date
    if date.tzinfo is None:
        raise NotSendable(f"{name} {date} has no time zone: write datetime.now(UTC), not datetime.now()")
    return date.isoformat()
