"""Mistakes in the engine's core."""

from mutants_words import Mutant, mutant

ELEMENT_TESTS = "tests/core/test_elements.py"
INCIDENT_TESTS = "tests/core/test_incidents.py"
CANCEL_TESTS = "tests/core/test_cancel.py"
DEADLOCK_TESTS = "tests/core/test_deadlocks.py"

CORE: tuple[Mutant, ...] = (
    # The core
    mutant(
        "core: surplus tokens are dropped",
        f"{ELEMENT_TESTS}::test_a_join_takes_one_token_of_each_flow_and_leaves_the_surplus",
        "engine/core/apply/elements.py",
        ("            tokens[place] -= 1\n", "            del tokens[place]\n"),
    ),
    mutant(
        "core: a join consumes nothing",
        f"{ELEMENT_TESTS}::test_a_join_in_a_loop_opens_in_each_round",
        "engine/core/elements/parallel_gateway.py",
        ("consumes=gateway.incoming)", "consumes=())"),
    ),
    mutant(
        "core: a default flow is taken early",
        f"{ELEMENT_TESTS}::test_a_default_flow_is_not_taken_early_wherever_it_stands",
        "engine/core/elements/exclusive_gateway.py",
        ("        if flow == node.default:\n            continue\n", ""),
    ),
    mutant(
        "core: later mappings do not see earlier ones",
        "tests/core/test_variables.py::test_later_inputs_see_earlier_ones",
        "engine/core/shared/mappings.py",
        (
            "IncidentType.IO_MAPPING_ERROR, seen)\n        seen[mapping.root] = placed(mapping, seen.get",
            "IncidentType.IO_MAPPING_ERROR)\n        seen[mapping.root] = placed(mapping, seen.get",
        ),
    ),
    mutant(
        "core: a merge stops one scope early",
        "tests/core/test_variables.py::test_setting_upwards_goes_where_each_variable_is_and_new_ones_to_the_top",
        "engine/core/shared/variables.py",
        ("        if outer is None:\n", "        if outer is None or outer.scope is None:\n"),
    ),
    mutant(
        "core: an incident runs its element again from the beginning",
        f"{INCIDENT_TESTS}::test_only_the_failed_stage_runs_again",
        "engine/core/step.py",
        (
            "self._queue.append((row.element.key, row.stage, row.argument))",
            'self._queue.append((row.element.key, "inputs", row.argument))',
        ),
    ),
    mutant(
        "core: undo forgets the key generator",
        f"{INCIDENT_TESTS}::test_undo_leaves_the_state_as_it_was",
        "engine/core/state.py",
        ("        self.next_key = self._first_key\n", ""),
    ),
    mutant(
        "core: undo forgets links",
        f"{INCIDENT_TESTS}::test_undo_leaves_the_state_as_it_was",
        "engine/core/state.py",
        ("                where[key] = old\n", "                pass\n"),
    ),
    mutant(
        "core: cancelled elements keep their jobs",
        f"{CANCEL_TESTS}::test_an_instance_can_be_cancelled_at_every_quiet_point",
        "engine/core/lifecycle.py",
        ("    for job in element.jobs:\n        yield JobCanceled(job)\n", ""),
    ),
    mutant(
        "core: deferred scopes are forgotten",
        "tests/core/test_relations.py::test_slices_come_to_the_same_end",
        "engine/core/step.py",
        ("items = [*self._queue, *(", "items = [*self._queue, *(() if True else "),
    ),
    mutant(
        "core: replay without the time of the events",
        "tests/core/test_replay.py::test_replay_gives_every_row_that_was_ever_written",
        "engine/core/replay.py",
        ("    state.position, state.now = row.position, row.now_ms\n", "    state.position = row.position\n"),
    ),
    # Deadlocks, calls and instructions for the run
    mutant(
        "deadlock: an event sub-process is no reason to wait",
        f"{DEADLOCK_TESTS}::test_a_scope_that_can_be_interrupted_from_within_is_not_stuck",
        "engine/core/shared/deadlocks.py",
        ('wait.type == "EVENT_SUB_PROCESS"', 'wait.type == "INTERMEDIATE"'),
    ),
    mutant(
        "deadlock: a boundary event is a reason to wait",
        f"{DEADLOCK_TESTS}::test_it_closes_when_a_boundary_event_ends_the_scope",
        "engine/core/shared/deadlocks.py",
        ('wait.type == "EVENT_SUB_PROCESS"', 'wait.type != "INTERMEDIATE"'),
    ),
    mutant(
        "deadlock: deferred work brings no token",
        f"{DEADLOCK_TESTS}::test_a_scope_whose_work_was_deferred_is_not_stuck",
        "engine/core/shared/deadlocks.py",
        (" and not _has_work(scope)", ""),
    ),
    mutant(
        "deadlock: an incident stays when a token has come",
        f"{DEADLOCK_TESTS}::test_it_closes_when_a_token_is_brought_from_outside",
        "engine/core/shared/deadlocks.py",
        ("if i.stage == DEADLOCK_STAGE)", "if i.stage != DEADLOCK_STAGE)"),
    ),
    mutant(
        "deadlock: resolving does not look again",
        f"{DEADLOCK_TESTS}::test_resolving_looks_again",
        "engine/core/step.py",
        ("        if row.element.tokens:\n", "        if not row.element.tokens:\n"),
    ),
    mutant(
        "calls: the depth of the caller is forgotten",
        "tests/core/test_issue5_calls.py::test_it_waits_for_the_called_process",
        "engine/core/apply/elements.py",
        ("1 if caller is None else caller.instance.depth + 1", "1 if caller is None else caller.instance.depth"),
    ),
    mutant(
        "instructions: only the innermost scope is told of the end",
        "tests/core/test_terminate_after.py::test_deep_in_scopes_nothing_follows_in_any_of_them",
        "engine/core/step.py",
        ("around[-1] is not scope.instance and around[-1].scope is not None", "False"),
    ),
    mutant(
        "instructions: an instance of a loop is enough",
        "tests/core/test_terminate_after.py::test_of_a_loop_the_whole_and_not_an_instance",
        "engine/core/step.py",
        ("element.instance.terminate_after and not element.is_inner", "element.instance.terminate_after"),
    ),
)
