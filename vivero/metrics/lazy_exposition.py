"""The exposition of metrics, which is imported when somebody asks for metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from vivero.api.http.metrics import Metrics
from vivero.metrics.lazy import Lazy
from vivero.metrics.sources import Sources


class Exposition(Protocol):
    """The metrics of a moment."""

    async def text(self) -> Metrics:
        """As text for Prometheus."""

    async def data(self) -> Any:
        """As data of OpenTelemetry's SDK."""


def lazy_exposition(sources: Callable[[], Sources], node: str, version: str) -> Lazy[Exposition]:
    """The exposition. The import of OpenTelemetry and Prometheus would take a tenth of the time of a start."""

    def make() -> Exposition:
        from vivero.metrics import exposition

        return exposition.SdkExposition(sources, node, version)

    return Lazy(make)
