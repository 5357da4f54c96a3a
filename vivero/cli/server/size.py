"""The command `size`."""

from __future__ import annotations

from dataclasses import asdict

import click

from vivero.cli.shared.options import Seconds, json_option, say
from vivero.operations.sizing import USED, Size, Workload, size
from vivero.terminal.texts import echo

USUAL = Workload(1)


class Amount(Seconds):
    """A finite number from 0 on."""


@click.command("size")
@click.argument("rate", metavar="RATE", type=Amount(1e-6))
@click.option("--jobs", type=Amount(), metavar="N", default=USUAL.jobs, show_default=True, help="Jobs of an instance.")
@click.option(
    "--variables", type=Amount(), metavar="N", default=USUAL.variables, show_default=True, help="Its variables."
)
@click.option(
    "--value-bytes",
    type=Amount(),
    metavar="N",
    default=USUAL.value_bytes,
    show_default=True,
    help="Bytes of a variable.",
)
@click.option(
    "--days", type=Amount(), metavar="N", default=USUAL.retention_days, show_default=True, help="Days of retention."
)
@click.option(
    "--hours",
    type=Amount(),
    metavar="N",
    default=USUAL.duration_s / 3600,
    show_default=True,
    help="Hours that one runs.",
)
@click.option("--peak", type=Amount(1), metavar="N", default=USUAL.peak, show_default=True, help="Peak: times RATE.")
@click.option(
    "--nodes",
    type=click.IntRange(1, 100),
    metavar="N",
    default=USUAL.nodes,
    show_default=True,
    help="Nodes of all roles.",
)
@json_option
def size_(
    rate: float,
    jobs: float,
    variables: float,
    value_bytes: float,
    days: float,
    hours: float,
    peak: float,
    nodes: int,
    as_json: bool,
) -> None:
    """Compute cores, memory, disk and connections for RATE instances a second, the mean of a day.

    The costs were measured on two shared cores; those of further jobs are estimated. Measure yours before you buy.

    \b
    Examples:
      vivero size 50
      vivero size 200 --jobs 5 --days 14 --nodes 3 --json
    """
    workload = Workload(rate, jobs, variables, value_bytes, days, hours * 3600, peak, nodes)
    found = size(workload)
    if as_json:
        say(asdict(found))
        return
    for name, text in _lines(workload, found):
        echo(f"{name:<22} {text}")
    for advice in found.advice:
        echo(f"\n{advice}")


def _lines(workload: Workload, found: Size) -> list[tuple[str, str]]:
    planned = f"at the peak of {workload.instances_per_s * workload.peak:,.0f} a second, {USED:.0%} used"
    return [
        ("nodes", f"{workload.nodes}, each with --processes {found.processes}"),
        ("cores of the nodes", f"{_cores(found.program_cores)} in all, {planned}"),
        ("memory of a process", f"{_bytes(found.node_memory_bytes)} when all its budgets are used"),
        ("partitions", f"--partitions {found.partitions}"),
        ("cores of PostgreSQL", f"{_cores(found.postgres_cores)}, {planned}"),
        ("memory of PostgreSQL", f"{_bytes(found.postgres_memory_bytes)}, for the indexes of a day and of what runs"),
        ("max_connections", f"{found.connections:,}"),
        ("disk", f"{_bytes(found.disk_bytes)} for {workload.retention_days:g} days, and WAL"),
        ("WAL", f"{_bytes(found.wal_bytes_per_s)} a second at the peak"),
        ("running at a time", f"{found.running:,} instances"),
    ]


def _cores(cores: float) -> str:
    return f"{max(0.1, cores):,.1f}"


def _bytes(count: float) -> str:
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count / 1e3:,.1f} kB"
