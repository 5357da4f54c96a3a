"""The figures of `vivero top`: two readings of metrics, and the growth between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

LONG_S = 10.0
"""Longer times are shown in seconds."""

Labels = frozenset[tuple[str, str]]


NODE = "node"
"""The label of all series. A process that is started again is a new node."""
OF_SEVERAL = re.compile(r"#\d+-\d+-[0-9a-f]+$")
"""The end of a node's name, if the node is one of several processes of a program."""


@dataclass(frozen=True, slots=True)
class MetricReading:
    """All samples of the metrics of a node, or of several, at a time (seconds of any clock), by name and labels."""

    at: float
    samples: Mapping[str, Mapping[Labels, float]]
    nodes: frozenset[str]
    """The nodes that have samples. A sample without a node belongs to the node with an empty name."""

    def of(self, node: str) -> MetricReading:
        """The samples of one node."""
        chosen = {
            name: {found: value for found, value in series.items() if node_of(found) == node}
            for name, series in self.samples.items()
        }
        return MetricReading(self.at, {name: series for name, series in chosen.items() if series}, self.nodes & {node})

    def sum(self, name: str, **labels: str) -> float:
        """The sum of the series that have these labels; 0 without any."""
        chosen = labels.items()
        return sum(value for found, value in self.samples.get(name, {}).items() if chosen <= dict(found).items())

    def by(self, name: str, label: str) -> dict[str, float]:
        """Sums by the value of a label."""
        sums: dict[str, float] = {}
        for found, value in self.samples.get(name, {}).items():
            key = dict(found).get(label, "")
            sums[key] = sums.get(key, 0.0) + value
        return sums

    def most(self, name: str) -> float:
        """The largest value of the series; 0 without any."""
        return max(self.samples.get(name, {}).values(), default=0.0)


def read(text: str, at: float) -> MetricReading:
    """Read the text format of Prometheus. Raises ValueError."""
    samples: dict[str, dict[Labels, float]] = {}
    nodes: set[str] = set()
    for family in _families(text):
        for one in family.samples:
            nodes.add(one.labels.get(NODE, ""))
            samples.setdefault(one.name, {})[frozenset(one.labels.items())] = one.value
    return MetricReading(at, samples, frozenset(nodes))


def _families(text: str) -> list[Metric]:
    try:
        return list(text_string_to_metric_families(text))
    except (IndexError, KeyError) as error:  # the parser indexes lines that are cut off
        raise ValueError(f"a line is not in the text format of Prometheus: {error}") from error


def node_of(found: Labels) -> str:
    """The node of a series; empty without one."""
    return next((value for name, value in found if name == NODE), "")


@dataclass(frozen=True, slots=True)
class Between:
    """Two readings. A counter that fell tells of a restart, and counts from 0.

    A node that only the second reading has counts from the next one on: how long it has been counting is unknown.
    """

    first: MetricReading
    last: MetricReading

    @property
    def seconds(self) -> float:
        return max(self.last.at - self.first.at, 0.001)

    def of(self, node: str) -> Between:
        """The growth between the readings of one node."""
        return Between(self.first.of(node), self.last.of(node))

    def rate(self, name: str, **labels: str) -> float:
        """The growth of a counter per second."""
        return sum(grown for found, grown in self._grown(name) if labels.items() <= found.items()) / self.seconds

    def rates(self, name: str, label: str) -> dict[str, float]:
        """Rates by the value of a label, the highest first, without those that are 0."""
        sums: dict[str, float] = {}
        for found, grown in self._grown(name):
            key = found.get(label, "")
            sums[key] = sums.get(key, 0.0) + grown / self.seconds
        return dict(sorted(((key, value) for key, value in sums.items() if value > 0), key=lambda item: -item[1]))

    def _grown(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """The labels of each series of a counter, and its growth."""
        before, now = (each.samples.get(name, {}) for each in (self.first, self.last))
        restarted = {node_of(found) for found, value in now.items() if value < before.get(found, 0.0)}
        for found, value in now.items():
            if (node := node_of(found)) in self.first.nodes:
                yield dict(found), value - (0.0 if node in restarted else before.get(found, 0.0))

    def quantile(self, name: str, share: float, **labels: str) -> float | None:
        """The bound below which `share` of the values lie that a histogram has counted in between; None without any.

        It lies between the bounds of a bucket, in proportion, as Prometheus computes it.
        """
        grown = self._buckets(name, labels)
        total = max(grown.values(), default=0.0)
        if total <= 0:
            return None
        below, counted = 0.0, 0.0
        for bound in sorted(grown):
            if grown[bound] >= share * total:
                if bound == float("inf"):
                    return below
                return below + (bound - below) * (share * total - counted) / max(grown[bound] - counted, 1e-9)
            below, counted = bound, grown[bound]
        return below

    def _buckets(self, name: str, labels: Mapping[str, str]) -> dict[float, float]:
        grown: dict[float, float] = {}
        for found, growth in self._grown(f"{name}_bucket"):
            if labels.items() <= found.items():
                bound = float(found["le"])
                grown[bound] = grown.get(bound, 0.0) + growth
        return grown


REQUESTS = "vivero_http_request_time_seconds"
CREATION = {"method": "POST", "route": "/v2/process-instances"}


def rows(between: Between) -> list[tuple[str, str]]:
    """The rows of one node, in order: a name, and figures."""
    last = between.last
    unhealthy = [child for child, value in last.by("vivero_child_healthy", "child").items() if not value]
    return [
        *_node(last),
        *figures(between),
        ("CPU, memory", f"{cpu(between):.0%}, {memory(last)}"),
        ("withheld by machine", f"{between.rate('vivero_loop_withheld_seconds_total'):.0%} of the time"),
        ("restarts of tasks", _total(last.by("vivero_child_restarts_total", "child"))),
        ("unhealthy", ", ".join(sorted(unhealthy)) or "none"),
    ]


def figures(between: Between) -> list[tuple[str, str]]:
    """Figures of one node, or of several together."""
    last = between.last
    outcomes = between.rates("vivero_commands_total", "outcome")
    ended = between.rates("vivero_instances_ended_total", "state")
    polls, waiters = last.sum("vivero_long_polls"), last.sum("vivero_waiters")
    return [
        ("commands/s", _total(outcomes)),
        ("instances ended/s", _total(ended)),
        ("jobs/s", _jobs(between)),
        ("requests/s", f"{between.rate(f'{REQUESTS}_count'):,.0f}"),
        ("create p50 p99", _times(between, REQUESTS, CREATION)),
        ("commit p50 p99", _times(between, "vivero_batch_commit_time_seconds", {})),
        ("append p50 p99", _times(between, "vivero_append_time_seconds", {})),
        *_of_the_database(last),
        ("timers late p50 p99", _times(between, "vivero_timers_late_time_seconds", {})),
        ("waiting clients", f"{waiters:,.0f} for outcomes, {polls:,.0f} for jobs"),
        ("refused/s", f"{between.rate('vivero_append_refused_total'):,.0f}"),
    ]


def cpu(between: Between) -> float:
    """The number of cores that were busy on average."""
    return between.rate("process_cpu_seconds_total")


def memory(last: MetricReading) -> str:
    """The memory of the program, in MB."""
    return f"{last.sum('process_resident_memory_bytes') / 1e6:,.0f} MB"


def leads(last: MetricReading) -> str:
    """The number of partitions that are led."""
    count = last.sum("vivero_engine_leads")
    return f"{count:,.0f} partition{'s' * (count != 1)}"


def _node(last: MetricReading) -> Iterator[tuple[str, str]]:
    """The node that answers, and what it leads."""
    names = sorted(last.by("vivero_engine_leads", NODE) or last.by("vivero_appends_total", NODE))
    yield "node", f"{', '.join(names)}  leads {leads(last)}"
    if any(OF_SEVERAL.search(name) for name in names):
        yield "", "one process of several: vivero top --processes shows all"


def _jobs(between: Between) -> str:
    """Events of jobs per second."""
    events = ("created", "activated", "completed", "failed")
    return "  ".join(f"{event} {between.rate(f'vivero_jobs_{event}_total'):,.0f}" for event in events)


def _of_the_database(last: MetricReading) -> list[tuple[str, str]]:
    """Figures of the whole database, which one node of a cluster reads. Others would show a lag of 0 that is none."""
    if "vivero_log_lag" not in last.samples:
        return [("lag, jobs, timers …", "read by another node of the cluster, or not at all (see vivero status)")]
    commands, lag_s = last.sum("vivero_log_lag"), last.most("vivero_log_lag_time_seconds")
    pending, overdue_s = last.sum("vivero_timers_pending"), last.most("vivero_timers_overdue_seconds")
    return [
        ("lag", f"{commands:,.0f} command{'s' * (commands != 1)}, {lag_s:.1f} s"),
        ("running instances", f"{last.most('vivero_instances_running'):,.0f}"),
        ("jobs", _total(last.by("vivero_jobs", "state"))),
        ("oldest ready job", f"{last.most('vivero_jobs_oldest_ready_seconds'):,.0f} s"),
        ("incidents", _total(last.by("vivero_incidents", "type"))),
        ("timers", f"{pending:,.0f}, {_due(last, overdue_s)}"),
    ]


def _due(last: MetricReading, overdue_s: float) -> str:
    """The time until the next timer is due."""
    if "vivero_timers_next_due_seconds" not in last.samples:
        return "none is due"
    return (
        f"overdue {overdue_s:,.1f} s" if overdue_s else f"next in {last.most('vivero_timers_next_due_seconds'):,.0f} s"
    )


def _total(figures: Mapping[str, float]) -> str:
    """The sum, and what it is made of."""
    parts = "".join(f"  {name} {value:,.0f}" for name, value in figures.items() if value)
    return f"{sum(figures.values()):,.0f}{parts}"


def _times(between: Between, name: str, labels: Mapping[str, str]) -> str:
    found = [between.quantile(name, share, **labels) for share in (0.5, 0.99)]
    return "  ".join("-" if one is None else _time(one) for one in found)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms" if seconds < LONG_S else f"{seconds:,.0f} s"
