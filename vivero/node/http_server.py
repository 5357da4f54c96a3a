"""The HTTP server of a node: the REST API, the pages, and what of them survives a restart of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import structlog
import trio

from vivero.api import app
from vivero.api.access.authentication import Authenticator
from vivero.api.access.rates import rates
from vivero.api.access.verified import Keys
from vivero.api.activation.job_turns import JobTurns
from vivero.api.activation.long_polls import LongPolls
from vivero.api.admission.command_routing import CommandRouting
from vivero.api.admission.redirects import Redirects
from vivero.api.admission.waits import Waits
from vivero.api.documents.links import LinkKeys
from vivero.api.http.request_ids import RequestIds, identified
from vivero.api.http.shared_budget import SharedBudget
from vivero.api.services import (
    AccessServices,
    CommandServices,
    DocumentServices,
    FileServices,
    JobServices,
    ObservingServices,
    ReadServices,
    Services,
)
from vivero.api.serving import server, status_only
from vivero.api.serving.server import Endpoint
from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.consumer.limits import step_limits
from vivero.engine.documents.opening import open_stores
from vivero.engine.dry_runs.dry_runs import DryRuns
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.tracing.tracer import Tracer
from vivero.library import simulation
from vivero.metrics.lazy import Lazy
from vivero.node.connections import Pools
from vivero.node.connector_tasks import ConnectorTasks
from vivero.node.engine_tasks import EngineTasks
from vivero.node.metrics import NodeMetrics
from vivero.node.models import NodeModels
from vivero.node.node_events import NodeEvents
from vivero.node.outcome_waits import OutcomeWaits
from vivero.node.part import NodePart
from vivero.node.status_figures import status_figures
from vivero.storage.access.identities import CHANNEL as IDENTITIES_CHANNEL
from vivero.storage.access.identities import SESSIONS_ENDED
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.cluster.routes import ROUTES_CHANNEL
from vivero.storage.postgres.pool import Pool
from vivero.web.console.console_files import ConsoleFiles, find_console
from vivero.web.live import Hub
from vivero.web.mount import App, Receive, Scope, Send, mount

log = structlog.get_logger(__name__)

POLLERS = 10
"""The most pollers for each place of a waiting request. A worker has one for each of its tenants; and one that lost its
place to another address has left its poller a moment later."""


class HttpServer(NodePart):
    """The server's state for the whole life of the program: long polls, streams, the memory of callers."""

    def __init__(
        self,
        config: Config,
        node: str,
        endpoint: Endpoint,
        *,
        pools: Pools,
        models: NodeModels,
        outcomes: OutcomeWaits,
        engine: EngineTasks,
        connectors: ConnectorTasks,
        events: NodeEvents,
        supervisor: Supervisor,
        metrics: NodeMetrics,
        tracer: Tracer | None,
    ) -> None:
        self._config, self._node, self._endpoint, self._pools = config, node, endpoint, pools
        self._models, self._outcomes, self._engine, self._connectors = models, outcomes, engine, connectors
        self._events, self._supervisor, self._metrics, self._tracer = events, supervisor, metrics, tracer
        self._max_waiting = min(config.api.max_waiting, config.http.max_connections * 3 // 4)
        self.routing = CommandRouting(led=engine.duties.led)
        turns = JobTurns(lambda: self.routing.routes.all, engine.duties.led)
        self.long_polls = LongPolls(
            POLLERS * self._max_waiting, config.api.slow_poll_s, config.api.activations_bytes, turns
        )
        self.hub = Hub(min(config.web.max_streams, config.http.max_connections // 4), config.web.max_streams_per_client)
        access = _access(config, pools.reads)
        self._documents = DocumentServices(
            config.documents,
            links=LinkKeys(config.documents.max_link_s),
            stores=open_stores(config.documents, pools.reads.connection),
        )
        self.access: Authenticator | None = access[0]
        self._keys: Keys | None = access[1]

    def hears(self, events: NodeEvents) -> None:
        """Subscribe to what ends waits, and to what requests choose by."""
        events.lease_new = self.long_polls.lease_new
        events.jobs.append(self.long_polls.available)
        events.progress += [self.routing.loads.processed, self.hub.processed]
        events.channels.changed(self.long_polls.wake_all, CLOCK_CHANNEL)
        events.channels.changed(self.routing.outdated, ROUTES_CHANNEL)
        if self.access is not None:
            events.channels.notified(IDENTITIES_CHANNEL, partial(identities_changed, self.access, self.long_polls))

    def figures(self) -> Iterator[object]:
        yield self.long_polls
        yield self.hub
        yield self._endpoint.figures

    def children(self) -> Iterator[Child]:
        """The server, if it has sockets. Each of its restarts builds new services."""
        if not self._endpoint.listeners:
            return
        endpoint, drain, serve_http = self._endpoint, trio.Event(), server.serve
        if endpoint.certificate is not None:
            from vivero.api.tls import server as tls_server  # hypercorn: a twentieth of a start

            serve_http = partial(tls_server.serve, certificate=endpoint.certificate)

        async def serve(beat: Beat) -> None:
            if self._config.has_role(Role.API):
                await self._pools.open()
            built = self._services()
            served = self._served(built)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(built.commands.deadlines.run)
                if self.access is not None:
                    nursery.start_soon(self.access.failed_sign_ins.run)
                await serve_http(served, endpoint, settings=self._config.http, drain=drain, beat=beat.beat)
                nursery.cancel_scope.cancel()

        def finish() -> None:
            """Finish open requests. Long polls and streams of hints end at once."""
            drain.set()
            self.long_polls.close()
            self.hub.close()

        yield Child("api", serve, self._pools.abort, finish)

    def _services(self) -> Services:
        """The services of one life of the server."""
        config, pools, engine, models = self._config, self._pools, self._engine, self._models
        access, observed = self.access, self._metrics
        return Services(
            config.api,
            CommandServices(
                engine.appender,
                self._outcomes.completions,
                self.routing,
                Redirects(self._node, engine.view) if config.api.redirect_to_leader else None,
                waits=Waits(self._max_waiting),
                dry_runs=DryRuns(step_limits(config.consumer, config.timers.rules), models.limits),
            ),
            ReadServices(
                pools.reads, pools.readers, SharedBudget(max(config.api.pages_bytes, config.api.max_page_bytes))
            ),
            JobServices(self.long_polls, pools.leasing, pools.large_jobs),
            FileServices(
                models.definitions,
                models.limits,
                models.compute,
                self._connectors.webhooks,
                engine.archive,
                config.retention.archive_deletions,
                simulation.run,
            ),
            ObservingServices(
                self._supervisor,
                self._node,
                self._status,
                observed.shown_by_api,
                observed.requests,
                self._tracer,
                self._supervisor.chaos if config.chaos else None,
                self._events.clock_changed if config.control_clock else None,
            ),
            AccessServices(
                access,
                None if access is None else access.check_password,
                rates(config.api),
                config.tenants.enabled,
                config.audit,
                bool(config.auth.oidc_client_id),
            ),
            documents=self._documents,
        )

    def _status(self) -> Mapping[str, Any]:
        return status_figures(self._supervisor, self._engine.consumers, self._models.definitions, trio.current_time())

    def _served(self, services: Services) -> app.App:
        """The REST API, or the status only without the role `api`; and the pages with the role `web`."""
        config = self._config
        api = app.build(services) if config.has_role(Role.API) else status_only.build(services, config.roles)
        if not config.has_role(Role.WEB):
            return api
        files = find_console()
        if files is None:
            log.info("the console is not built, so its pages are missing", build="make console")
        return mount(api, _when_asked(partial(self._pages, files)))

    def _pages(self, files: ConsoleFiles | None) -> App:
        """The pages. The import of Quart and its libraries takes a fifth of the time of a start."""
        from vivero.api.access.code_flow import CodeFlow
        from vivero.web import application
        from vivero.web.sign_in.sign_in_pages import SignIn

        config, sign_in = self._config, None
        if self.access is not None:
            flow = CodeFlow(config.auth, self._keys) if self._keys is not None and config.auth.oidc_client_id else None
            sign_in = SignIn(self.access, self._pools.reads, config.auth, flow)
        pages = application.build(application.WebParts(config.api, self.hub, files, sign_in))
        return identified(pages, RequestIds())


def identities_changed(access: Authenticator, long_polls: LongPolls, payload: str) -> None:
    """Long polls end with a change of rights only: people sign out all day."""
    if payload == SESSIONS_ENDED:
        access.forget_sessions()
    else:
        access.forget()
        long_polls.end_waits()


def _when_asked(make: Callable[[], App]) -> App:
    """An application that is made at the first request."""
    made = Lazy(make)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await (await made.get())(scope, receive, send)

    return app


def _access(config: Config, pool: Pool) -> tuple[Authenticator, Keys | None] | tuple[None, None]:
    """Nothing without authentication. The memory of callers survives restarts of the HTTP server."""
    auth, keys = config.auth, None
    if auth.mode == "none":
        return None, None
    if auth.oidc_issuer:
        from vivero.api.access.signing_keys import SigningKeys  # the libraries of HTTP and of tokens

        keys = SigningKeys(auth.oidc_issuer, auth.oidc_jwks)
    return Authenticator(auth, pool, keys), keys
