"""Figures of the process for pushes to a collector. Prometheus gets them in the names that its own library gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, ProcessCollector

from vivero.metrics.instruments import Instrument, InstrumentKind, Observed
from vivero.metrics.sources import Sources

_collector = ProcessCollector(registry=CollectorRegistry())


def _sample(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A sample of the process; nothing where the system does not tell."""

    def read(_sources: Sources) -> Iterator[Observed]:
        for family in _collector.collect():
            for sample in family.samples:
                if sample.name == name:
                    yield sample.value, {}

    return read


PROCESS: Sequence[Instrument] = (
    Instrument(
        "process.cpu.time",
        InstrumentKind.COUNTER,
        "s",
        "CPU time, user and system.",
        _sample("process_cpu_seconds_total"),
    ),
    Instrument(
        "process.memory.usage", InstrumentKind.GAUGE, "By", "Resident memory.", _sample("process_resident_memory_bytes")
    ),
    Instrument(
        "process.memory.virtual", InstrumentKind.GAUGE, "By", "Virtual memory.", _sample("process_virtual_memory_bytes")
    ),
    Instrument(
        "process.unix.file_descriptor.count",
        InstrumentKind.GAUGE,
        "{file_descriptor}",
        "Open files.",
        _sample("process_open_fds"),
    ),
)
"""Names and units follow OpenTelemetry's conventions for processes."""
