"""The test kit: tests of processes in milliseconds, without a server (docs/testing-your-processes.md).

The pytest plugin gives the fixture `processes`; nothing has to be configured.

Entry: `Processes`, `ProcessRun`.
Imports: core, library.
"""

from vivero.testing.instances import ProcessRun
from vivero.testing.mocks import BpmnError, JobFailure
from vivero.testing.processes import Processes

__all__ = ["BpmnError", "JobFailure", "ProcessRun", "Processes"]
