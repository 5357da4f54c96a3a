"""A small client of the REST API for the command line, workers and the demonstration.

    async with Client(address) as client:
        created = await client.create("order", {"total": 30})

The client runs under Trio and asyncio. Every failure is an exception whose text is one readable line.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from vivero.client.addresses import Credentials, address_from, connections_to, credentials_from, http_client, normalised
from vivero.client.answers import (
    Answer,
    ApiError,
    BadAddress,
    ClientError,
    Document,
    Missing,
    NotSendable,
    Page,
    Unreachable,
    answer_of,
    position_in,
    whole,
    why_not_sendable,
)
from vivero.client.failures import NOT_SENT_OR_LOST, failure_of
from vivero.client.http1.connections import KeptConnections, Reply
from vivero.config.files import Unreadable, read_bytes

__all__ = [
    "Answer",
    "ApiError",
    "BadAddress",
    "Client",
    "ClientError",
    "Credentials",
    "Document",
    "Missing",
    "NotSendable",
    "Page",
    "Unreachable",
    "address_from",
    "check_new",
    "credentials_from",
    "normalised",
    "path_part",
]

TIMEOUT_S = 30.0
PAGE_ITEMS = 100
"""Items that a search requests at a time."""


def path_part(text: str) -> str:
    """A text as one part of a path. Raises NotSendable, also for the parts that lead to another path."""
    if text in (".", ".."):
        raise NotSendable(f"'{text}' cannot be a part of a path: a URL with it means another one")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as error:  # an argument that was not UTF-8
        raise NotSendable(why_not_sendable(error)) from error


def check_new(cursor: str, seen: set[str]) -> None:
    """Note the cursor of a next page. Raises ClientError for one that was there before: the pages would never end."""
    if cursor in seen:
        raise ClientError(f"the answer repeats the page '{cursor}': is it a Vivero server?")
    seen.add(cursor)


class Client:
    """A connection to one server. Open it with `async with`.

    `credentials` are those of the environment by default. An empty text sends none. `connections`: the most that the
    client opens, and keeps.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
        credentials: Credentials | None = None,
        connections: int | None = None,
    ) -> None:
        found = credentials_from() if credentials is None else credentials
        self.address = normalised(address)
        self._http = http_client(self.address, found, timeout_s, transport, connections)
        self._usual = transport is None
        self._connect = partial(connections_to, self.address, found, timeout_s, connections)
        self._connections: KeptConnections | None = None

    async def __aenter__(self) -> Client:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connections is not None:
            await self._connections.close()
        await self._http.__aexit__(kind, error, trace)

    async def request(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a request, with `body` as JSON. Raises ApiError, Unreachable."""
        if body is not None:
            options["json"] = body
        return answer_of(await self._send(method, path, **options))

    async def exchange(
        self,
        method: str,
        path: str,
        content: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> tuple[bytes, int | None]:
        """Send JSON as it is. Gives the body of the answer as it is, and the command's position in the log, if any.

        `timeout`: the seconds of silence until the request has failed. Raises ApiError, Unreachable.
        """
        sent = {**(headers or {}), "content-type": "application/json"}
        response = await self._exchanged(method, path, content, sent, timeout)
        if not 200 <= response.status_code < 300:
            request = httpx.Request(method, f"{self.address}{path}")
            answer_of(
                httpx.Response(
                    response.status_code, headers=response.headers, content=response.content, request=request
                )
            )
        return response.content, position_in(response.headers)

    async def _exchanged(
        self, method: str, path: str, content: bytes, headers: Mapping[str, str], timeout: float | None
    ) -> Reply | httpx.Response:
        """Raises Unreachable."""
        if self._usual and self._connections is None:
            self._connections = self._connect()
            self._usual = self._connections is not None
        if self._connections is None:
            options = {} if timeout is None else {"timeout": timeout}
            return await self._send(method, path, content=content, headers=headers, **options)
        try:
            return await self._connections.request(method, path, content, headers, timeout)
        except NOT_SENT_OR_LOST as error:
            raise failure_of(error, self.address) from error

    async def get(self, path: str) -> Document:
        """The document at a path. Raises ApiError, Unreachable."""
        return (await self.request("GET", path)).document

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Raises Unreachable."""
        try:
            async with self._http.stream(method, path, **options) as response:
                return await whole(response)
        except NOT_SENT_OR_LOST as error:
            raise failure_of(error, self.address) from error

    # ------------------------------------------------------------------------------------------------ the server

    async def healthy(self) -> bool:
        """True if every part of the server makes progress."""
        try:
            await self.request("GET", "/v2/status")
        except ApiError as error:
            if error.status == 503:
                return False
            raise
        return True

    async def metrics(self) -> str:
        """The metrics of the node in the text format of Prometheus."""
        return await self.text("/metrics")

    async def text(self, path: str) -> str:
        """A document that is not JSON."""
        response = await self._send("GET", path)
        if not response.is_success:
            answer_of(response)
        return response.text

    async def processes(self) -> Document:
        """The processes of the program whose admin port is this client's address, healthy or not."""
        try:
            return await self.get("/status")
        except ApiError as error:
            if error.status == 503 and "processes" in error.members:
                return error.members
            raise

    async def topology(self) -> Document:
        """The nodes, their partitions and versions."""
        return await self.get("/v2/topology")

    async def nodes(self) -> Document:
        """All nodes of the cluster, and the partitions that they lead."""
        return await self.get("/cluster/nodes")

    async def figures(self) -> Document:
        """Figures of the whole database: backlog, what runs and waits, the size. Those that took too long are null."""
        return await self.get("/cluster/figures")

    async def node_status(self) -> Document:
        """The health of the node that answers, what the machine gives it, and figures of its tasks and partitions."""
        return await self.get("/cluster/status")

    async def set_draining(self, node: str, draining: bool) -> None:
        """Make a node hand its partitions over, or take that back."""
        await self.request("PUT" if draining else "DELETE", f"/cluster/nodes/{path_part(node)}/draining")

    async def set_log_levels(self, node: str, levels: Mapping[str, str]) -> None:
        """Change the levels of a node's loggers; an empty mapping takes that back."""
        path = f"/cluster/nodes/{path_part(node)}/log-levels"
        await (self.request("PUT", path, {"levels": dict(levels)}) if levels else self.request("DELETE", path))

    async def command(self, position: int) -> Document:
        """The command at a position of the log, with its outcome and events."""
        return await self.get(f"/v2/commands/{position}")

    # ------------------------------------------------------------------------------------------------- processes

    async def deploy(self, files: Iterable[Path]) -> Document:
        """Deploy all files, or none if one has a problem."""
        try:
            parts = [("resources", (file.name, read_bytes(file), "application/octet-stream")) for file in files]
        except Unreadable as error:
            raise ClientError(str(error)) from error
        return (await self.request("POST", "/v2/deployments", files=parts)).document

    async def create(
        self,
        process_id: str,
        variables: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        business_id: str | None = None,
        tags: Iterable[str] = (),
        await_s: float | None = None,
    ) -> Document:
        """Start a process by its id. With `await_s`, wait up to this many seconds for its end."""
        body: Document = {"processDefinitionId": process_id, "variables": dict(variables or {})}
        if version is not None:
            body["processDefinitionVersion"] = version
        if business_id is not None:
            body["businessId"] = business_id
        if tags := list(tags):
            body["tags"] = tags
        patience_s = TIMEOUT_S
        if await_s is not None:
            body |= {"awaitCompletion": True, "requestTimeout": int(await_s * 1000)}
            patience_s += await_s
        return (await self.request("POST", "/v2/process-instances", body, timeout=patience_s)).document

    async def evaluate_decision(self, decision_id: str, variables: Mapping[str, Any] | None = None) -> Document:
        """Evaluate the latest version of a decision. `failureMessage` says why an evaluation has failed."""
        body = {"decisionDefinitionId": decision_id, "variables": dict(variables or {})}
        return (await self.request("POST", "/v2/decision-definitions/evaluation", body)).document

    async def trace(self, instance_key: str) -> AsyncIterator[Document]:
        """Yield the commands of a process instance, oldest first. Their `lines` describe the events."""
        path = f"/v2/process-instances/{path_part(instance_key)}/trace"
        page, seen = (await self.request("GET", path)).document, set[str]()
        while True:
            for item in page["items"]:
                yield item
            if page["next"] is None:
                return
            check_new(str(page["next"]), seen)
            page = (await self.request("GET", f"{path}?after={page['next']}")).document

    async def cancel(self, instance_key: str) -> Answer:
        """End an instance and everything in it."""
        return await self.request("POST", f"/v2/process-instances/{path_part(instance_key)}/cancellation", {})

    async def modify(self, instance_key: str, instructions: Mapping[str, Any]) -> Answer:
        """Activate, move and terminate elements of an instance. `instructions`: the lists as requests name them."""
        path = f"/v2/process-instances/{path_part(instance_key)}/modification"
        return await self.request("POST", path, dict(instructions))

    async def assign_business_id(self, instance_key: str, business_id: str) -> Answer:
        """Give a business id to an instance that has none."""
        path = f"/v2/process-instances/{path_part(instance_key)}/business-id-assignment"
        return await self.request("POST", path, {"businessId": business_id})

    async def migration_plan(self, source: str, target: str, include_called: bool = False) -> Document:
        """Suggested mappings from one definition to another, also of what its instances have called."""
        path = f"/v2/process-definitions/{path_part(source)}/migration-plan"
        body = {"targetProcessDefinitionKey": target, "includeCalled": include_called}
        return (await self.request("POST", path, body)).document

    async def instance(self, key: str) -> Document:
        """The process instance with a key."""
        return await self.get(f"/v2/process-instances/{path_part(key)}")

    async def set_variables(self, scope_key: str, variables: Mapping[str, Any]) -> Answer:
        """Set variables in the scope of a process instance or an element instance."""
        path = f"/v2/element-instances/{path_part(scope_key)}/variables"
        return await self.request("PUT", path, {"variables": dict(variables)})

    async def fire(self, timer_key: str) -> Answer:
        """Fire a timer now."""
        return await self.request("POST", f"/v2/timers/{path_part(timer_key)}/trigger")

    # ------------------------------------------------------------------------------------------- batch operations

    async def create_batch_operation(self, path: str, filter: Mapping[str, Any], more: Mapping[str, Any] = {}) -> str:
        """Change everything that matches: process-instances/cancellation, incidents/resolution, … Returns the key.

        `more`: further properties of the request.
        """
        body = {"filter": dict(filter), **more}
        key: str = (await self.request("POST", f"/v2/{path}", body)).document["batchOperationKey"]
        return key

    async def forecast(self, path: str, filter: Mapping[str, Any], more: Mapping[str, Any] = {}) -> Document:
        """The forecast of a batch operation: the outcomes of its items. Nothing is created."""
        return (await self.request("POST", f"/v2/{path}?dryRun=true", {"filter": dict(filter), **more})).document

    async def batch_operation(self, key: str) -> Document:
        """The state and the counts of a batch operation."""
        return await self.get(f"/v2/batch-operations/{path_part(key)}")

    async def change_batch_operation(self, key: str, action: str) -> None:
        """The `suspension`, `resumption` or `cancellation` of a batch operation."""
        await self.request("POST", f"/v2/batch-operations/{path_part(key)}/{action}", {})

    # -------------------------------------------------------------------------------------------------- searches

    async def search(
        self,
        resource: str,
        filter: Mapping[str, Any] | None = None,
        *,
        sort: str | None = None,
        descending: bool = False,
        limit: int = PAGE_ITEMS,
        after: str | None = None,
        whole_values: bool = False,
    ) -> Page:
        """One page of a resource: process-instances, jobs, incidents, variables, element-instances, and so on.

        `whole_values`: long values of variables are not truncated.
        """
        page: Document = {"limit": limit} | ({} if after is None else {"after": after})
        body: Document = {"filter": dict(filter or {}), "page": page}
        if sort is not None:
            body["sort"] = [{"field": sort, "order": "DESC" if descending else "ASC"}]
        query = "?truncateValues=false" if whole_values else ""
        found = (await self.request("POST", f"/v2/{resource}/search{query}", body)).document
        items, about = _objects(found["items"]), found["page"]
        if not isinstance(about, dict):
            raise ClientError("the answer has no page: is it a Vivero server?")
        last = about["endCursor"] if len(items) == limit else None
        if last is not None and last == after:
            raise ClientError("the answer repeats the last page: is it a Vivero server?")
        return Page(items, about["totalItems"], last, bool(about.get("hasMoreTotalItems")))

    async def search_all(
        self, resource: str, filter: Mapping[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[Document]:
        """Yield all matches, page by page."""
        after = None
        while True:
            page = await self.search(resource, filter, after=after, **options)
            for item in page.items:
                yield item
            after = page.after
            if after is None:
                return

    # ------------------------------------------------------------------------------------------ incidents and jobs

    async def incident(self, key: str) -> Document:
        """The incident with a key."""
        return await self.get(f"/v2/incidents/{path_part(key)}")

    async def resolve(self, incident_key: str) -> Answer:
        """Resolve an incident: the server retries the failed step."""
        return await self.request("POST", f"/v2/incidents/{path_part(incident_key)}/resolution", {})

    async def repair(
        self, incident_key: str, variables: Mapping[str, Any] | None = None, retries: int = 1
    ) -> list[int]:
        """Resolve an incident: first set `variables` in its element's scope, and give its job retries if it has none.

        Returns the positions of the commands.
        """
        incident = await self.incident(incident_key)
        answers = []
        if variables:
            answers.append(await self.set_variables(incident["elementInstanceKey"], variables))
        if incident["jobKey"] is not None:
            jobs = await self.search("jobs", {"jobKey": incident["jobKey"]})
            if any(job["retries"] == 0 for job in jobs.items):
                answers.append(await self.set_retries(incident["jobKey"], retries))
        answers.append(await self.resolve(incident_key))
        return [answer.position for answer in answers if answer.position is not None]

    async def set_retries(self, job_key: str, retries: int) -> Answer:
        """Set a job's number of retries."""
        return await self.request("PATCH", f"/v2/jobs/{path_part(job_key)}", {"changeset": {"retries": retries}})


def _objects(items: Any) -> list[Document]:
    """The items of an answer. Raises ClientError if they are no list of objects."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ClientError("the answer has no list of objects: is it a Vivero server?")
    return items
