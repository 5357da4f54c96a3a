"""Items of batch operations as commands."""

import pytest

from vivero.engine.batch_operations.items import (
    AUDITED,
    JobUpdatePlan,
    MigrationPlan,
    ModificationPlan,
    SuspensionPlan,
    command_of,
)
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import DELETE_DECISION_INSTANCE, DELETE_PROCESS_INSTANCE

WITH_COMMANDS = sorted(AUDITED.keys() - {DELETE_DECISION_INSTANCE, DELETE_PROCESS_INSTANCE})
PLANS = {
    batch_operations.MIGRATE_PROCESS_INSTANCE: MigrationPlan(1, ()),
    batch_operations.MODIFY_PROCESS_INSTANCE: ModificationPlan(()),
    batch_operations.SUSPEND_PROCESS_INSTANCE: SuspensionPlan("audit"),
    batch_operations.UPDATE_JOB: JobUpdatePlan(retries=1),
}


@pytest.mark.parametrize("type", WITH_COMMANDS)
def test_an_item_waits_for_a_held_tree_however_many_wait(type):
    """A refused item would have failed for good."""
    assert command_of(type, 5, PLANS.get(type)).by_program
