"""Mistakes in the migration of process instances."""

from tests.mutants.mutant import Mutant, mutant

TESTS = "tests/core/commands/test_migration.py"
CALLED_TESTS = "tests/core/commands/test_migration_of_called.py"
DECISION_TESTS = "tests/core/commands/test_migration_decision.py"
PAGES_TESTS = "tests/core/commands/test_migration_pages.py"
LOADED_TESTS = "tests/engine/consumer/test_migrated_registrations.py"

MIGRATIONS: tuple[Mutant, ...] = (
    mutant(
        "migration: a failure behind the renaming leaves the new names",
        f"{TESTS}::test_a_failure_behind_the_renaming_takes_it_back",
        "core/state/undo.py",
        ("    for row, field, before in reversed(state.renames):", "    for row, field, before in ():"),
    ),
    mutant(
        "migration: a call activity counts its called instance under an id of its own process",
        f"{TESTS}::test_a_call_activity_with_the_id_of_the_process_that_it_calls",
        "core/apply/migrations.py",
        ("    if not any(isinstance(child, Instance) for child in element.children.values()):", "    if True:"),
    ),
    mutant(
        "migration: inner instances that have completed are in no scope",
        f"{TESTS}::test_completed_inner_instances_of_a_loop",
        "core/migration/checks.py",
        ("(goal.scope != around and name != scope)", "goal.scope != around"),
    ),
    mutant(
        "migration: a part that a migration alone has changed is forgotten before the commit",
        f"{TESTS}::test_parts_of_a_paged_loop_stay_until_the_commit",
        "core/state/batches.py",
        ("            for element in row.elements:\n", "            for element in ():\n"),
    ),
    mutant(
        "migration: the called instance of a suspended one moves",
        f"{CALLED_TESTS}::test_a_called_instance_that_is_suspended",
        "core/migration/checks.py",
        ("    if is_stopped(instance):\n", "    if False:\n"),
    ),
    mutant(
        "migration: completed activities are loaded one more time for each page",
        f"{LOADED_TESTS}::test_one_load_brings_all",
        "storage/state/compensations.py",
        ('(await reader.execute(_sql["of_instances"], ([instance], most))).rows)\n    for scope', "[])\n    for scope"),
    ),
    mutant(
        "migration: commands do not wait for the last page",
        f"{PAGES_TESTS}::test_what_comes_between_two_pages_comes_to_the_same_as_after_the_last_one",
        "core/commands/migration_hold.py",
        ("return bool(tree.work) and next_page(tree) is not None", "return False"),
    ),
    mutant(
        "migration: a page renames the waits that the migration has opened, too",
        f"{PAGES_TESTS}::test_a_subscription_that_is_opened_keeps_its_target",
        "core/apply/migrations.py",
        ("        if before is not None and subscription.key >= before:\n", "        if False:\n"),
    ),
    mutant(
        "migration: what has just begun is renamed in pages before it is saved",
        f"{PAGES_TESTS}::test_it_waits_for_the_batch_that_has_changed_the_tree",
        "core/commands/migration.py",
        ("if not is_small and batches.is_changed(view.state, instance.tree)", "if False"),
    ),
    mutant(
        "migration: a decision in pages forgets the problems of the pages before",
        f"{DECISION_TESTS}::test_a_refusal_has_all_problems_and_leaves_everything_as_it_was",
        "core/migration/decision.py",
        ("    known = Counter(dict(deciding.problems))\n", "    known = Counter()\n"),
    ),
    mutant(
        "migration: other commands run while pages decide",
        f"{DECISION_TESTS}::test_what_comes_meanwhile_comes_to_the_same_as_after_it",
        "core/records/modifications.py",
        (
            "PAGES = CHECK_PAGE, MOVE_PAGE, RENAME_PAGE, TERMINATE_PAGE",
            "PAGES = MOVE_PAGE, RENAME_PAGE, TERMINATE_PAGE",
        ),
    ),
    mutant(
        "migration: a page evaluates the scopes around it with the ids of the source",
        f"{DECISION_TESTS}::test_no_turn_opens_more_than_a_page_may_and_the_last_one_answers",
        "core/migration/plan.py",
        ("        return id if renamed else self.ids[id]\n", "        return self.ids[id]\n"),
    ),
    mutant(
        "held commands of a tree have no bound",
        f"{PAGES_TESTS}::test_a_hold_ends_although_traffic_goes_on_and_each_command_is_done_in_its_order_or_refused",
        "core/state/holds.py",
        ("            self._full.add(root)\n", "            pass\n"),
    ),
    mutant(
        "a new command comes before those that wait for an end of a hold",
        f"{PAGES_TESTS}::test_what_comes_in_the_batch_of_the_last_page_comes_behind_what_waits",
        "core/state/holds.py",
        (
            "        return root in self.waiting or root in self.returning\n",
            "        return root in self.returning\n",
        ),
    ),
    mutant(
        "a held command that has returned stays in the inbox",
        f"{PAGES_TESTS}::test_a_hold_ends_although_traffic_goes_on_and_each_command_is_done_in_its_order_or_refused",
        "core/execution/held_commands.py",
        (
            "                notices.returned[root] = notices.returned.get(root, 0) + earlier\n",
            "                pass\n",
        ),
    ),
)
