"""Mistakes in snapshots, in changes that are conditional on a version, and in the library."""

from tests.mutants.mutant import Mutant, mutant

CORE_TESTS = "tests/core/snapshots/test_snapshots.py"
RANDOM_TEST = f"{CORE_TESTS}::test_random_runs_go_on_from_each_snapshot"
GOLDEN_TEST = f"{CORE_TESTS}::test_golden_runs_go_on_from_each_snapshot"
CONDITION_TESTS = "tests/core/commands/test_conditional_changes.py"
LIBRARY_TESTS = "tests/vivero/library/test_library.py"
DATABASE_TESTS = "tests/storage/state/test_snapshots.py"
READER, WRITER = "core/snapshots/reader.py", "core/snapshots/writer.py"

SNAPSHOTS: tuple[Mutant, ...] = (
    mutant(
        "a restored scope does not count its children",
        RANDOM_TEST,
        READER,
        ("        scope.live += 1\n", ""),
    ),
    mutant(
        "a restored element is not counted as one with incidents",
        GOLDEN_TEST,
        READER,
        ("            above.incidents += len(element.waits.incidents)\n", ""),
    ),
    mutant(
        "a snapshot forgets that an event has occurred",
        GOLDEN_TEST,
        WRITER,
        ("        interrupted=row.interrupted,\n", ""),
    ),
    mutant(
        "a snapshot forgets the results of a loop",
        f"{CORE_TESTS}::test_random_runs_go_on_from_each_snapshot",
        WRITER,
        ("        results={str(index): raw(results[index]) for index in sorted(results)},\n", ""),
    ),
    mutant(
        "a default is a text, which msgspec compares by identity",
        "tests/core/snapshots/test_snapshot_docs.py::test_what_is_left_out_does_not_depend_on_the_identity_of_objects",
        "core/snapshots/format.py",
        ("usual is None or isinstance(usual, str) else", "usual is None else"),
    ),
    mutant(
        "keys may be used again after a snapshot",
        "tests/core/snapshots/test_damaged_snapshots.py::test_the_error_names_the_field",
        "core/snapshots/references.py",
        ("            if key >= int(snapshot.next_key):\n", "            if False:\n"),
    ),
    mutant(
        "of two changes in one batch with the same version both happen",
        f"{CONDITION_TESTS}::test_of_two_changes_in_one_batch_the_second_comes_too_late",
        "core/commands/conditional_change.py",
        ("    if tree in batches.changed_trees(view.state):\n", "    if False:\n"),
    ),
    mutant(
        "a quarantined change keeps its condition",
        f"{CONDITION_TESTS}::test_a_bug_in_a_conditional_change_is_quarantined_without_its_condition",
        "core/execution/quarantine.py",
        ("    if isinstance(command, ChangeIfMatch):", "    if False:"),
    ),
    mutant(
        "a lease slips in before the commit of an undo",
        "tests/engine/test_undos.py::test_a_lease_between_the_read_of_leases_and_the_commit_refuses",
        "engine/consumer/batch.py",
        ("        collected.untaken += command.untaken\n", "        pass\n"),
    ),
    mutant(
        "an undo restores a job that a worker had got",
        "tests/api/routes/test_undos.py::test_a_move_is_taken_back_unless_a_worker_had_the_job",
        "api/routes/undos.py",
        ("(had := await job_with_worker(connection, undo.never_taken)) is not None", "(had := None) is not None"),
    ),
    mutant(
        "a restored timer is due at once",
        "tests/core/undos/test_inverse.py::test_timers_keep_their_due_dates_and_incidents_their_stage",
        "core/modifications/former.py",
        ("timer.due_at, timer.repetitions", "timer.created_at, timer.repetitions"),
    ),
    mutant(
        "a restored element forgets its scope",
        "tests/core/undos/test_inverse.py::test_a_scope_begins_again_with_what_was_in_it",
        "core/modifications/restoring.py",
        ("scope=keys.get(event.scope, event.scope)", "scope=event.scope"),
    ),
    mutant(
        "a weak tag matches",
        "tests/api/routes/test_snapshots.py::test_entity_tags",
        "api/commands/preconditions.py",
        ("(weak or not prefix) and ", ""),
    ),
    mutant(
        "a snapshot is read from several moments",
        f"{DATABASE_TESTS}::test_all_reads_see_one_moment",
        "storage/state/snapshots.py",
        ("connection.transaction(ONE_MOMENT)", "connection.transaction()"),
    ),
    mutant(
        "time goes back",
        f"{LIBRARY_TESTS}::test_time_does_not_go_back",
        "vivero/library/machine.py",
        ("max(self.engine.now, now)", "now"),
    ),
    mutant(
        "timers fire at the end of an advance",
        f"{LIBRARY_TESTS}::test_timers_fire_at_their_due_dates",
        "vivero/library/functions.py",
        ("        machine.set_time(due.due_at)\n", "        machine.set_time(until)\n"),
    ),
    mutant(
        "a restored tree waits for no messages",
        f"{LIBRARY_TESTS}::test_a_message_is_given_once",
        "vivero/library/machine.py",
        ("        add_channels(machine.state, snapshot)\n", ""),
    ),
)
