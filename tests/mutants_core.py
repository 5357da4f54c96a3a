"""Mistakes in the engine's core."""

from mutants_words import Mutant, mutant

ELEMENT_TESTS = "tests/core/test_elements.py"
INCIDENT_TESTS = "tests/core/test_incidents.py"
CANCEL_TESTS = "tests/core/test_cancel.py"

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
)
