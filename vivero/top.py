"""What `vivero top` shows: two readings of metrics, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

LONG_S = 10.0
"""Longer times are shown in seconds."""

Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """All samples of a node's metrics at a time (seconds of any clock), by name and labels."""

    at: float
    samples: Mapping[str, Mapping[Labels, float]]

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


def read(text: str, at: float) -> Reading:
    """Read the text format of Prometheus. Raises ValueError."""
    samples: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            samples.setdefault(one.name, {})[frozenset(one.labels.items())] = one.value
    return Reading(at, samples)


@dataclass(frozen=True, slots=True)
class Between:
    """Two readings of one node. A counter that fell tells of a restart, and counts from 0."""

    first: Reading
    last: Reading

    @property
    def seconds(self) -> float:
        return max(self.last.at - self.first.at, 0.001)

    def rate(self, name: str, **labels: str) -> float:
        """The growth of a counter per second."""
        before, now = self.first.sum(name, **labels), self.last.sum(name, **labels)
        return (now - before if now >= before else now) / self.seconds

    def rates(self, name: str, label: str) -> dict[str, float]:
        """Rates by the value of a label, the highest first, without those that are 0."""
        before, now = self.first.by(name, label), self.last.by(name, label)
        grown = {key: value - (was if (was := before.get(key, 0.0)) <= value else 0.0) for key, value in now.items()}
        found = {key: value / self.seconds for key, value in grown.items() if value > 0}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

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
        before, now = (each.samples.get(f"{name}_bucket", {}) for each in (self.first, self.last))
        if any(value < before.get(found, 0.0) for found, value in now.items()):
            before = {}
        for found, value in now.items():
            known = dict(found)
            if labels.items() <= known.items():
                bound = float(known["le"])
                grown[bound] = grown.get(bound, 0.0) + value - before.get(found, 0.0)
        return grown


def rows(between: Between) -> list[tuple[str, str]]:
    """What is shown, in order: a name, and figures."""
    last, requests = between.last, "vivero_http_request_time_seconds"
    creation = {"method": "POST", "route": "/v2/process-instances"}
    outcomes = between.rates("vivero_commands_total", "outcome")
    ended = between.rates("vivero_instances_ended_total", "state")
    restarts = last.by("vivero_child_restarts_total", "child")
    polls, waiters = last.sum("vivero_long_polls"), last.sum("vivero_waiters")
    cpu, memory = between.rate("process_cpu_seconds_total"), last.sum("process_resident_memory_bytes")
    unhealthy = [child for child, value in last.by("vivero_child_healthy", "child").items() if not value]
    return [
        ("node", _node(last)),
        ("commands/s", _total(outcomes)),
        ("instances ended/s", _total(ended)),
        ("jobs/s", _jobs(between)),
        ("requests/s", f"{between.rate(f'{requests}_count'):,.0f}"),
        ("create p50 p99", _times(between, requests, creation)),
        ("commit p50 p99", _times(between, "vivero_batch_commit_time_seconds", {})),
        ("append p50 p99", _times(between, "vivero_append_time_seconds", {})),
        *_of_the_database(last),
        ("timers late p50 p99", _times(between, "vivero_timers_late_time_seconds", {})),
        ("waiting clients", f"{waiters:,.0f} for outcomes, {polls:,.0f} for jobs"),
        ("refused/s", f"{between.rate('vivero_append_refused_total'):,.0f}"),
        ("CPU, memory", f"{cpu:.0%}, {memory / 1e6:,.0f} MB"),
        ("restarts of tasks", _total(restarts)),
        ("unhealthy", ", ".join(sorted(unhealthy)) or "none"),
    ]


def _node(last: Reading) -> str:
    """The node that answers, and what it leads."""
    leads = last.sum("vivero_engine_leads")
    names = sorted(last.by("vivero_engine_leads", "node") or last.by("vivero_appends_total", "node"))
    return f"{', '.join(names)}  leads {leads:,.0f} partition{'s' * (leads != 1)}"


def _jobs(between: Between) -> str:
    """What happened to jobs."""
    events = ("created", "activated", "completed", "failed")
    return "  ".join(f"{event} {between.rate(f'vivero_jobs_{event}_total'):,.0f}" for event in events)


def _of_the_database(last: Reading) -> list[tuple[str, str]]:
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


def _due(last: Reading, overdue_s: float) -> str:
    """When the next timer is due."""
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
