"""What the parser reads and what the core runs are the same table."""

from vivero.engine.bpmn.elements import ELEMENTS as READ
from vivero.engine.bpmn.elements import EVENT_SUB_PROCESS
from vivero.engine.core.dispatch import ELEMENTS as RUN

MADE = {"PROCESS", "MULTI_INSTANCE_BODY", EVENT_SUB_PROCESS.type}
"""Types that no tag of a flow node stands for."""


def test_every_type_that_is_read_is_run_and_the_other_way_round():
    assert {kind.type for kind in READ.values()} | MADE == set(RUN)
