"""The documentation lists every metric with its meaning, by the name that Prometheus shows."""

from pathlib import Path

from tests.vivero.metrics.names import shown
from vivero.metrics.histograms import HISTOGRAMS
from vivero.metrics.instruments import INSTRUMENTS, InstrumentKind

PAGE = (Path(__file__).parents[3] / "docs" / "observability.md").read_text()


def test_every_metric_is_documented():
    rows = [
        f"- `{shown(one) + '_total' * (one.kind is InstrumentKind.COUNTER)}`: {one.description}" for one in INSTRUMENTS
    ]
    rows += [f"- `{shown(one)}` (histogram): {one.description}" for one in HISTOGRAMS]
    assert [line for line in PAGE.splitlines() if line.startswith("- `vivero_")] == rows
