"""The test kit: tests of processes in milliseconds, without a server (docs/testing-your-processes.md).

The pytest plugin gives the fixtures `processes`, `decisions`, `evaluation` and `background_jobs`; nothing has to be
configured.

Entry: `Processes`, `ProcessRun`.
Imports: core, storage, engine, api, client, library, worker.
"""

from vivero.testing.decisions import DecisionTests
from vivero.testing.evaluations import AgentEvaluation
from vivero.testing.instances import ProcessRun
from vivero.testing.mocks import BpmnError, JobFailure
from vivero.testing.processes import Processes
from vivero.testing.scripts import recorded, text, tool

__all__ = [
    "AgentEvaluation",
    "BpmnError",
    "DecisionTests",
    "JobFailure",
    "ProcessRun",
    "Processes",
    "recorded",
    "text",
    "tool",
]
