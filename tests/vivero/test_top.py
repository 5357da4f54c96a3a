"""The figures of `vivero top` from two readings of metrics, and its page for a real program."""

import io

import pytest
import trio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from rich.console import Console

from tests.vivero.metrics.nodes import running
from vivero.cli.looking.top import Answers, show_all
from vivero.client.rest import Client
from vivero.terminal import top_processes
from vivero.terminal.top import Between, MetricReading, read, rows


class Metrics:
    """Metrics that a test counts, and readings of them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.commands = Counter("vivero_commands", "C", ["intent", "outcome"], registry=self.registry)
        self.waiting = Gauge("vivero_log_lag", "W", registry=self.registry)
        self.lag = Gauge("vivero_log_lag_time_seconds", "L", ["partition"], registry=self.registry)
        self.commits = Histogram(
            "vivero_batch_commit_time_seconds", "H", buckets=(0.01, 0.1, 1), registry=self.registry
        )

    def read(self, at):
        return read(generate_latest(self.registry).decode(), at)


@pytest.fixture
def metrics():
    return Metrics()


def test_rates_are_what_was_counted_in_between(metrics):
    metrics.commands.labels("A", "accepted").inc(100)
    first = metrics.read(0.0)
    metrics.commands.labels("A", "accepted").inc(10)
    metrics.commands.labels("B", "rejected").inc(4)
    between = Between(first, metrics.read(2.0))
    assert between.rate("vivero_commands_total") == 7.0
    assert between.rate("vivero_commands_total", outcome="rejected") == 2.0
    assert between.rates("vivero_commands_total", "intent") == {"A": 5.0, "B": 2.0}


def test_a_counter_that_fell_counts_from_zero(metrics):
    metrics.commands.labels("A", "accepted").inc(3)
    restarted = metrics.read(1.0)
    metrics.commands.labels("A", "accepted").inc(100)
    assert Between(metrics.read(0.0), restarted).rate("vivero_commands_total") == 3.0


def test_quantiles_are_those_of_what_was_counted_in_between(metrics):
    metrics.commits.observe(0.5)
    first = metrics.read(0.0)
    assert Between(first, first).quantile("vivero_batch_commit_time_seconds", 0.5) is None
    for _ in range(10):
        metrics.commits.observe(0.05)
    between = Between(first, metrics.read(1.0))
    assert between.quantile("vivero_batch_commit_time_seconds", 0.5) == pytest.approx(0.055)
    metrics.commits.observe(5)
    between = Between(first, metrics.read(1.0))
    assert between.quantile("vivero_batch_commit_time_seconds", 1.0) == 1.0, "the highest bound"


def test_after_a_restart_rates_and_quantiles_count_from_zero(metrics):
    metrics.commands.labels("A", "accepted").inc(3)
    metrics.commits.observe(0.05)
    restarted = metrics.read(1.0)
    metrics.commands.labels("A", "accepted").inc(100)
    for _ in range(10):
        metrics.commits.observe(0.5)
    between = Between(metrics.read(0.0), restarted)
    assert between.rates("vivero_commands_total", "intent") == {"A": 3.0}
    assert between.quantile("vivero_batch_commit_time_seconds", 1.0) == pytest.approx(0.1)


def test_the_lag_is_that_of_the_partition_that_is_furthest_behind(metrics):
    metrics.waiting.set(1)
    metrics.lag.labels("1").set(3)
    metrics.lag.labels("2").set(0.5)
    reading = metrics.read(0.0)
    assert dict(rows(Between(reading, reading)))["lag"] == "1 command, 3.0 s"


def test_timers_are_due_overdue_or_none(metrics):
    def shown():
        reading = metrics.read(0.0)
        return dict(rows(Between(reading, reading)))["timers"]

    metrics.waiting.set(0)
    assert shown() == "0, none is due"
    due = Gauge("vivero_timers_next_due_seconds", "D", registry=metrics.registry)
    due.set(70)
    assert shown() == "0, next in 70 s"
    Gauge("vivero_timers_overdue_seconds", "O", registry=metrics.registry).set(12)
    assert shown() == "0, overdue 12.0 s"


def test_a_node_that_does_not_read_the_database_shows_no_figures_of_it():
    nothing = read("", 0.0)
    shown = dict(rows(Between(nothing, nothing)))
    assert "lag" not in shown
    assert shown["lag, jobs, timers …"].startswith("read by another node")


def told(at, **commands):
    """A reading of the metrics of several nodes: node → commands since its start."""
    return read("".join(f'vivero_commands_total{{node="{node}"}} {count}\n' for node, count in commands.items()), at)


def test_a_process_that_is_replaced_or_silent_makes_no_rate_of_its_whole_past():
    first = told(0.0, one=1_000, two=500)
    between = Between(first, told(1.0, one=1_010, three=3))
    assert between.rate("vivero_commands_total") == 10.0
    back = Between(told(1.0, one=1_010), told(2.0, one=1_010, two=520))
    assert back.rate("vivero_commands_total") == 0.0
    assert [between.of(node).rate("vivero_commands_total") for node in ("one", "two", "three")] == [10.0, 0.0, 0.0]


PROCESSES = (
    {"name": "1", "node": "one", "healthy": True},
    {"name": "2", "node": "two", "healthy": False},
    {"name": "3", "healthy": False, "problem": "process 3 does not answer"},
)


def test_each_process_has_a_line():
    between = Between(told(0.0, one=0, two=0), told(2.0, one=10, two=4))
    shown = top_processes.lines(between, PROCESSES)
    assert [(line["process"], line["health"], line["commands/s"]) for line in shown] == [
        ("1", "healthy", "5"),
        ("2", "unhealthy", "2"),
        ("3", "no answer", ""),
    ]
    together = dict(top_processes.rows(between, PROCESSES))
    assert together["processes"] == "1 of 3 healthy, lead 0 partitions"
    assert together["commands/s"].split()[0] == "7"


@pytest.mark.parametrize("count", [2, 5, 40])
def test_processes_fit_on_a_terminal_of_24_lines(count):
    processes = [{"name": str(number), "node": f"n{number}", "healthy": number != count} for number in range(count + 1)]
    reading = told(1.0, **{process["node"]: 1_000_000 for process in processes}, other=1)
    lag = MetricReading(1.0, {**reading.samples, "vivero_log_lag": {frozenset({("node", "n1")}): 1.0}}, reading.nodes)
    view = show_all(Between(lag, lag), Answers(lag, processes))
    printed = io.StringIO()
    Console(width=80, height=24, file=printed).print(view.screen(24))
    lines = printed.getvalue().splitlines()
    assert len(lines) <= 23
    assert "restarts" in printed.getvalue(), "no column is cut"
    assert sum("unhealthy" in line for line in lines) == 1, "the process with trouble is shown"
    assert len(view.document["each"]) == count + 1
    assert any("more" in line for line in lines) == (count > 4)


def test_one_process_of_several_says_how_to_see_them_all():
    several = read('vivero_engine_leads{node="host#2-17-0a1b2c3d"} 1\n', 0.0)
    assert ("", "one process of several: vivero top --processes shows all") in rows(Between(several, several))
    alone = read('vivero_engine_leads{node="host-17-0a1b2c3d"} 1\n', 0.0)
    assert "" not in dict(rows(Between(alone, alone)))


async def test_a_real_program_is_shown(database):
    async with running(database) as node, Client(str(node.client.base_url)) as client:
        await node.deploy()
        first = read(await client.metrics(), trio.current_time())
        await node.create()
        shown = dict(rows(Between(first, read(await client.metrics(), trio.current_time()))))
    assert shown["commands/s"].split("  ")[1].startswith("accepted ")
    assert shown["node"] == "one  leads 1 partition"
    assert shown["jobs/s"].startswith("created ")
    assert shown["create p50 p99"].count("ms") == 2
    assert shown["unhealthy"] == "none"


@pytest.mark.parametrize("text", ['a_total{node="x", =="1"} 5 123', "<html>", '{"a": 1}', "\0", "a{"])
def test_a_text_of_another_program_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"\S"):
        read(f"# TYPE a counter\n{text}\n", 0.0)
