"""The client under asyncio and Trio (docs/client.md). `make statements` writes `synchronous.py` from this file.

async with AsyncViveroClient() as client:
    order = await client.start("order", card="4711")
    print(await order.result())
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import anyio
import httpx
import msgspec

from vivero.client.addresses import Credentials, address_from, credentials_from, http_client, normalised
from vivero.client.answers import ClientError, NotSendable, OutcomeUnknown, answer_of, whole
from vivero.client.failures import NOT_SENT_OR_LOST, failure_of, redirect_of
from vivero.client.records.batch_operations import BatchOperationRecord
from vivero.client.records.filters import filter_of
from vivero.client.records.incidents import IncidentFilter
from vivero.client.records.process_instances import ProcessInstanceFilter, ProcessInstanceRecord
from vivero.client.records.user_tasks import UserTaskRecord
from vivero.client.records.variables import VariableRecord
from vivero.client.rest import TIMEOUT_S, path_part
from vivero.client.typed import requests
from vivero.client.typed.asynchronous_administration import AsyncAdministration
from vivero.client.typed.asynchronous_paging import AsyncSearch
from vivero.client.typed.outcomes import (
    CreatedBatch,
    Creation,
    Deployment,
    NotCompleted,
    StillRunning,
)
from vivero.client.typed.queries import DEFAULT_PAGE_ITEMS, RecordQuery
from vivero.client.typed.repetition import Polling, Repetition, check_time
from vivero.client.typed.requests import ApiRequest, FileToDeploy, key_of, named_variables
from vivero.client.values import decoded

R = TypeVar("R")
T = TypeVar("T")
RETRY_S = 30.0
LEAST_WAIT_S = 1.0
"""The time in which a server that is asked again can at least name the instance."""
NO_ITEMS: tuple[str, ...] = ()


class AsyncViveroClient(AsyncAdministration):
    """A connection to a server. Open it with `async with`, or end it with `aclose`.

    `address`, `credentials`: those of the environment by default, as for workers. `tenant_id`: the tenant of what it
    deploys, starts and sends, and of what it finds. `timeout_s`: the time for each answer. `retry_s`: the time for
    which a request is repeated while no server takes it, or its answer is lost. `connections`: the most that it opens.
    `nodes`: addresses of the cluster to which redirects may lead, with the credentials; others are not followed.
    All requests raise ClientError: BadRequest, NotAllowed, NotFound, Conflict, OutcomeUnknown, Unavailable.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        credentials: Credentials | None = None,
        tenant_id: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retry_s: float = RETRY_S,
        connections: int | None = None,
        nodes: Collection[str] = (),
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.address = address_from(address)
        self._nodes = frozenset(map(normalised, requests.texts("nodes", nodes)))
        self.tenant_id = tenant_id
        self._timeout_s, self._retry_s = timeout_s, check_time("retry_s", retry_s)
        found = credentials_from() if credentials is None else credentials
        self._http = http_client(self.address, found, timeout_s, transport, connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    # ---------------------------------------------------------------------------------------------------- requests

    async def send(self, request: ApiRequest) -> bytes:
        """The body of the answer to a request, which is repeated as far as nothing happens twice."""
        headers, content = request.headers(), request.content()
        repetition = Repetition(request.is_repeatable, anyio.current_time() + self._retry_s)
        while True:
            try:
                return await self._send_once(request, headers, content)
            except ClientError as error:
                pause_s = repetition.pause_after(error, anyio.current_time())
                if pause_s is None:
                    raise
            await anyio.sleep(pause_s)

    async def _send_once(self, request: ApiRequest, headers: dict[str, str], content: dict[str, Any]) -> bytes:
        found = await self._exchange(request, request.path, headers, content)
        if (target := redirect_of(found, self._nodes)) is not None:
            found = await self._exchange(request, target, headers, content)
        if not found.is_success:
            answer_of(found)
        return found.content

    async def _exchange(
        self, request: ApiRequest, url: str, headers: dict[str, str], content: dict[str, Any]
    ) -> httpx.Response:
        timeout = self._timeout_s + request.patience_s
        try:
            async with self._http.stream(request.method, url, headers=headers, timeout=timeout, **content) as response:
                return await whole(response)
        except NOT_SENT_OR_LOST as error:
            raise failure_of(error, self.address if url.startswith("/") else url) from error

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer of any path of the API, such as "/v2/topology"; None if it is empty.

        A request other than GET is not repeated after a lost answer: not all paths keep its key. Raises NotSendable for
        an address of another server, which must not get the credentials.
        """
        if not path.startswith("/"):
            raise NotSendable(f"the path {path!r} must begin with /")
        is_read = method.upper() == "GET"
        content = await self.send(ApiRequest(method, path, body, is_read=is_read, keeps_no_key=not is_read))
        return decoded(content, Any) if content else None

    async def _answer(self, request: ApiRequest, type_: type[T]) -> T:
        found: T = decoded(await self.send(request), type_)
        return found

    def _search(
        self,
        path: str,
        record: type[R],
        filter: Mapping[str, Any],
        sort: str | None,
        descending: bool,
        page_items: int,
        of_tenants: bool,
    ) -> AsyncSearch[R]:
        if of_tenants and self.tenant_id is not None:
            filter = {"tenant_id": self.tenant_id, **filter}
        return AsyncSearch(self.send, RecordQuery(path, record, filter_of(filter), sort, descending, page_items))

    # --------------------------------------------------------------------------------------------------- processes

    async def deploy(self, *files: FileToDeploy) -> Deployment:
        """Deploy all files, or none if one has a problem, which BadRequest names. A file: a path, or (name, bytes)."""
        return await self._answer(requests.deployment(files, self.tenant_id), Deployment)

    async def start(
        self,
        process: str,
        variables: object = None,
        /,
        *,
        version: int | None = None,
        business_id: str | None = None,
        tags: Collection[str] = (),
        before: Collection[str] = (),
        **named: Any,
    ) -> AsyncInstanceHandle:
        """Start a process by its id, by default its latest version. `before`: elements to start at, by their ids.

        Variables come from a mapping or an object with fields, and by name.
        """
        request = requests.creation(
            process,
            named_variables(variables, named),
            version=version,
            business_id=business_id,
            tags=tags,
            before=before,
            tenant_id=self.tenant_id,
        )
        return AsyncInstanceHandle(self, (await self._answer(request, Creation)).process_instance_key)

    async def run(
        self,
        process: str,
        variables: object = None,
        /,
        *,
        version: int | None = None,
        business_id: str | None = None,
        tags: Collection[str] = (),
        timeout_s: float = 60.0,
        **named: Any,
    ) -> dict[str, Any]:
        """Start a process, wait for its end, and give its variables.

        Raises StillRunning after `timeout_s`, at most twelve hours; Conflict if it is cancelled, NotFound.
        """
        check_time("timeout_s", timeout_s)
        created = requests.creation(
            process,
            named_variables(variables, named),
            version=version,
            business_id=business_id,
            tags=tags,
            before=NO_ITEMS,
            tenant_id=self.tenant_id,
        )
        until = anyio.current_time() + timeout_s
        headers = created.headers()
        repetition = Repetition(True, until + self._retry_s)
        wait_s = timeout_s
        while True:
            request = requests.awaited(created, wait_s)
            try:
                content = await self._send_once(request, headers, request.content())
                return dict(decoded(content, Creation).variables)
            except OutcomeUnknown as error:
                key = error.members.get("processInstanceKey")
                now = anyio.current_time()
                if key is not None and now >= until:
                    raise StillRunning("process instance", key, timeout_s) from error
                pause_s = repetition.pause_after(error, now)
                if pause_s is None:
                    raise
            except ClientError as error:
                pause_s = repetition.pause_after(error, anyio.current_time())
                if pause_s is None:
                    raise
            await anyio.sleep(pause_s)
            wait_s = max(until - anyio.current_time(), LEAST_WAIT_S)

    def instance(self, key: str | int) -> AsyncInstanceHandle:
        """The handle of an instance with a known key. This sends no request."""
        return AsyncInstanceHandle(self, str(key))

    async def cancel(self, instance: InstanceSubject) -> None:
        """End an instance and everything in it."""
        await self.send(requests.of_instance(instance, "cancellation"))

    async def modify(
        self,
        instance: InstanceSubject,
        *,
        activate: Collection[str] = (),
        move: Mapping[str, str] | Mapping[int, str] | None = None,
        terminate: Collection[str | int] = (),
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        """Activate, move and terminate elements by their ids; keys of element instances choose single ones."""
        body = requests.modification(activate, move or {}, terminate, named_variables(variables, {}))
        await self.send(requests.of_instance(instance, "modification", body))

    async def migrate(self, instance: InstanceSubject, target: DefinitionSubject, mappings: Mapping[str, str]) -> None:
        """Let an instance continue by another definition. `mappings`: from the ids of its elements to the new ones."""
        await self.send(requests.of_instance(instance, "migration", requests.migration(target, mappings)))

    async def suspend(self, instance: InstanceSubject, reason: str | None = None) -> None:
        """Suspend an instance: nothing in it moves until `resume`."""
        await self.send(requests.of_instance(instance, "suspension", {"reason": reason}))

    async def resume(self, instance: InstanceSubject) -> None:
        """End a suspension."""
        await self.send(requests.of_instance(instance, "resumption"))

    async def undo(self, instance: InstanceSubject) -> None:
        """Take the latest of these operations back (docs/undo.md). Raises Conflict, which says why there is none."""
        await self.send(requests.of_instance(instance, "undo"))

    async def set_variables(
        self, scope: ScopeSubject, variables: object = None, /, *, local: bool = False, **named: Any
    ) -> None:
        """Set variables where each is defined, as an instance or an element instance sees it; `local`: right there."""
        key = key_of(scope, "element_instance_key", "process_instance_key", "key")
        body = {"variables": named_variables(variables, named), "local": local}
        await self.send(requests.command("PUT", f"/v2/element-instances/{key}/variables", body))

    async def variables_of(self, scope: ScopeSubject) -> dict[str, Any]:
        """The variables that an instance or an element instance of any tenant has itself, by name."""
        key = key_of(scope, "element_instance_key", "process_instance_key", "key")
        path, of_scope = "/v2/variables/search?truncateValues=false", {"scope_key": key}
        found = self._search(path, VariableRecord, of_scope, None, False, DEFAULT_PAGE_ITEMS, False)
        return {one.name: one.decoded async for one in found}

    # --------------------------------------------------------------------------------------------- batch operations

    async def cancel_all(self, **filter: Unpack[ProcessInstanceFilter]) -> AsyncBatchHandle:
        """Cancel all active instances that fit."""
        return await self._batch("process-instances/cancellation", filter, {})

    async def suspend_all(self, reason: str | None = None, **filter: Unpack[ProcessInstanceFilter]) -> AsyncBatchHandle:
        """Suspend all active instances that fit."""
        return await self._batch("process-instances/suspension", filter, {"reason": reason})

    async def resume_all(self, **filter: Unpack[ProcessInstanceFilter]) -> AsyncBatchHandle:
        """Resume all suspended instances that fit."""
        return await self._batch("process-instances/resumption", filter, {})

    async def migrate_all(
        self, target: DefinitionSubject, mappings: Mapping[str, str], **filter: Unpack[ProcessInstanceFilter]
    ) -> AsyncBatchHandle:
        """Let all active instances that fit continue by another definition."""
        plan = {"migrationPlan": requests.migration(target, mappings)}
        return await self._batch("process-instances/migration", filter, plan)

    async def move_all(self, moves: Mapping[str, str], **filter: Unpack[ProcessInstanceFilter]) -> AsyncBatchHandle:
        """Move elements of all active instances that fit, from ids to ids."""
        pairs = [
            {"sourceElementId": source, "targetElementId": goal} for source, goal in requests.pairs("moves", moves)
        ]
        return await self._batch("process-instances/modification", filter, {"moveInstructions": pairs})

    async def resolve_all(self, **filter: Unpack[IncidentFilter]) -> AsyncBatchHandle:
        """Resolve all open incidents that fit."""
        return await self._batch("incidents/resolution", filter, {})

    async def _batch(self, path: str, filter: Mapping[str, Any], more: dict[str, Any]) -> AsyncBatchHandle:
        found = filter_of(filter)
        if self.tenant_id is not None and found:
            found = {"tenantId": self.tenant_id, **found}
        created = await self._answer(requests.batch(path, found, more), CreatedBatch)
        return AsyncBatchHandle(self, created.batch_operation_key)


class AsyncInstanceHandle:
    """A process instance, by its key."""

    def __init__(self, client: AsyncViveroClient, key: str) -> None:
        self._client = client
        self.key = key

    def __repr__(self) -> str:
        return f"<process instance {self.key}>"

    async def get(self) -> ProcessInstanceRecord:
        """Its state now."""
        found = await self._client.send(requests.get(f"/v2/process-instances/{path_part(self.key)}"))
        record: ProcessInstanceRecord = decoded(found, ProcessInstanceRecord)
        return record

    async def result(self, timeout_s: float | None = None) -> dict[str, Any]:
        """The variables at its end, for which it looks up to every second; an incident does not end it.

        Raises NotCompleted after a cancellation, StillRunning after `timeout_s`.
        """
        polling = Polling(None if timeout_s is None else anyio.current_time() + timeout_s)
        while (found := await self.get()).end_date is None:
            pause_s = polling.pause_after(anyio.current_time())
            if pause_s is None:
                more = ", but has an incident" if found.has_incident else ""
                raise StillRunning("process instance", self.key, timeout_s or 0.0, more)
            await anyio.sleep(pause_s)
        if found.state != "COMPLETED":
            raise NotCompleted(self.key)
        return await self.variables()

    async def variables(self) -> dict[str, Any]:
        """Its variables, by name."""
        return await self._client.variables_of(self)

    async def set_variables(self, variables: object = None, /, **named: Any) -> None:
        """Set variables of the instance."""
        await self._client.set_variables(self, variables, **named)

    async def cancel(self) -> None:
        """End it, and everything in it."""
        await self._client.cancel(self)

    def tasks(self) -> AsyncSearch[UserTaskRecord]:
        """Its open user tasks."""
        return self._client.tasks(process_instance_key=self.key, state="CREATED")


class AsyncBatchHandle:
    """A batch operation, by its key."""

    def __init__(self, client: AsyncViveroClient, key: str) -> None:
        self._client = client
        self.key = key

    async def get(self) -> BatchOperationRecord:
        """Its state and its counts now."""
        found = await self._client.send(requests.get(f"/v2/batch-operations/{path_part(self.key)}"))
        record: BatchOperationRecord = decoded(found, BatchOperationRecord)
        return record

    async def wait(self, timeout_s: float | None = None) -> BatchOperationRecord:
        """Its counts at its end. Raises StillRunning after `timeout_s`."""
        polling = Polling(None if timeout_s is None else anyio.current_time() + timeout_s)
        while (found := await self.get()).end_date is None:
            pause_s = polling.pause_after(anyio.current_time())
            if pause_s is None:
                raise StillRunning("batch operation", self.key, timeout_s or 0.0)
            await anyio.sleep(pause_s)
        return found

    async def cancel(self) -> None:
        """End it. Items that are done stay done."""
        path = f"/v2/batch-operations/{path_part(self.key)}/cancellation"
        await self._client.send(requests.command("POST", path, {}))


InstanceSubject = AsyncInstanceHandle | ProcessInstanceRecord | str | int
ScopeSubject = AsyncInstanceHandle | ProcessInstanceRecord | UserTaskRecord | msgspec.Struct | str | int
DefinitionSubject = msgspec.Struct | str | int
