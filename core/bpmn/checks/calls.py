"""Checks of static calls of processes in the same file. BPMN 2.0.2 §10.3.6.

A process of another file may be deployed later, so calls of unknown ids are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.bpmn.model import CalledElement, Node, Process
from vivero.core.bpmn.reading.report import Report, quote


def check_calls(processes: Iterable[Process], report: Report) -> None:
    """Report calls of processes without a none start event."""
    by_id = {process.id: process for process in processes}
    for node, called, target in _static_calls(by_id.values()):
        process = by_id.get(target)
        if process is not None and not process.root.has_none_start and _is_meant(called, process):
            report.add_node_problem(node, f"calls the process {quote(target)}, which has no none start event")


def _static_calls(processes: Iterable[Process]) -> Iterator[tuple[Node, CalledElement, str]]:
    for process in processes:
        for node in process.nodes.values():
            if node.called is not None and node.called.process_id.is_static:
                yield node, node.called, str(node.called.process_id.static_value)


def _is_meant(called: CalledElement, process: Process) -> bool:
    """Whether the call means the version in this file, as long as no later one is deployed."""
    return called.binding != "versionTag" or called.version_tag == process.version_tag
