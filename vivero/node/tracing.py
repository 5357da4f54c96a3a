"""The traces of a node, as the supervision tree sees them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

import trio

from vivero.config.sections import Config
from vivero.engine.tracing.tracer import Tracer
from vivero.metrics.sources import SpanCounts
from vivero.node.part import NodePart

CLOSE_S = 1.0
"""More than `flush_s`, after which a stop waits no longer for the thread."""


class SpanExport(Protocol):
    """`vivero.tracing.export.Export`."""

    @property
    def exported(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    def flush(self) -> None: ...

    def close(self, timeout_s: float) -> None: ...


class NodeTracing(NodePart):
    """The tracer of a node, and what becomes of its spans. OpenTelemetry is imported only if there is a collector."""

    def __init__(self, config: Config, node: str) -> None:
        self._settings = config.tracing
        self.tracer: Tracer | None = None
        self._export: SpanExport | None = None
        if self._settings.otlp_endpoint is not None:
            from opentelemetry.sdk.resources import Resource

            from vivero.tracing import export

            resource = Resource.create(
                {
                    "service.name": self._settings.service_name,
                    "service.version": config.api.version,
                    "service.instance.id": node,
                    "process.pid": os.getpid(),
                }
            )
            readable = export.Readable(resource, config.api.version)
            exporter, prepared = export.to_collector(self._settings.otlp_endpoint, readable)
            made = export.Export(exporter, prepared, self._settings.queue_size)
            self._export, self.tracer = made, Tracer(self._settings.sample_ratio, made.record)

    def figures(self) -> Iterator[object]:
        if self._export is not None:
            yield SpanCounts(self._export.exported, self._export.dropped)

    async def flush(self) -> None:
        """Export what is queued, however long the collector takes."""
        if self._export is not None:
            await trio.to_thread.run_sync(self._export.flush, abandon_on_cancel=True)

    async def close(self) -> None:
        """Export what is queued, for at most some seconds."""
        if self._export is None:
            return
        with trio.move_on_after(self._settings.flush_s + CLOSE_S, shield=True):
            await trio.to_thread.run_sync(self._export.close, self._settings.flush_s, abandon_on_cancel=True)
