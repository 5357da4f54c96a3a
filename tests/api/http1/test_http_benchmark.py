"""The benchmark runs, and tells what server and client each took."""

import pytest

from benchmarks.http_server import run


@pytest.mark.long
def test_run():
    result, notes = run(connections=4, seconds=1, runs=1)
    assert result["requests_per_s"] > 0
    assert 0 < result["p50_ms"] <= result["p99_ms"]
    assert result["client_cpu_us"] > 0
    assert result["server_cpu_us"] > 0
    assert notes["connections"] == "4"
