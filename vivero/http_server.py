"""The HTTP server of a node: the REST API, the pages, and what of them survives a restart of the server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import structlog
import trio

from vivero.api import app, server, status_only
from vivero.api.access.authentication import Authenticator
from vivero.api.access.code_flow import CodeFlow
from vivero.api.access.signing_keys import SigningKeys
from vivero.api.command_routing import CommandRouting
from vivero.api.job_turns import JobTurns
from vivero.api.long_polls import LongPolls
from vivero.api.request_ids import RequestIds, identified
from vivero.api.server import Endpoint
from vivero.api.services import Services
from vivero.api.tls import server as tls_server
from vivero.config import Config
from vivero.connections import Pools
from vivero.engine.runtime.consumer.handovers import Handovers
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.supervision.children import Child
from vivero.roles import Role
from vivero.storage.postgres.pool import Pool
from vivero.web import application as web
from vivero.web.application import WebParts
from vivero.web.console_files import find_console
from vivero.web.live import Hub
from vivero.web.mount import mount
from vivero.web.sign_in import SignIn

log = structlog.get_logger(__name__)

POLLERS = 10
"""The most pollers for each place of a waiting request. A worker has one for each of its tenants; and one that lost its
place to another address has left its poller a moment later."""


class HttpServer:
    """The server's state for the whole life of the program: long polls, streams, the memory of callers."""

    def __init__(self, config: Config, pools: Pools, handovers: Handovers) -> None:
        self._config, self._pools = config, pools
        self.max_waiting = min(config.api.max_waiting, config.http.max_connections * 3 // 4)
        self.routing = CommandRouting(led=handovers.led)
        turns = JobTurns(lambda: self.routing.routes.all, handovers.led)
        self.long_polls = LongPolls(
            POLLERS * self.max_waiting, config.api.slow_poll_s, config.api.activations_bytes, turns
        )
        self.hub = Hub(min(config.web.max_streams, config.http.max_connections // 4), config.web.max_streams_per_client)
        access = _access(config, pools.reads)
        self.sign_in: SignIn | None = access[0]
        self.access: Authenticator | None = access[1]

    def child(self, endpoint: Endpoint, services: Callable[[], Services]) -> Child:
        """The server as a child. Each of its restarts builds new services."""
        drain, certificate = trio.Event(), endpoint.certificate
        serve_http = server.serve if certificate is None else partial(tls_server.serve, certificate=certificate)

        async def serve(beat: Beat) -> None:
            built = services()
            served = self._served(built)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(built.deadlines.run)
                if self.access is not None:
                    nursery.start_soon(self.access.failed_sign_ins.run)
                await serve_http(served, endpoint, settings=self._config.http, drain=drain, beat=beat.beat)
                nursery.cancel_scope.cancel()

        def finish() -> None:
            """Finish open requests. Long polls and streams of hints end at once."""
            drain.set()
            self.long_polls.close()
            self.hub.close()

        return Child("api", serve, self._pools.abort, finish)

    def _served(self, services: Services) -> app.App:
        """The REST API, or the status only without the role `api`; and the pages with the role `web`."""
        config = self._config
        api = app.build(services) if config.has_role(Role.API) else status_only.build(services, config.roles)
        if not config.has_role(Role.WEB):
            return api
        files = find_console()
        if files is None:
            log.info("the console is not built, so its pages are missing", build="make console")
        pages = identified(web.build(WebParts(config.api, self.hub, files, self.sign_in)), RequestIds())
        return mount(api, pages)


def _access(config: Config, pool: Pool) -> tuple[SignIn, Authenticator] | tuple[None, None]:
    """Nothing without authentication. The memory of callers survives restarts of the HTTP server."""
    auth = config.auth
    if auth.mode == "none":
        return None, None
    keys = SigningKeys(auth.oidc_issuer, auth.oidc_jwks) if auth.oidc_issuer else None
    flow = CodeFlow(auth, keys) if keys is not None and auth.oidc_client_id else None
    authenticator = Authenticator(auth, pool, keys)
    return SignIn(authenticator, pool, auth, flow), authenticator
