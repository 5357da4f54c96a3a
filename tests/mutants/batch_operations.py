"""Mistakes in batch operations (docs/batch-operations.md)."""

from tests.mutants.mutant import Mutant, mutant

TASK = "engine/batch_operations/task.py"
TASK_TESTS = "tests/engine/batch_operations/test_task.py"
KILLS = "tests/engine/batch_operations/test_kills.py::test_random_kills_and_changes"

BATCH_OPERATIONS: tuple[Mutant, ...] = (
    mutant(
        "batch operations: an empty list selects everything",
        "tests/api/routes/test_batch_operations.py::test_bad_filters_create_no_batch",
        "storage/search/criteria.py",
        ("if any(value.get(operator) == [] for operator in LISTS):", "if False:"),
    ),
    mutant(
        "batch operations: an empty alternative selects everything",
        "tests/api/routes/test_batch_operations.py::test_no_alternative_of_a_filter_selects_everything",
        "storage/search/criteria.py",
        ('        if name == "$or":\n', "        if False:\n"),
    ),
    mutant(
        "batch operations: a command that is appended again is another one",
        KILLS,
        "engine/batch_operations/items.py",
        ('f" batch {operation.key} {item.key}"', 'f" batch {operation.key} {item.key} {id(item)}"'),
    ),
    mutant(
        "batch operations: items are not marked before their commands are appended",
        KILLS,
        TASK,
        (
            "await batch_operations.take(connection, self._epoch, operation.key, allowed) if allowed else set()",
            "{item.key for item in allowed}",
        ),
    ),
    mutant(
        "batch operations: the rights of the creator are not read again",
        f"{TASK_TESTS}::test_a_creator_who_lost_its_rights_changes_nothing_more",
        "storage/work/batch_operations.py",
        ("return (self.tenants is None", "return True or (self.tenants is None"),
    ),
    mutant(
        "batch operations: a suspended one goes on",
        f"{TASK_TESTS}::test_a_suspended_batch_sends_nothing_and_goes_on_when_it_is_resumed",
        TASK,
        ('elif operation.state != "SUSPENDED":', "else:"),
    ),
    mutant(
        "batch operations: what begins later belongs to them",
        f"{TASK_TESTS}::test_what_begins_after_the_batch_does_not_belong_to_it",
        "storage/search/candidates.py",
        ('f"{selection.created} <= {', 'f"{selection.created} IS DISTINCT FROM {'),
    ),
    mutant(
        "batch operations: an earlier owner goes on with the scan",
        f"{TASK_TESTS}::test_a_node_of_an_earlier_term_changes_nothing",
        "storage/work/batch_operations.sql",
        ("\n        AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $10)", "\n        AND $10 >= 0"),
    ),
    mutant(
        "batch operations: what is gone counts as failed",
        f"{TASK_TESTS}::test_an_instance_that_ends_meanwhile_is_skipped_and_its_reason_is_kept",
        "engine/batch_operations/items.py",
        ('"SKIPPED" if skipped else "FAILED"', '"FAILED"'),
    ),
    mutant(
        "batch operations: an item without anything to change fails",
        "tests/engine/batch_operations/test_modification.py"
        "::test_an_instance_that_is_in_the_wanted_state_already_is_skipped",
        "engine/batch_operations/items.py",
        ("rejection.moot or ", ""),
    ),
)
