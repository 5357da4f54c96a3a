"""Metrics of one program through the OpenTelemetry SDK: text for Prometheus, and pushes to a collector.

The numbers are read in the thread of the event loop, and converted in another one: the tables have some hundred series,
and the conversion takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import time_ns

import trio
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Metric, MetricReader, MetricsData, ResourceMetrics
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from vivero.api.http.metrics import Metrics
from vivero.metrics import histograms
from vivero.metrics.histograms import HistogramCollector, Point
from vivero.metrics.instruments import INSTRUMENTS, Instrument, InstrumentKind, Observed
from vivero.metrics.process import PROCESS
from vivero.metrics.sources import Sources

NODE = "node"
"""The label of all series."""
PUSHED = (*INSTRUMENTS, *PROCESS)
"""The instruments that a collector gets, besides histograms."""


class _Numbers:
    """The numbers of one moment, by instrument, as observable instruments read them."""

    def __init__(self, reader: MetricReader, resource: Resource, instruments: Sequence[Instrument]) -> None:
        self._by_name: Mapping[str, Sequence[Observed]] = {}
        self._provider = MeterProvider([reader], resource, shutdown_on_exit=False)
        meter = self._provider.get_meter("vivero")
        for one in instruments:
            make = (
                meter.create_observable_counter if one.kind is InstrumentKind.COUNTER else meter.create_observable_gauge
            )
            make(one.name, [self._observing(one.name)], one.unit, one.description)

    def set(self, numbers: Mapping[str, Sequence[Observed]]) -> None:
        self._by_name = numbers

    def _observing(self, name: str) -> Callable[[CallbackOptions], Iterator[Observation]]:
        def observe(_options: CallbackOptions) -> Iterator[Observation]:
            for value, labels in self._by_name.get(name, ()):
                yield Observation(value, labels)

        return observe


class _OfNode(Collector):
    """Shows what another collector does, with the label of the node."""

    def __init__(self, inner: Collector, node: str) -> None:
        self._inner, self._node = inner, node

    def collect(self) -> Iterator[Family]:
        for family in self._inner.collect():
            family.samples = [one._replace(labels={**one.labels, NODE: self._node}) for one in family.samples]
            yield family


class SdkExposition:
    """The metrics of one program. Each of its two formats is made by one thread at a time."""

    def __init__(self, sources: Callable[[], Sources], node: str, version: str) -> None:
        self._sources, self._began_ns = sources, time_ns()
        self._resource = Resource.create(
            {"service.name": "vivero", "service.instance.id": node, "service.version": version, NODE: node}
        )
        self._registry = CollectorRegistry()
        self._histograms = HistogramCollector(**{NODE: node})
        self._registry.register(self._histograms)
        for collector in (ProcessCollector, GCCollector):
            self._registry.register(_OfNode(collector(registry=CollectorRegistry()), node))
        self._shown = _Numbers(
            PrometheusMetricReader(
                scope_info_enabled=False, resource_attribute_filter=NODE.__eq__, registry=self._registry
            ),
            self._resource,
            INSTRUMENTS,
        )
        self._pushed: _Numbers | None = None
        """The instruments of pushes, once there is one: most programs push nothing."""
        self._reader = InMemoryMetricReader()
        self._showing, self._pushing = trio.Lock(), trio.Lock()

    async def text(self) -> Metrics:
        """The metrics in the text format of Prometheus."""
        async with self._showing:
            numbers, points = self._read(INSTRUMENTS)
            return await trio.to_thread.run_sync(self._text, numbers, points)

    async def data(self) -> MetricsData:
        """The metrics in OpenTelemetry's data model."""
        async with self._pushing:
            numbers, points = self._read(PUSHED)
            return await trio.to_thread.run_sync(self._data, numbers, points)

    def _read(self, instruments: Sequence[Instrument]) -> tuple[Mapping[str, Sequence[Observed]], Sequence[Point]]:
        sources = self._sources()
        return {one.name: list(one.read(sources)) for one in instruments}, histograms.read_all(sources)

    def _text(self, numbers: Mapping[str, Sequence[Observed]], points: Sequence[Point]) -> Metrics:
        self._shown.set(numbers)
        self._histograms.points = points
        return Metrics(CONTENT_TYPE_LATEST, generate_latest(self._registry))

    def _data(self, numbers: Mapping[str, Sequence[Observed]], points: Sequence[Point]) -> MetricsData:
        if self._pushed is None:
            self._pushed = _Numbers(self._reader, self._resource, PUSHED)
        self._pushed.set(numbers)
        data = self._reader.get_metrics_data()
        assert data is not None, "there are instruments"
        more = histograms.as_metrics(points, self._began_ns, time_ns())
        return MetricsData([_with(resource, more) for resource in data.resource_metrics])


def _with(resource: ResourceMetrics, more: Sequence[Metric]) -> ResourceMetrics:
    first, *others = resource.scope_metrics
    return replace(resource, scope_metrics=[replace(first, metrics=[*first.metrics, *more]), *others])
