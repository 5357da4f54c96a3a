"""The table of histograms, and their two formats.

OpenTelemetry has no histogram that is read instead of written, and writing costs 5 µs a value. So ours (`Buckets`) are
converted when somebody asks: for Prometheus as a collector, for OTLP as data points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from opentelemetry.sdk.metrics.export import AggregationTemporality, Histogram, HistogramDataPoint, Metric
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from vivero.api.http.metrics import RequestFigures
from vivero.engine.appender.task import Appender
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.counters.buckets import Buckets
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.timers.task import Timers
from vivero.metrics.sources import NamedPool, Sources

T = TypeVar("T")
Series = tuple[Mapping[str, str], Buckets]


@dataclass(frozen=True, slots=True)
class HistogramInstrument:
    """A row of the table. `unit` is `s`, or in braces."""

    name: str
    unit: str
    description: str
    read: Callable[[Sources], Iterable[Series]]


def of_consumers(name: str) -> Callable[[Sources], Iterable[Series]]:
    """A histogram of each consumer, by partition."""

    def read(sources: Sources) -> Iterator[Series]:
        for consumer in sources.of(Consumer):
            yield {"partition": str(consumer.partition)}, getattr(consumer.stats, name)

    return read


def only(kind: type[T], read: Callable[[T], Buckets]) -> Callable[[Sources], Iterable[Series]]:
    """A histogram without labels."""
    return lambda sources: (({}, read(found)) for found in sources.of(kind))


def _requests(sources: Sources) -> Iterator[Series]:
    for requests in sources.of(RequestFigures):
        for (method, route, status), buckets in requests.by_kind.items():
            yield {"method": method, "route": route, "status": str(status)}, buckets


def _late(sources: Sources) -> Iterator[Series]:
    for timers in sources.of(Timers):
        yield {"partition": str(timers.partition)}, timers.stats.late_s


def _pools(sources: Sources) -> Iterator[Series]:
    for one in sources.of(NamedPool):
        yield {"pool": one.name}, one.waited_s


HISTOGRAMS: Sequence[HistogramInstrument] = (
    HistogramInstrument("vivero.batch.commands", "{command}", "Commands of a batch.", of_consumers("batch_size")),
    HistogramInstrument(
        "vivero.batch.compute.time", "s", "From the commands of a batch to its statements.", of_consumers("compute_s")
    ),
    HistogramInstrument("vivero.batch.commit.time", "s", "Commits of batches.", of_consumers("commit_s")),
    HistogramInstrument(
        "vivero.append.call.time", "s", "Calls that append commands.",
        only(Appender, lambda appender: appender.stats.call_s),
    ),
    HistogramInstrument(
        "vivero.append.time", "s", "From the first command of a call to its position.",
        only(Appender, lambda appender: appender.stats.waited_s),
    ),
    HistogramInstrument(
        "vivero.definitions.load.time", "s", "Parsing of files that were not in the cache.",
        only(DefinitionCache, lambda cache: cache.load_s),
    ),
    HistogramInstrument(
        "vivero.timers.late.time", "s", "From the due date of a timer to its processed trigger.", _late
    ),
    HistogramInstrument(
        "vivero.pool.wait.time", "s", "Waits for a connection of a pool that had none free.", _pools
    ),
    HistogramInstrument(
        "vivero.loop.turn.time", "s", "Turns of the event loop above 1 ms: nobody is served meanwhile.",
        only(LoopProbe, lambda probe: probe.turn_s),
    ),
    HistogramInstrument(
        "vivero.http.request.time", "s", "Requests, from their head to the answer. Long polls wait.", _requests
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """The numbers of a histogram at one moment."""

    instrument: HistogramInstrument
    labels: Mapping[str, str]
    bounds: Sequence[float]
    counts: Sequence[int]
    sum: float


def read_all(sources: Sources) -> list[Point]:
    """The numbers of all histograms now."""
    return [
        Point(instrument, labels, buckets.bounds, list(buckets.counts), buckets.sum)
        for instrument in HISTOGRAMS
        for labels, buckets in instrument.read(sources)
    ]


class HistogramCollector(Collector):
    """Shows points to Prometheus. `points` are replaced before each collection."""

    def __init__(self, **always: str) -> None:
        """`always` are labels of all series."""
        self.points: Sequence[Point] = ()
        self._always = always

    def collect(self) -> Iterator[HistogramMetricFamily]:
        families: dict[str, HistogramMetricFamily] = {}
        for point in self.points:
            instrument, labels = point.instrument, {**self._always, **point.labels}
            family = families.get(instrument.name)
            if family is None:
                name = instrument.name.replace(".", "_") + ("_seconds" if instrument.unit == "s" else "")
                family = HistogramMetricFamily(name, instrument.description, labels=list(labels))
                families[instrument.name] = family
            bounds = [*map(str, point.bounds), "+Inf"]
            family.add_metric(
                list(labels.values()), list(zip(bounds, accumulate(point.counts), strict=True)), point.sum
            )
        yield from families.values()


def as_metrics(points: Sequence[Point], began_ns: int, now_ns: int) -> list[Metric]:
    """The points in OpenTelemetry's data model. Times are in ns since the epoch."""
    grouped: dict[str, list[Point]] = {}
    for point in points:
        grouped.setdefault(point.instrument.name, []).append(point)
    return [
        Metric(
            name,
            some[0].instrument.description,
            some[0].instrument.unit,
            Histogram([_data_point(one, began_ns, now_ns) for one in some], AggregationTemporality.CUMULATIVE),
        )
        for name, some in grouped.items()
    ]


def _data_point(point: Point, began_ns: int, now_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=dict(point.labels),
        start_time_unix_nano=began_ns,
        time_unix_nano=now_ns,
        count=sum(point.counts),
        sum=point.sum,
        bucket_counts=list(point.counts),
        explicit_bounds=list(point.bounds),
        min=float("inf"),
        max=float("-inf"),
    )
