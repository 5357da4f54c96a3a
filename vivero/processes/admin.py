"""The admin port: the processes of a program by name, and their figures added up.

It is an ASGI application of its own, because the parent serves no REST API. It has the same rules for web pages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

import structlog
import trio

from vivero.api.http.metrics import Metrics
from vivero.api.http.origins import Gate
from vivero.api.http.problems import Problem, not_found, unexpected_value
from vivero.api.http.request import Receive, Request, Send
from vivero.api.http.request_ids import RequestIds, identified
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.http.router import Router
from vivero.api.http1.problems import problem_body
from vivero.api.settings import ApiSettings
from vivero.engine.supervision.chaos import KINDS
from vivero.engine.supervision.children import ChildHealth
from vivero.processes.channel import Status
from vivero.processes.child_process import ChildProcess, NoAnswer

log = structlog.get_logger(__name__)

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Handler = Callable[[Request], Awaitable[Response]]
"""Raises Problem."""


class Admin:
    """The handlers. `health` tells of the parent's own children, among them the processes."""

    def __init__(
        self, processes: Sequence[ChildProcess], health: Callable[[], Sequence[ChildHealth]], chaos: bool
    ) -> None:
        self._processes = {process.name: process for process in processes}
        self._health = health
        self._chaos = chaos

    @property
    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        """(method, path, handler)."""
        return (
            ("GET", "/status", self.status),
            ("GET", "/metrics", self.metrics),
            ("GET", "/processes/{name}/status", self.process_status),
            ("POST", "/processes/{name}/chaos/children/{child}", self.inflict),
        )

    async def status(self, _request: Request) -> Response:
        """GET /status: all processes, and sums. 200 if all are healthy, otherwise 503."""
        found: dict[str, Mapping[str, Any]] = {}

        async def ask(process: ChildProcess) -> None:
            found[process.name] = await self._described(process)

        async with trio.open_nursery() as nursery:
            for process in self._processes.values():
                nursery.start_soon(ask, process)
        documents = [found[name] for name in self._processes]
        own = [child for child in self._health() if not child.name.startswith(PREFIX)]
        healthy = all(document["healthy"] for document in documents) and all(child.healthy for child in own)
        sums = {
            name: sum(document.get(name, 0) for document in documents)
            for name in ("connections", "accepted", "requests")
        }
        return json_response(
            {"healthy": healthy, **sums, "processes": documents, "children": own}, status=200 if healthy else 503
        )

    async def metrics(self, _request: Request) -> Response:
        """GET /metrics: those of all processes. A process that does not answer is left out; its label is missing."""
        shown: list[Metrics] = []

        async def ask(process: ChildProcess) -> None:
            try:
                answer = await process.metrics()
            except NoAnswer:
                return
            if answer is not None:
                shown.append(answer)

        async with trio.open_nursery() as nursery:
            for process in self._processes.values():
                nursery.start_soon(ask, process)
        if not shown:
            raise Problem(503, "UNAVAILABLE", "No process shows metrics: they are off, or the processes do not answer")
        text = merged([one.text.decode() for one in shown]).encode()
        return Response(200, text, ((b"content-type", shown[0].content_type.encode()),))

    async def process_status(self, request: Request) -> Response:
        """GET /processes/{name}/status: 200 if the process is healthy, otherwise 503."""
        document = await self._described(self._process(request))
        return json_response(document, status=200 if document["healthy"] else 503)

    async def inflict(self, request: Request) -> Response:
        """POST /processes/{name}/chaos/children/{child}?kind=raise|cancel|hang."""
        if not self._chaos:
            raise Problem(404, "Not Found", "The program was started without --chaos")
        process, kind = self._process(request), request.query.get("kind", KINDS[0])
        if kind not in KINDS:
            raise unexpected_value(kind, "kind", KINDS)
        try:
            inflicted = await process.inflict(request.params["child"], kind)
        except NoAnswer as error:
            raise Problem(503, "UNAVAILABLE", f"{error}") from error
        if not inflicted.known:
            raise not_found("Child", request.params["child"], by="name")
        if not inflicted.running:
            raise Problem(409, "INVALID_STATE", f"The child '{request.params['child']}' is not running")
        return no_content()

    def _process(self, request: Request) -> ChildProcess:
        name = request.params["name"]
        if name not in self._processes:
            raise not_found("Process", name[:100], by="name")
        return self._processes[name]

    async def _described(self, process: ChildProcess) -> Mapping[str, Any]:
        try:
            said = await process.status()
        except NoAnswer as error:
            return {"name": process.name, "pid": process.pid, "healthy": False, "problem": str(error)}
        return _document(process, said)


def merged(texts: Sequence[str]) -> str:
    """Several texts of metrics as one, in which each family of metrics occurs once. Labels tell the nodes apart."""
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for text in texts:
        family = ""
        for line in text.splitlines():
            if line.startswith("# "):
                family = line.split(" ", 3)[2]
                samples.setdefault(family, [])
                if line not in heads.setdefault(family, []):
                    heads[family].append(line)
            else:
                samples.setdefault(family, []).append(line)
    return "".join(f"{line}\n" for family in samples for line in (*heads.get(family, ()), *samples[family]))


PREFIX = "process-"
"""The parent's children that supervise processes are named so."""


def _document(process: ChildProcess, said: Status) -> Mapping[str, Any]:
    return {
        "name": process.name,
        "pid": process.pid,
        "node": said.node,
        "healthy": said.healthy,
        "connections": said.connections,
        "accepted": said.accepted,
        "requests": said.requests,
        "children": said.children,
    }


def build(admin: Admin, settings: ApiSettings) -> App:
    """The application. `settings` are those of the REST API, with the host of the admin port."""
    router, gate = Router(admin.routes), Gate(settings)

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        try:
            response = await _respond(router, gate, scope)
        except Problem as problem:
            response = problem.response(scope["path"])
        except Exception:
            log.exception("a request to the admin port failed", method=scope["method"])
            response = Response(500, problem_body(500, "The log has the details", scope["path"]))
        headers = [*response.headers, (b"content-length", b"%d" % len(response.body))]
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})

    return identified(app, RequestIds())


async def _respond(router: Router[Handler], gate: Gate, scope: Scope) -> Response:
    method, path = scope["method"], scope["path"]
    gate.check(method, scope["headers"])
    match = router.match(path, scope.get("raw_path"))
    if match is None:
        raise Problem(404, "Not Found", f"The admin port has no resource '{path[:200]}'; it has /status")
    handler = match.methods.get("GET" if method == "HEAD" else method)
    if handler is None:
        raise Problem(405, "Method Not Allowed", f"Request method '{method[:20]}' is not supported")
    return await handler(Request(method, path, scope["headers"], b"", scope["query_string"], match.params))
