"""The test kit: tests of processes in milliseconds, without a server (docs/testing-your-processes.md).

The pytest plugin gives the fixture `processes`; nothing has to be configured.

    def test_a_paid_order_is_shipped(processes):
        processes.use("order.bpmn")
        order = processes.start("order", {"total": 20})
        order.complete("pay", {"paid": True})
        order.expect_active("ship")
"""

from vivero.testing.instances import ProcessRun
from vivero.testing.mocks import BpmnError, JobFailure
from vivero.testing.processes import Processes

__all__ = ["BpmnError", "JobFailure", "ProcessRun", "Processes"]
