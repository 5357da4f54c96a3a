"""The tasks of metrics: the reading of the database's figures, pushes to a collector, and a port of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import structlog
import trio
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult

from vivero.api.http1.listeners import ListenError, open_listeners
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving import metrics_only
from vivero.api.serving.server import Endpoint, serve
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.failures import Escalated
from vivero.metrics.lazy import Lazy
from vivero.metrics.lazy_exposition import Exposition
from vivero.metrics.settings import MetricsSettings

log = structlog.get_logger(__name__)

PUSH_TIMEOUT_S = 10.0


def children(settings: MetricsSettings, exposition: Lazy[Exposition], http: ServerSettings) -> Iterator[Child]:
    """The tasks that the settings ask for."""
    if settings.otlp_endpoint is not None:
        yield Child("metrics-push", Push(exposition, settings.otlp_endpoint, settings.otlp_every_s).run)
    if settings.port is not None:
        yield _server(settings, exposition, http)


class Push:
    """Pushes metrics to a collector. The log tells once that they do not arrive, and once that they do again."""

    def __init__(self, exposition: Lazy[Exposition], endpoint: str, every_s: float) -> None:
        self._exposition, self._endpoint, self._every_s = exposition, endpoint, every_s
        self._works = True

    async def run(self, beat: Beat) -> None:
        """Push until cancelled."""
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # half a second

        from vivero.tracing.collectors import CollectorSession

        exporter = OTLPMetricExporter(self._endpoint, timeout=PUSH_TIMEOUT_S, session=CollectorSession())
        try:
            while True:
                await beat.sleep(self._every_s)
                await self._push(exporter, beat)
        finally:
            exporter.shutdown()

    async def _push(self, exporter: MetricExporter, beat: Beat) -> None:
        data = await (await self._exposition.get()).data()
        with beat.waiting(2 * PUSH_TIMEOUT_S):
            result = await trio.to_thread.run_sync(exporter.export, data, abandon_on_cancel=True)
        works = result is MetricExportResult.SUCCESS
        if works is not self._works:
            tell = log.info if works else log.warning
            tell("metrics reach the collector again" if works else "metrics do not reach the collector")
        self._works = works


def _server(settings: MetricsSettings, exposition: Lazy[Exposition], http: ServerSettings) -> Child:
    """A server for GET /metrics alone."""
    drain = trio.Event()

    async def run(beat: Beat) -> None:
        endpoint = Endpoint(await _listen(settings))
        try:
            log.info("metrics are served", host=settings.host, port=_port(endpoint.listeners))
            shown = (await exposition.get()).text
            await serve(metrics_only.build(shown), endpoint, settings=http, drain=drain, beat=beat.beat)
        finally:
            for listener in endpoint.listeners:
                listener.socket.close()

    return Child("metrics", run, drain=drain.set)


async def _listen(settings: MetricsSettings) -> list[trio.SocketListener]:
    try:
        return await open_listeners(settings.host, settings.port or 0)
    except ListenError as error:
        raise Escalated(f"{error} (setting metrics.port)") from error


def _port(listeners: Sequence[trio.SocketListener]) -> int:
    port: int = listeners[0].socket.getsockname()[1]
    return port
