"""Mistakes in retention, deletion and erasure (docs/retention.md)."""

from tests.mutants.mutant import Mutant, mutant

STATEMENTS = "storage/schema/migrations/0061_retention.sql"
HISTORY_SQL = "storage/retention/history.sql"
HISTORY_TESTS = "tests/storage/test_history.py"
CHORE_TESTS = "tests/engine/jobs/test_history.py"

RETENTION: tuple[Mutant, ...] = (
    mutant(
        "retention: a start lock keeps no tree",
        f"{HISTORY_TESTS}::test_what_refers_to_a_tree_keeps_all_of_it",
        STATEMENTS,
        ("JOIN start_locks l ON l.process_instance_key = t.key", "JOIN start_locks l ON false"),
    ),
    mutant(
        "retention: called instances do not go with their root",
        f"{HISTORY_TESTS}::test_whatever_runs_or_waits_stays_and_the_rest_goes_whole",
        STATEMENTS,
        ("ON p.parent_process_instance_key = tree.key", "ON p.parent_process_instance_key = tree.key AND false"),
    ),
    mutant(
        "retention: a late statement of another term deletes",
        f"{HISTORY_TESTS}::test_retention_deletes_in_its_term_only",
        HISTORY_SQL,
        ("WHERE id = $2 AND epoch = $3;", "WHERE id = $2 AND $3::int IS NOT NULL;"),
    ),
    mutant(
        "retention: it follows a clock that jumps",
        f"{CHORE_TESTS}::test_a_clock_that_jumps_deletes_little_at_a_time",
        HISTORY_SQL,
        (
            "SET at = least(clock_now(), at + $3::bigint * interval '1 millisecond')",
            "SET at = least(clock_now(), at + $3::bigint * interval '1 year')",
        ),
    ),
    mutant(
        "retention: the setting of a process comes after its model",
        f"{CHORE_TESTS}::test_the_order_of_policies",
        "engine/retention/history.py",
        ("if ended.process_id in self._processes:", "if ended.process_id in self._processes and not self._models:"),
    ),
    mutant(
        "retention: it deletes while commands wait",
        f"{CHORE_TESTS}::test_commands_come_first",
        "engine/retention/history.py",
        ("if waiting > MAX_WAITING:", "if waiting < 0:"),
    ),
    mutant(
        "retention: the logs of a running instance are dropped",
        "tests/engine/jobs/test_old_logs.py::test_what_somebody_needs_stays_with_all_behind_it",
        STATEMENTS,
        ("WHERE i.ended_at IS NULL AND i.created_position >= base", "WHERE false AND i.created_position >= base"),
    ),
    mutant(
        "deletion: a batch operation of an earlier term deletes",
        "tests/engine/batch_operations/test_deletion.py::test_another_term_rolls_its_deletions_back",
        "engine/batch_operations/deletions.py",
        ("                raise _Overtaken\n", "                pass\n"),
    ),
    mutant(
        "deletion: a batch operation deletes evaluations with decisions of others",
        "tests/engine/batch_operations/test_deletion_of_evaluations.py"
        "::test_a_right_that_is_lost_meanwhile_fails_the_items",
        "storage/retention/decision_instances.sql",
        ("    WHERE found.allowed AND d", "    WHERE d"),
    ),
    mutant(
        "deletion: the rest of an evaluation is another item",
        "tests/engine/batch_operations/test_deletion_of_evaluations.py"
        "::test_each_evaluation_is_one_item_and_goes_as_a_whole",
        "storage/search/candidates.py",
        ("        if selection.item is not None:\n", "        if False:\n"),
    ),
    mutant(
        "erasure: the commands keep what they carried",
        "tests/api/routes/test_erasure.py::test_nothing_is_left_of_what_has_ended_and_replay_gives_the_rest",
        "storage/retention/erasure.py",
        ('    await connection.execute(_sql["empty_commands"], (list(positions),), deadline=deadline)\n', ""),
    ),
    mutant(
        "erasure: a rejected command is not searched",
        "tests/api/routes/test_erasure_by_value.py::test_nothing_is_left_in_any_column_whatever_way_the_person_came_in",
        "storage/retention/erasure_by_value.py",
        (
            "        if row.payload and _command_has(",
            "        if row.payload and row.rejection is None and _command_has(",
        ),
    ),
    mutant(
        "erasure: an event goes while something waits under its key",
        "tests/api/routes/test_erasure_by_value.py::test_what_a_running_instance_waits_for_is_in_use_until_it_ends",
        "storage/retention/erasure_by_value.py",
        (" or channel_of(event) in live", ""),
    ),
    mutant(
        "values: an object in another order is another value",
        "tests/storage/search/test_values.py::test_each_spelling_finds_all_spellings",
        "storage/state/normal_form.py",
        ('msgspec.json.Encoder(order="sorted")', "msgspec.json.Encoder()"),
    ),
)
