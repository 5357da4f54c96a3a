"""Coverage: which elements and sequence flows of the models the tests of a session have reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vivero.core.bpmn.model import Process

Reached = Iterable[tuple[str, str]]
"""Pairs of a process id and the id of an element or a sequence flow."""


@dataclass(slots=True)
class ProcessCoverage:
    """The elements and sequence flows of one process, each with whether it was reached, in the order of the model."""

    file: str
    """The name of the file, as the test gave it."""
    elements: dict[str, bool] = field(default_factory=dict)
    flows: dict[str, bool] = field(default_factory=dict)
    awaited: dict[str, str] = field(default_factory=dict)
    """Events behind event-based gateways, and the flows that lead to them: a flow is taken when its event happens."""
    path: str = ""
    """The path of the file."""

    @property
    def percent(self) -> int:
        """The part of elements and flows that were reached, rounded down."""
        all_of_it = [*self.elements.values(), *self.flows.values()]
        return 100 * sum(all_of_it) // len(all_of_it) if all_of_it else 100


@dataclass(slots=True)
class Coverage:
    """By process id and file."""

    processes: dict[tuple[str, str], ProcessCoverage] = field(default_factory=dict)

    def add_model(self, file: str, process: Process, path: Path | str = "") -> None:
        """Count a process from now on. `path`: where its file is."""
        if (process.id, file) not in self.processes:
            elements = dict.fromkeys((id for id in process.nodes if id != process.id), False)
            awaited = {
                flow.target: flow.id
                for flow in process.flows.values()
                if process.nodes[flow.source].type == "EVENT_BASED_GATEWAY"
            }
            flows = dict.fromkeys(process.flows, False)
            self.processes[process.id, file] = ProcessCoverage(file, elements, flows, awaited, str(path))

    def add_reached(self, files: Mapping[str, str], reached: Reached) -> None:
        """Note what an instance has reached. `files`: process id → file."""
        for process_id, id in reached:
            coverage = self.processes.get((process_id, files.get(process_id, "")))
            if coverage is not None and id in coverage.elements:
                coverage.elements[id] = True
                if id in coverage.awaited:
                    coverage.flows[coverage.awaited[id]] = True
            elif coverage is not None and id in coverage.flows:
                coverage.flows[id] = True

    def merge(self, other: Coverage) -> None:
        """Add what another process of the test session has found."""
        for key, theirs in other.processes.items():
            mine = self.processes.setdefault(key, theirs)
            mine.elements = {id: reached or theirs.elements[id] for id, reached in mine.elements.items()}
            mine.flows = {id: reached or theirs.flows[id] for id, reached in mine.flows.items()}

    def lines(self) -> Iterator[str]:
        """The report: a line for each process, and one for what its tests never reached."""
        for (process_id, file), found in sorted(self.processes.items()):
            elements, flows = found.elements, found.flows
            yield (
                f"{process_id} ({file}): {found.percent} % "
                f"({sum(elements.values())} of {len(elements)} elements, {sum(flows.values())} of {len(flows)} flows)"
            )
            if missing := [id for id, reached in elements.items() if not reached]:
                yield f"  elements never reached: {', '.join(missing)}"
            if missing := [id for id, reached in flows.items() if not reached]:
                yield f"  flows never taken: {', '.join(missing)}"

    @property
    def lowest(self) -> int:
        """The lowest percentage of a process."""
        return min((found.percent for found in self.processes.values()), default=100)


def to_json(coverage: Coverage) -> str:
    """The coverage as text, for another process."""
    rows = [(*key, found.path, found.elements, found.flows) for key, found in coverage.processes.items()]
    return msgspec.json.encode(rows).decode()


def from_json(text: str) -> Coverage:
    rows = msgspec.json.decode(text, type=list[tuple[str, str, str, dict[str, bool], dict[str, bool]]])
    found = {(id, file): ProcessCoverage(file, elements, flows, path=path) for id, file, path, elements, flows in rows}
    return Coverage(found)
