"""Mistakes in the batch, the fence, the claim, loading, saving and activation (docs/design/log.md §3 and §7)."""

from tests.mutants.mutant import Mutant, mutant

FENCES = "storage/schema/migrations/0053_cluster.sql"
LEADERSHIP_TESTS = "tests/engine/consumer/test_leadership.py"
OVERLAP_TESTS = "tests/engine/consumer/test_overlap.py"
POISON_TESTS = "tests/engine/consumer/test_poison.py"
CONSUMER_TESTS = "tests/engine/consumer/test_consumer.py"
ACTIVATION_TESTS = "tests/storage/test_activation.py"
PAGED_TESTS = "tests/engine/consumer/test_paged_loops.py"
_OWNER = "BEGIN\n    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;\n"
_FENCE_OWNER, _BETWEEN_OWNER = "    last bigint;\n" + _OWNER, "    last batches;\n" + _OWNER
BETWEEN_TESTS = "tests/engine/consumer/test_quanta_between_commands.py"
WRONG_TEST = f"{BETWEEN_TESTS}::test_a_quantum_of_another_owner_or_place_writes_nothing_and_steps_down"

BATCH: tuple[Mutant, ...] = (
    # Paged loops (docs/adr/0006)
    mutant(
        "an inner instance that ended leaves no tombstone",
        f"{PAGED_TESTS}::test_an_inner_instance_that_has_ended_is_not_read_again",
        "core/state/batches.py",
        ("    state.ended.update(state.ended_parts)\n", ""),
    ),
    mutant(
        "a part that a batch has changed is forgotten before the commit",
        f"{PAGED_TESTS}::test_what_a_batch_has_changed_is_not_forgotten_before_its_commit",
        "core/state/batches.py",
        ("        part.commits_under_way += 1\n", "        part.commits_under_way += 0\n"),
        (
            "        one.commits_under_way -= 1\n",
            "        one.commits_under_way -= not isinstance(one, Part)\n",
        ),
    ),
    mutant(
        "a loop that is to end early takes what is in memory for all there is",
        f"{PAGED_TESTS}::test_a_cancelled_instance_ends_page_by_page",
        "core/execution/lifecycle.py",
        ("    if not told and len(element.children) < element.live:\n", "    if False:\n"),
    ),
    mutant(
        "results are those that are in memory",
        f"{PAGED_TESTS}::test_each_job_completes_and_the_results_are_collected",
        "core/expressions/evaluation.py",
        ("len(body.pages.results) < body.loop.completed", "False"),
    ),
    mutant(
        "what put-off work is about is not loaded",
        f"{PAGED_TESTS}::test_it_begins_in_quanta",
        "storage/state/load.py",
        ("    keys = pages.work_of(state, roots)\n", "    keys: set[int] = set()\n"),
    ),
    mutant(
        "what is loaded to be ended seems to have no variables",
        "tests/engine/consumer/test_lazy_variables.py::test_a_command_that_was_not_told_of_is_undone_and_finds_them_then",
        "storage/state/pages.py",
        ("        element.variables = LazyVariables(element.tree", "        element.variables = {} and (element.tree"),
    ),
    mutant(
        "an end is told with variables that are not in memory",
        "tests/engine/consumer/test_lazy_variables.py::test_a_client_who_cancels_has_no_variable_read",
        "core/execution/consequences.py",
        ("    if isinstance(row.variables, LazyVariables):", "    if row.variables is None:"),
    ),
    mutant(
        "rows that end alike are not told apart by what else they have",
        "tests/storage/state/test_save.py::test_the_largest_group_of_each_table_is_saved_by_keys",
        "storage/state/bulk_end.py",
        ('"ended_jobs", *JOBS.ending(row)', '"ended_jobs", row.state, 0, *JOBS.ending(row)[2:]'),
    ),
    # Quanta between commands (docs/adr/0009)
    mutant(
        "what is read for a quantum counts as its work",
        "tests/engine/consumer/test_quanta_between_commands.py::test_what_is_read_for_a_quantum_does_not_make_the_next_one_shorter",
        "engine/consumer/term.py",
        ("thread_time() - reading.cpu_s - began_s", "thread_time() - began_s"),
    ),
    mutant(
        "a quantum of an old epoch is let through",
        WRONG_TEST,
        FENCES,
        (_BETWEEN_OWNER + "    IF NOT FOUND THEN\n", _BETWEEN_OWNER + "    IF false THEN\n"),
    ),
    mutant(
        "a quantum is let through wherever the cursor stands",
        WRONG_TEST,
        FENCES,
        ("last.to_pos IS DISTINCT FROM pos OR ", ""),
    ),
    mutant(
        "a quantum gives out keys that a new term gives out again",
        WRONG_TEST,
        FENCES,
        (" OR last.next_key < used_to", ""),
    ),
    mutant(
        "no keys are set aside for quanta",
        f"{BETWEEN_TESTS}::test_a_loop_begins_and_ends_without_a_further_command",
        "engine/consumer/committer.py",
        ("work.next_key + (RESERVED_KEYS if deferred else 0)", "work.next_key"),
    ),
    mutant(
        "the command in the inbox that goes on after a crash is not written",
        f"{BETWEEN_TESTS}::test_whoever_fails_each_quantum_is_done_once",
        "core/execution/step.py",
        ("and not self._deferred_trees.note_sent(", "and self._deferred_trees.note_sent("),
    ),
    mutant(
        "a quantum that stands still is tried again at once",
        "tests/core/execution/test_between_quanta.py::test_work_that_gets_no_further_is_left_to_its_command",
        "core/execution/step.py",
        ("tree.work and (tree.work != work or len(rows[0].events) > EVENTS_WITHOUT_PROGRESS)", "tree.work"),
    ),
    mutant(
        "quanta follow each other for what commands took before there was work",
        "tests/engine/consumer/test_quanta.py::test_commands_that_no_work_has_waited_for_give_it_no_turn",
        "engine/consumer/quanta.py",
        (" if deferred else 0.0\n", "\n"),
    ),
    mutant(
        "commands wait for many quanta in a row",
        "tests/engine/consumer/test_quanta.py::test_commands_wait_for_few_quanta_in_a_row_whatever_others_took",
        "engine/consumer/quanta.py",
        ("min(self._credit_s + SHARE * (now - began), MOST_CREDIT_S)", "self._credit_s + SHARE * (now - began)"),
    ),
    mutant(
        "a quantum does not wait for what is being appended",
        f"{BETWEEN_TESTS}::test_a_quantum_waits_for_commands_that_are_being_appended",
        "engine/consumer/term.py",
        ("            if not (waited or self._commands_wait) and self._owner.coming():\n", "            if False:\n"),
    ),
    mutant(
        "quanta make each other longer",
        f"{BETWEEN_TESTS}::test_what_commands_take_counts_while_work_waits_and_their_commits_alone",
        "engine/consumer/committer.py",
        (
            "            if work.commands:\n                self._quanta.note_commit",
            "            if True:\n                self._quanta.note_commit",
        ),
    ),
    mutant(
        "batches wait for the flush of the lease",
        f"{BETWEEN_TESTS}::test_the_lease_is_extended_without_a_flush",
        "storage/cluster/leadership.sql",
        (", set_config('synchronous_commit', 'off', true)", ""),
    ),
    mutant(
        "large variables are compressed slowly",
        "tests/storage/postgres/test_compression.py::test_large_texts_are_compressed_by_lz4_or_not_at_all",
        "storage/schema/migrations/0056_instances.sql",
        ("        ALTER TABLE variables ALTER COLUMN value SET STORAGE EXTERNAL;\n", ""),
    ),
    mutant(
        "a trace has no large events",
        "tests/engine/consumer/test_large_texts.py::test_large_events_stand_by_themselves_and_are_read_all_the_same",
        "storage/log/command_log.sql",
        ("at, coalesce(events, large_events)::json", "at, events::json"),
    ),
    mutant(
        "the collector does not look at what a full cache has taken up",
        "tests/engine/consumer/test_cache_eviction.py::test_the_collector_looks_at_what_is_new_each_time_that_so_much_was_forgotten",
        "engine/consumer/cache_eviction.py",
        ("            gc.collect(0)\n", ""),
    ),
    mutant(
        "items are those of a variable that is written otherwise",
        "tests/core/elements/test_multi_instance_items.py::test_a_value_with_other_spaces_is_not_what_its_items_are",
        "core/elements/multi_instance.py",
        (" and is_compact(variable.value, items):", ":"),
    ),
    mutant(
        "any variable is taken for the items",
        "tests/core/elements/test_multi_instance_items.py::test_another_list_of_the_same_items_is_not_the_variable",
        "core/elements/multi_instance.py",
        ("if variable.decoded is items and ", "if "),
    ),
    mutant(
        "a page begins behind children that were forgotten",
        f"{BETWEEN_TESTS}::test_a_child_that_was_forgotten_is_read_again",
        "core/state/eviction.py",
        ("        head.scope.pages.note_evicted(head.key)\n", "        pass\n"),
    ),
    # The batch, the fence, the claim (docs/design/log.md §3 and §4)
    mutant(
        "fence not raising",
        f"{LEADERSHIP_TESTS}::test_a_batch_of_an_old_epoch_writes_nothing_and_steps_down",
        FENCES,
        (
            _FENCE_OWNER + "    IF NOT FOUND",
            _FENCE_OWNER + "    IF false",
        ),
    ),
    mutant(
        "fence not looking at the position",
        f"{LEADERSHIP_TESTS}::test_a_batch_from_another_position_writes_nothing_and_steps_down",
        FENCES,
        ("    IF last IS DISTINCT FROM old_pos THEN", "    IF false THEN"),
    ),
    mutant(
        "a commit that fails at the Sync is taken for done",
        "tests/storage/postgres/test_driver.py::test_a_commit_that_fails_at_the_sync_is_no_success",
        "storage/postgres/pipelines.py",
        ("            failure = failure or error\n", "            continue\n"),
    ),
    mutant(
        "fence last",
        f"{LEADERSHIP_TESTS}::test_a_loser_steps_down_and_rejects_nobody",
        "engine/consumer/committer.py",
        (
            "calls = [self._fence(work, deferred), *work.calls]",
            "calls = [*work.calls, self._fence(work, deferred)]",
        ),
    ),
    mutant(
        "claim: SELECT instead of UPDATE",
        f"{LEADERSHIP_TESTS}::test_a_claim_waits_for_a_backend_in_doubt",
        "storage/cluster/leadership.sql",
        (
            "UPDATE partitions p\nSET epoch = epoch + 1, owner_node = $2, owner_pid = pg_backend_pid(),\n"
            "    owner_backend_start = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),\n"
            "    lease_until = clock_timestamp() + make_interval(secs => $3)\nWHERE id = $1 AND epoch = $4 AND (",
            "SELECT epoch + 1, handed_over FROM partitions p\n"
            "WHERE $2::text > '' AND $3::float8 > 0 AND id = $1 AND epoch = $4 AND (",
        ),
        (
            "name LIKE 'alone\\_%')\nRETURNING epoch, handed_over;",
            "name LIKE 'alone\\_%');",
        ),
    ),
    mutant(
        "claim: a program of before a migration that ran alone leads",
        "tests/engine/cluster/test_versions.py::test_a_node_that_was_frozen_while_a_migration_ran_alone_leads_nothing_and_ends",
        "storage/cluster/leadership.sql",
        ("WHERE version > $5 AND name", "WHERE version > $5 + 2 AND name"),
    ),
    mutant(
        "claim: a lease that holds is taken over",
        f"{LEADERSHIP_TESTS}::test_a_lease_keeps_others_off",
        "storage/cluster/leadership.sql",
        ("OR owner_node = $2\n", "OR owner_node <> $2\n"),
    ),
    mutant(
        "claim: a restart waits for the lease",
        f"{LEADERSHIP_TESTS}::test_of_two_consumers_one_leads_and_the_other_takes_over_at_once",
        "storage/cluster/leadership.sql",
        (
            "    OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE",
            "    OR EXISTS (SELECT FROM pg_stat_activity a WHERE false AND",
        ),
    ),
    mutant(
        "claim: a frozen owner is waited for",
        f"{LEADERSHIP_TESTS}::test_a_frozen_owner_whose_lease_has_run_out_is_ended",
        "storage/cluster/leadership.py",
        ("        if conflict.sqlstate != LOCK_NOT_AVAILABLE:\n", "        if conflict.sqlstate is not None:\n"),
    ),
    mutant(
        "eviction of a pinned aggregate",
        f"{OVERLAP_TESTS}::test_what_is_being_committed_is_not_evicted",
        "core/state/eviction.py",
        (
            "        if not tree.commits_under_way:\n            chosen.append(tree)",
            "        if True:\n            chosen.append(tree)",
        ),
    ),
    mutant(
        "missing tombstone",
        f"{OVERLAP_TESTS}::test_what_is_being_ended_is_not_read_again",
        "storage/state/row_bound.py",
        ("    gone = state.ended | batches.ended_in_batch(state)", "    gone = batches.ended_in_batch(state)"),
    ),
    mutant(
        "overlap deeper than one",
        f"{OVERLAP_TESTS}::test_a_batch_is_computed_while_the_one_before_it_commits",
        "engine/consumer/term.py",
        (
            "        await self._committer.commit_done()\n        if work.moves_definitions:\n",
            "        if work.moves_definitions:\n",
        ),
    ),
    mutant(
        "a batch is alone although commands are being appended",
        f"{OVERLAP_TESTS}::test_a_batch_is_not_alone_while_commands_are_being_appended",
        "engine/consumer/term.py",
        ("self._committer.careful or self._owner.coming())", "self._committer.careful)"),
    ),
    mutant(
        "load: a column forgotten",
        f"{CONSUMER_TESTS}::test_evicting_everything_changes_nothing",
        "storage/state/tables.py",
        ("*of_instance(element), {', '.join(values)})", "*of_instance(element), {', '.join(values[:10])})"),
    ),
    mutant(
        "save: a column that changes is left out",
        "tests/storage/state/test_save.py::test_what_may_change_is_changed_to_what_it_would_be_at_birth",
        "storage/state/save.sql",
        (
            "SET state = x.state, retries = x.retries, updated_at = from_epoch_ms(x.updated_at),",
            "SET state = x.state, retries = x.retries,",
        ),
    ),
    mutant(
        "22P05 in the save",
        f"{POISON_TESTS}::test_what_cannot_be_saved_is_rejected_alone",
        "storage/postgres/errors.py",
        ('    "22": DataPoison,', '    "2200": DataPoison,'),
    ),
    mutant(
        "poison: the whole batch is rejected",
        f"{POISON_TESTS}::test_what_cannot_be_saved_is_rejected_alone",
        "engine/consumer/rejected_commands.py",
        ("if self.careful_until >= last and suspected.commands == 1:", "if True:"),
    ),
    mutant(
        "full-row job save",
        f"{POISON_TESTS}::test_a_change_of_a_leased_job_leaves_its_lease_alone",
        "storage/state/save.sql",
        (
            "    ready = CASE WHEN x.lease IS NULL OR x.lease = 'leased' THEN t.ready ELSE x.lease = 'ready' END,",
            "    ready = x.lease IS NULL OR x.lease = 'ready',",
        ),
    ),
    mutant(
        "a finished job whose lease runs out",
        f"{POISON_TESTS}::test_a_finished_job_is_not_handed_out_again_when_its_lease_runs_out",
        "core/apply/jobs.py",
        ('    job.lease = "closed"\n    state.removed', "    state.removed"),
    ),
    mutant(
        "clock_timestamp() in activation",
        f"{ACTIVATION_TESTS}::test_an_activation_uses_the_partial_indexes",
        "storage/work/activation.sql",
        (
            "available_at <= (SELECT now FROM engine)\n        AND available_at >= least(",
            "available_at <= clock_timestamp()\n        AND available_at >= least(",
        ),
    ),
    mutant(
        "an activation client that does not read",
        f"{ACTIVATION_TESTS}::test_a_client_that_does_not_read_its_jobs_holds_no_row",
        "storage/work/activation.sql",
        (
            "AND j.lease_token = ANY ($2::uuid[])\nORDER BY j.priority DESC, j.job_key;",
            "AND j.lease_token = ANY ($2::uuid[])\nORDER BY j.priority DESC, j.job_key\nFOR UPDATE OF j;",
        ),
    ),
    mutant(
        "batch: deferred work that is refused lies there for ever",
        "tests/engine/consumer/test_poison.py::test_deferred_work_that_cannot_be_saved_is_an_incident_and_goes_on_when_it_is_resolved",
        "core/records/instances.py",
        (
            "    has_waiter = True\n\n    key: int\n\n\nclass EndHold",
            "\n    key: int\n\n\nclass EndHold",
        ),
    ),
    mutant(
        "texts of expressions: NUL goes to the database",
        "tests/engine/consumer/test_evaluated_values.py::test_whatever_is_evaluated_the_database_takes_what_comes_of_it",
        "core/expressions/results.py",
        ('    if "\\0" in value:\n', "    if not value:\n"),
    ),
    mutant(
        "messages of incidents: NUL goes to the database",
        "tests/engine/consumer/test_evaluated_values.py::test_whatever_is_evaluated_the_database_takes_what_comes_of_it",
        "core/records/effects.py",
        ('.replace("\\0", "\\\\u0000")', '.replace("\\1", "")'),
    ),
    mutant(
        "batch: it takes commands however much it has written",
        "tests/engine/consumer/test_large_texts.py::test_a_batch_ends_when_it_has_written_enough",
        "engine/consumer/batch.py",
        ("moment - started > COMPUTE_S or processor.is_full()", "moment - started > COMPUTE_S"),
    ),
)
