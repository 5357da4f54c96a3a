"""`vivero size` computes with the costs of the documentation."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from vivero.cli.server.size import size_
from vivero.config import budget
from vivero.config.sections import Config
from vivero.operations import sizing
from vivero.operations.sizing import Workload, size

DOCS = Path(__file__).parents[2] / "docs"


def test_the_costs_are_those_of_the_documentation():
    figures = (DOCS / "benchmarks.md").read_text()
    found = re.search(r"API node, engine node, PostgreSQL: (\d+), (\d+) and (\d+) µs", figures)
    assert tuple(map(int, found.groups())) == (sizing.API_US, sizing.ENGINE_US, sizing.POSTGRES_US)
    growth = (DOCS / "operations" / "growth.md").read_text()
    tables, indexes = (int(number.replace(",", "")) for number in re.findall(r"\*\*([\d,]+)\*\*", growth))
    assert round(tables + indexes, -3) == sizing.INSTANCE_BYTES + 4 * sizing.VARIABLE_BYTES
    job, logs = re.search(r"element with a job costs about ([\d.]+) kB in the state\s+and ([\d.]+) kB", growth).groups()
    assert round((float(job) + float(logs)) * 1000) == sizing.JOB_BYTES
    assert f"writes {sizing.WAL_BYTES // 1000} kB of WAL" in growth
    assert f"({sizing.STATE_INDEX_BYTES / 1000} GB for a million instances)" in growth


def test_a_small_workload_fits_on_two_small_machines():
    found = size(Workload(10, value_bytes=0))
    assert (found.processes, found.partitions, found.running, found.advice) == (1, 1, 36_000, ())
    assert found.program_cores == pytest.approx(10 * 3 * (384 + 297) / 1e6 / 0.6)
    assert found.disk_bytes == round(10 * (30 * 86_400 + 3600) * 5000 * 1.1)
    assert found.wal_bytes_per_s == 300_000
    assert found.connections == budget.of_program(Config()) * 2 + 20


def test_what_grows_with_what():
    usual = Workload(100)
    base = size(usual)
    more = size(replace(usual, instances_per_s=200))
    assert more.program_cores == 2 * base.program_cores
    assert more.disk_bytes == pytest.approx(2 * base.disk_bytes)
    jobs = size(replace(usual, jobs=6))
    assert jobs.program_cores == pytest.approx(4 * base.program_cores)
    assert jobs.disk_bytes > base.disk_bytes
    assert size(replace(usual, retention_days=60)).disk_bytes > 1.9 * base.disk_bytes
    assert size(replace(usual, peak=30)).partitions > base.partitions


def test_large_ones_get_advice():
    found = size(Workload(5_000, nodes=1))
    assert len(found.advice) == 3
    assert "One node" in found.advice[0]


def test_the_command_says_what_to_set():
    done = CliRunner().invoke(size_, ["500", "--nodes", "3"])
    assert done.exit_code == 0, done.output
    assert "nodes                  3, each with --processes 1" in done.output
    assert "--partitions 1" in done.output
    document = json.loads(CliRunner().invoke(size_, ["500", "--nodes", "3", "--json"]).output)
    assert document["partitions"] == 1
    for wrong in ("0", "-1", "nan", "inf", "2 --nodes 0", "2 --peak 0.5", "2 --days inf"):
        assert CliRunner().invoke(size_, wrong.split()).exit_code == 2, wrong
