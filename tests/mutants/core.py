"""Mistakes in the engine's core."""

from tests.mutants.mutant import Edit, Mutant, mutant

LISTENER_TESTS = "tests/core/shared/test_listeners.py"
INCIDENT_TESTS = "tests/core/commands/test_incidents.py"
CANCEL_TESTS = "tests/core/commands/test_cancel.py"
DEADLOCK_TESTS = "tests/core/shared/test_deadlocks.py"

CORE: tuple[Mutant, ...] = (
    # The core
    mutant(
        "core: surplus tokens are dropped",
        "tests/core/elements/test_parallel_gateway.py::test_a_join_takes_one_token_of_each_flow_and_leaves_the_surplus",
        "core/apply/elements.py",
        ("            tokens[place] -= 1\n", "            del tokens[place]\n"),
    ),
    mutant(
        "core: a join consumes nothing",
        "tests/core/elements/test_parallel_gateway.py::test_a_join_in_a_loop_opens_in_each_round",
        "core/elements/parallel_gateway.py",
        ("consumes=gateway.incoming)", "consumes=())"),
    ),
    mutant(
        "core: a default flow is taken early",
        "tests/core/elements/test_exclusive_gateway.py::test_a_default_flow_is_not_taken_early_wherever_it_stands",
        "core/elements/exclusive_gateway.py",
        ("        if flow == node.default:\n            continue\n", ""),
    ),
    mutant(
        "core: later mappings do not see earlier ones",
        "tests/core/shared/test_variables.py::test_later_inputs_see_earlier_ones",
        "core/shared/mappings.py",
        (
            "view.expressions.evaluate(mapping.source, element, IncidentType.IO_MAPPING_ERROR, seen)",
            "view.expressions.evaluate(mapping.source, element, IncidentType.IO_MAPPING_ERROR)",
        ),
    ),
    mutant(
        "core: a merge stops one scope early",
        "tests/core/shared/test_variables.py::test_setting_upwards_goes_where_each_variable_is_and_new_ones_to_the_top",
        "core/shared/variables.py",
        ("        if outer is None:\n", "        if outer is None or outer.scope is None:\n"),
    ),
    mutant(
        "core: an incident runs its element again from the beginning",
        f"{INCIDENT_TESTS}::test_only_the_failed_stage_runs_again",
        "core/execution/consequences.py",
        (
            "work.queue.append((row.element.key, row.stage, row.argument))",
            'work.queue.append((row.element.key, "inputs", row.argument))',
        ),
    ),
    mutant(
        "core: undo leaves new rows where they are found",
        "tests/core/state/test_undo.py::test_after_a_bug_behind_any_event_everything_is_as_before",
        "core/state/undo.py",
        ("    _remove_new_rows(state)\n", ""),
    ),
    mutant(
        "core: undo does not put back what has ended",
        "tests/core/state/test_undo.py::test_after_a_bug_behind_any_event_everything_is_as_before",
        "core/state/undo.py",
        ("    for row in state.removed:\n", "    for row in ():\n"),
    ),
    mutant(
        "core: undo keeps the weight",
        "tests/core/state/test_undo.py::test_after_a_bug_behind_any_event_everything_is_as_before",
        "core/state/undo.py",
        ("            state.weight -= row.weight\n", "            pass\n"),
    ),
    mutant(
        "core: undo forgets the key generator",
        f"{INCIDENT_TESTS}::test_undo_leaves_the_state_as_it_was",
        "core/state/undo.py",
        ("    state.next_key = state.first_key\n", ""),
    ),
    mutant(
        "core: undo forgets links",
        "tests/core/state/test_undo.py::test_after_a_bug_behind_any_event_everything_is_as_before",
        "core/state/undo.py",
        ("            where[key] = old\n", "            pass\n"),
    ),
    mutant(
        "core: cancelled elements keep their jobs",
        f"{CANCEL_TESTS}::test_an_instance_can_be_cancelled_at_every_quiet_point",
        "core/execution/lifecycle.py",
        ("[JobCanceled(job) for job in own.jobs] if own.jobs else []", "[]"),
    ),
    mutant(
        "core: deferred scopes are forgotten",
        "tests/core/randomised/test_metamorphic.py::test_quanta_come_to_the_same_end",
        "core/execution/worklist.py",
        ("for item in (*self.queue, *settles):", "for item in (*self.queue,):"),
    ),
    mutant(
        "core: replay without the time of the events",
        "tests/core/randomised/test_replay.py::test_replay_gives_every_row_that_was_ever_written",
        "core/replay.py",
        ("    state.position, state.now = row.position, row.now_ms\n", "    state.position = row.position\n"),
    ),
    # Deadlocks, calls and instructions for the run
    mutant(
        "deadlock: an event sub-process is no reason to wait",
        f"{DEADLOCK_TESTS}::test_a_scope_that_can_be_interrupted_from_within_is_not_stuck",
        "core/shared/deadlocks.py",
        ('wait.type != "BOUNDARY"', 'wait.type == "INTERMEDIATE"'),
    ),
    mutant(
        "deadlock: a boundary event is a reason to wait",
        f"{DEADLOCK_TESTS}::test_it_closes_when_a_boundary_event_ends_the_scope",
        "core/shared/deadlocks.py",
        ('wait.type != "BOUNDARY"', 'wait.type != "INTERMEDIATE"'),
    ),
    mutant(
        "deadlock: deferred work brings no token",
        f"{DEADLOCK_TESTS}::test_a_scope_whose_work_was_deferred_is_not_stuck",
        "core/shared/deadlocks.py",
        (' and not is_deferred(scope, view, "arrive", "settle")', ""),
    ),
    mutant(
        "deadlock: an incident stays when a token has come",
        f"{DEADLOCK_TESTS}::test_it_closes_when_a_token_is_brought_from_outside",
        "core/shared/deadlocks.py",
        ("if i.stage == DEADLOCK_STAGE)", "if i.stage != DEADLOCK_STAGE)"),
    ),
    mutant(
        "deadlock: resolving does not look again",
        f"{DEADLOCK_TESTS}::test_resolving_looks_again",
        "core/execution/consequences.py",
        ("    if row.element.tokens:\n", "    if not row.element.tokens:\n"),
    ),
    mutant(
        "calls: the depth of the caller is forgotten",
        "tests/core/elements/test_call_activity.py::test_it_waits_for_the_called_process",
        "core/apply/elements.py",
        ("1 if caller is None else caller.instance.depth + 1", "1 if caller is None else caller.instance.depth"),
    ),
    mutant(
        "instructions: only the innermost scope is told of the end",
        "tests/core/commands/test_terminate_instructions.py::test_deep_in_scopes_nothing_follows_in_any_of_them",
        "core/execution/worklist.py",
        ("around[-1] is not scope.instance and around[-1].scope is not None", "False"),
    ),
    mutant(
        "instructions: an instance of a loop is enough",
        "tests/core/commands/test_terminate_instructions.py::test_of_a_loop_the_whole_and_not_an_instance",
        "core/shared/ending.py",
        ("element.instance.terminate_after and not element.is_inner", "element.instance.terminate_after"),
    ),
    mutant(
        "core: a token arrives in an interrupted scope",
        "tests/core/execution/test_large_instance_trees.py::test_what_others_do_below_a_cancelled_ancestor_begins_nothing",
        "core/execution/worklist.py",
        (
            "        if scope.state is ACTIVATED and not self.ending.covers(scope):",
            "        if scope.state is ACTIVATED:",
        ),
    ),
    mutant(
        "core: scopes settle before their boundary event is entered",
        "tests/core/execution/test_between_quanta.py::test_a_scope_does_not_end_while_a_later_quantum_is_to_enter_a_boundary_event",
        "core/execution/worklist.py",
        ('ACTIVATED and not (scope.tree.work and is_deferred(scope, self.view, "enter")):', "ACTIVATED:"),
    ),
    mutant(
        "core: a failing stage leaves its effects",
        "tests/core/events/test_timers.py::test_if_one_boundary_timer_fails_none_is_scheduled",
        "core/execution/worklist.py",
        (
            "                    effects = tuple(effects_of(element, view, argument))\n",
            "                    effects = []\n"
            "                    effects.extend(effects_of(element, view, argument))\n",
        ),
        (
            "                    effects, following = self._failed(failure, element, stage, argument), None\n",
            "                    effects += self._failed(failure, element, stage, argument)\n",
        ),
    ),
    mutant(
        "core: a resolved incident runs nothing",
        f"{INCIDENT_TESTS}::test_a_failing_expression_is_an_incident_and_runs_again_when_resolved",
        "core/execution/consequences.py",
        (
            "    if row.stage and row.stage not in (COMMAND_STAGE, DEADLOCK_STAGE):",
            "    if row.stage in (DEADLOCK_STAGE,):",
        ),
    ),
    mutant(
        "core: work that was deferred outlives the interruption of its scope",
        "tests/core/execution/test_between_quanta.py::test_a_token_on_its_way_is_gone_when_its_scope_is_interrupted",
        "core/apply/elements.py",
        ('stage in ("arrive", "enter") and scope is not', 'stage == "enter" and scope is not'),
    ),
    mutant(
        "core: an interrupted scope keeps the tokens of its flows",
        "tests/core/randomised/test_found.py::test_a_timer_that_starts_an_interrupting_event_sub_process_is_not_cancelled_once_more",
        "core/apply/elements.py",
        (
            "        scope.tokens = new_marking({}, (), tuple(child.element",
            "        scope.tokens = new_marking(scope.tokens, (), tuple(child.element",
        ),
    ),
    mutant(
        "core: a loop counts no completed instances",
        "tests/core/elements/test_multi_instance.py::test_a_completion_condition_sees_how_far_it_is",
        "core/apply/elements.py",
        ("completed=scope.loop.completed + 1", "completed=scope.loop.completed"),
    ),
    mutant(
        "core: a called process weighs on after its end",
        "tests/core/randomised/test_found.py::test_a_called_process_that_ends_gives_back_all_that_it_weighed",
        "core/apply/elements.py",
        ("        weight = INSTANCE_WEIGHT\n", ""),
    ),
    mutant(
        "core: an exclusive gateway takes its last flow as well",
        "tests/core/elements/test_exclusive_gateway.py::test_an_exclusive_gateway_takes_the_first_true_flow_in_the_order_of_the_file",
        "core/elements/exclusive_gateway.py",
        ("(gateway.key, (flow,))", "(gateway.key, (flow, *node.outgoing[-1:]))"),
    ),
    mutant(
        "core: an exclusive gateway without a way out ends its token",
        "tests/core/elements/test_exclusive_gateway.py::test_an_exclusive_gateway_without_a_way_out_is_an_incident",
        "core/elements/exclusive_gateway.py",
        ("    if node.outgoing and node.default is None:", "    if False:"),
    ),
    mutant(
        "core: an inclusive join waits for nobody",
        "tests/core/elements/test_inclusive_gateway.py::test_a_join_waits_for_the_branches_that_were_taken_and_no_others",
        "core/elements/inclusive_gateway.py",
        (" and not awaits_tokens(gateway, scope, sum(map(gateway.bits.__getitem__, filled)))", ""),
    ),
    mutant(
        "core: an inclusive join waits for whoever can come",
        "tests/core/elements/test_inclusive_gateway.py::test_a_token_that_can_come_to_a_filled_flow_as_well_is_not_waited_for",
        "core/shared/joins.py",
        ("reached & ~filled and not reached & filled for", "reached & ~filled for"),
    ),
    mutant(
        "core: an inclusive join takes all tokens",
        "tests/core/elements/test_inclusive_gateway.py::test_a_flow_that_is_taken_twice_joins_twice",
        "core/elements/inclusive_gateway.py",
        (
            "consumes=filled)",
            "consumes=[flow for flow in filled for _ in range(scope.tokens[flow])])",
        ),
    ),
    mutant(
        "core: every inner instance throws what the first one should",
        "tests/core/elements/test_inner_events.py::test_the_first_inner_instance_throws_with_one",
        "core/events/inner_events.py",
        ('if one.first_only and seen["numberOfCompletedInstances"] > 1:', "if False:"),
    ),
    mutant(
        "core: inner instances throw on after their activity has ended",
        "tests/core/elements/test_inner_events.py::test_nothing_is_thrown_after_the_activity_has_ended",
        "core/events/inner_events.py",
        ("            if isinstance(effect, ElementTerminating):", "            if False:"),
    ),
    mutant(
        "core: a complex gateway never resets",
        "tests/core/elements/test_complex_gateway.py::test_two_of_three",
        "core/elements/complex_gateway.py",
        ("    if awaits_tokens(gateway, scope, sum(", "    if True or awaits_tokens(gateway, scope, sum("),
    ),
    mutant(
        "core: a complex gateway resets at once",
        "tests/core/elements/test_complex_gateway.py::test_a_discriminator_fires_once_and_takes_the_others",
        "core/elements/complex_gateway.py",
        ("    if awaits_tokens(gateway, scope, sum(", "    if False and awaits_tokens(gateway, scope, sum("),
    ),
    mutant(
        "core: a flow without a condition gets a token when a complex gateway resets",
        "tests/core/elements/test_complex_gateway.py::test_the_reset_takes_only_flows_with_conditions",
        "core/elements/complex_gateway.py",
        ("    if attributes[WAITING_FOR_START]:\n", "    if True:\n"),
    ),
    mutant(
        "core: a complex gateway does not watch the variables of its condition",
        "tests/core/elements/test_complex_gateway.py::test_a_changed_variable_starts_it",
        "core/elements/complex_gateway.py",
        ("        yield from _watch(gateway, scope, view)\n", ""),
    ),
    mutant(
        "core: a failed activation condition is evaluated at each token",
        "tests/core/elements/test_complex_gateway.py::test_a_condition_that_is_no_boolean_is_one_incident_of_the_scope",
        "core/elements/complex_gateway.py",
        (" or _has_failed(gateway, scope)", ""),
    ),
    mutant(
        "core: an interrupted scope keeps the phases of its complex gateways",
        "tests/core/elements/test_complex_gateway.py::test_an_interrupted_scope_forgets_the_phase",
        "core/apply/elements.py",
        ("    scope.awaiting_reset = {}\n", ""),
    ),
    mutant(
        "core: an inclusive gateway takes its default flow always",
        "tests/core/elements/test_inclusive_gateway.py::test_the_default_flow_is_taken_only_when_no_other_is",
        "core/shared/flows.py",
        ("if true or node.default is None else", "if node.default is None else"),
    ),
    mutant(
        "core: a flow without condition counts as one whose condition is true",
        "tests/core/elements/test_conditional_flows.py"
        "::test_a_flow_without_condition_is_always_taken_and_does_not_count",
        "core/shared/flows.py",
        ("if true or node.default is None else", "if true or free or node.default is None else"),
    ),
    mutant(
        "core: an activity that needs several tokens consumes all there are",
        "tests/core/elements/test_quantities.py::test_more_tokens_begin_it_again",
        "core/elements/defaults.py",
        ("consumes=tokens[: node.start_quantity])", "consumes=tokens)"),
    ),
    mutant(
        "core: a scope without a start event does not wait for the events of its event sub-processes",
        "tests/core/elements/test_implicit_start.py::test_event_sub_processes_wait_from_the_beginning",
        "core/elements/sub_process.py",
        ("    yield from subscriptions.subscribe_event_sub_processes(scope, view)\n", ""),
    ),
    mutant(
        "core: conditions behind an activity see what is local to it",
        "tests/core/elements/test_conditional_flows.py::test_conditions_see_what_the_output_mappings_let_out",
        "core/elements/defaults.py",
        ("element if element.loop is not None else element.outer() or element", "element"),
    ),
    mutant(
        "core: inclusive joins are looked at on arrival alone",
        "tests/core/elements/test_inclusive_gateway.py::test_a_join_waits_for_the_branches_that_were_taken_and_no_others",
        "core/execution/worklist.py",
        ("            self._join(scope)\n            if len", "            if len"),
    ),
    mutant(
        "core: a boundary event is no way to a join",
        "tests/core/randomised/test_petri_net.py::test_a_token_may_come_to_a_join_by_the_boundary_event_of_the_task_that_holds_it",
        "core/bpmn/elements/joins.py",
        ("    return throws if host is None else [*throws, host]", "    return throws"),
    ),
    mutant(
        "core: an event sub-process catches after its scope was interrupted",
        "tests/core/elements/test_event_sub_process.py::test_one_trigger_wins_and_later_ones_find_an_interrupted_scope",
        "core/state/instance_tree.py",
        (
            "self.state is ACTIVATED and self.then is None and not self.interrupted",
            "self.state is ACTIVATED and self.then is None",
        ),
    ),
    mutant(
        "core: a scope ends while tokens are in it",
        "tests/core/elements/test_parallel_gateway.py::test_a_join_that_never_fills_keeps_the_process_alive",
        "core/elements/defaults.py",
        ("return () if scope.tokens else (", "return () if scope.live else ("),
    ),
    mutant(
        "core: an activity without outgoing flows but one",
        "tests/core/elements/test_process.py::test_a_task_with_several_flows_takes_all_of_them",
        "core/elements/defaults.py",
        ("    flows = node.outgoing\n", "    flows = node.outgoing[:1]\n"),
    ),
    mutant(
        "core: an ending element keeps its incidents",
        "tests/core/commands/test_cancel.py::test_an_instance_can_be_cancelled_at_every_quiet_point",
        "core/execution/lifecycle.py",
        ("effects += map(IncidentResolved, own.incidents)", "effects += ()"),
    ),
    mutant(
        "core: a completed element waits on",
        "tests/core/events/test_messages.py::test_a_message_completes_what_waits_for_it_and_brings_its_variables",
        "core/execution/lifecycle.py",
        (
            "    yield from waits.close(element)\n    if element.node.in_compensation",
            "    if element.node.in_compensation",
        ),
    ),
    mutant(
        "core: the oldest activity is compensated first",
        "tests/core/events/test_compensation.py::test_each_instance_of_a_loop_is_compensated_the_last_completed_one_first",
        "core/shared/compensations.py",
        ("for row in reversed(group.values())", "for row in group.values()"),
    ),
    mutant(
        "core: a cancelled transaction does not compensate the sub-processes that were active in it",
        "tests/core/elements/test_transaction.py::test_a_cancel_event_in_a_sub_process_cancels_the_transaction_around",
        "core/shared/compensations.py",
        ("    if scope.registered and _is_rolled_back(scope, view):", "    if False and _is_rolled_back(scope, view):"),
    ),
    mutant(
        "core: a cancelled transaction compensates an active transaction in it",
        "tests/core/elements/test_transaction.py::test_the_outer_one_compensates_a_completed_one_and_ends_an_active_one",
        "core/shared/compensations.py",
        ("if view.node(inner).transaction is not None and not (found", "if False and not (found"),
    ),
    mutant(
        "core: each handler loads its page of completed activities again",
        "tests/engine/consumer/test_compensation.py::test_handlers_that_wait_for_jobs_load_a_page_once",
        "core/state/registrations.py",
        ("RETAINED_ROWS = 1_000", "RETAINED_ROWS = 0"),
    ),
    mutant(
        "core: an ended completed activity is forgotten before its end is saved",
        "tests/core/state/test_registrations.py::test_an_ended_row_is_there_until_the_commit_of_its_end_is_known",
        "core/state/registrations.py",
        ("if row.key in self.ended and not", "if row.state == CLOSED and not"),
    ),
    mutant(
        "core: a handler sees the scope of its throw event only",
        "tests/core/events/test_compensation.py::test_a_handler_reads_what_was_at_the_end_of_the_scope_and_writes_what_is",
        "core/state/instance_tree.py",
        ("return self.scope if self.past is None else self.past", "return self.scope"),
    ),
    mutant(
        "core: a cancelled root answers nobody",
        "tests/core/commands/test_cancel.py::test_an_instance_can_be_cancelled_at_every_quiet_point",
        "core/execution/lifecycle.py",
        (
            "    if element.request is not None:\n        yield Reply",
            "    if False:\n        yield Reply",
        ),
    ),
    mutant(
        "core: outputs of a loop's body are mapped",
        "tests/core/elements/test_multi_instance.py::test_nothing_leaves_a_loop_whose_results_are_mapped_to_a_local_variable",
        "core/execution/lifecycle.py",
        (
            '    if node.outputs and (element.is_inner or node.loop is None):\n        return "outputs"',
            '    if node.outputs:\n        return "outputs"',
        ),
    ),
    mutant(
        "core: a job's result skips its output mappings",
        "tests/core/shared/test_variables.py::test_with_outputs_a_result_is_local_and_only_what_they_choose_leaves",
        "core/shared/variables.py",
        ("set_texts if view.node(element).outputs else merge_texts", "merge_texts"),
    ),
    mutant(
        "core: a failed job can be completed",
        "tests/core/commands/test_jobs.py::test_a_job_with_an_incident_cannot_be_reported_on",
        "core/commands/job.py",
        ("    if incidents and any(incident.job == job.key for incident in incidents.values()):", "    if False:"),
    ),
    mutant(
        "core: a lost lease may report",
        "tests/core/commands/test_jobs.py::test_a_lost_lease_is_told",
        "core/commands/job.py",
        ("    if asked and view.token_of(job.key) != command.lease:", "    if False:"),
    ),
    mutant(
        "core: an incident of a job without retries is resolved",
        f"{INCIDENT_TESTS}::test_an_incident_of_a_job_without_retries_is_not_resolved",
        "core/commands/incident.py",
        ("    if job is not None and lacks_retries and not command.retries:", "    if False:"),
    ),
    mutant(
        "core: an end that interrupts is taken for a deadlock",
        "tests/core/shared/test_deadlocks.py::test_a_scope_that_can_be_interrupted_from_within_is_not_stuck",
        "core/shared/deadlocks.py",
        ('    return not any(wait.type != "BOUNDARY" for wait in waits) and', "    return"),
    ),
    mutant(
        "core: a deadlock that is over stays an incident",
        "tests/core/shared/test_deadlocks.py::test_it_closes_when_a_token_is_brought_from_outside",
        "core/shared/deadlocks.py",
        ("yield from (IncidentResolved(i.key) for", "yield from () and (IncidentResolved(i.key) for"),
    ),
    mutant(
        "core: a task of another tenant can be completed",
        "tests/core/elements/test_user_task.py::test_a_task_that_is_not_open_is_not_found",
        "core/commands/user_task.py",
        ("    if task is None or not view.enter(task.element.instance.tenant):", "    if task is None:"),
    ),
    mutant(
        "core: a child can be cancelled",
        "tests/core/elements/test_call_activity.py::test_a_called_process_cannot_be_cancelled_alone",
        "core/commands/instance.py",
        ("    if instance.parent_instance is not None:\n        raise", "    if False:\n        raise"),
    ),
    Mutant(
        "core: deferred work goes on in a scope that ends",
        "tests/core/execution/test_between_quanta.py::test_what_is_to_end_takes_no_further_step",
        (
            Edit(
                "core/execution/consequences.py",
                " and not _is_dropped(work, item[0], item[1]):\n",
                ":\n",
            ),
            Edit(
                "core/execution/worklist.py",
                " and not (wanted is ACTIVATING and self.ending.covers(element.scope))",
                "",
            ),
        ),
    ),
    mutant(
        "core: what begins is not asked whether a scope around it is to end",
        "tests/core/golden/test_elements.py::test_the_trace_is_the_golden_one",
        "core/execution/worklist.py",
        (" and not (wanted is ACTIVATING and self.ending.covers(element.scope))", ""),
    ),
    mutant(
        "core: a scope does not settle after a deferred token has arrived in it",
        "tests/core/execution/test_between_quanta.py::test_a_token_that_arrives_after_the_last_child_has_ended_is_seen",
        "core/execution/consequences.py",
        ('item[1] in ("settle", "arrive")', 'item[1] == "settle"'),
    ),
    mutant(
        "core: a cancelled tree takes up the tokens that were on their way",
        "tests/core/execution/test_between_quanta.py::test_a_cancelled_tree_does_not_take_up_what_it_had_deferred",
        "core/execution/consequences.py",
        ("        return work.ending.covers(element)\n", "        return False\n"),
    ),
    mutant(
        "core: a scope that does nothing before its children end is put off",
        "tests/core/execution/test_large_instance_trees.py::test_a_deep_tree_ends_in_few_quanta_that_put_little_off",
        "core/execution/worklist.py",
        ("            if not is_idle(element, item[1]):\n", "            if True:\n"),
    ),
    mutant(
        "core: a scope in one that is to end settles",
        "tests/core/execution/test_large_instance_trees.py::test_what_interrupts_it_from_above_ends_it",
        "core/execution/worklist.py",
        ("scope.state is not TERMINATING and self.ending.covers(scope.scope)", "False"),
    ),
    mutant(
        "core: an inclusive join does not wait for a boundary event that a later quantum is to enter",
        "tests/core/elements/test_boundary_event_entered_later.py::test_an_inclusive_join_waits_for_it",
        "core/execution/worklist.py",
        (
            'ACTIVATED and not (scope.tree.work and is_deferred(scope, self.view, "enter")):\n'
            "            if self.view.node(scope).joins:\n                self._join(scope)\n"
            "            if len(events) == before:",
            "ACTIVATED:\n            if self.view.node(scope).joins:\n                self._join(scope)\n"
            '            if len(events) == before and not is_deferred(scope, self.view, "enter"):',
        ),
    ),
    mutant(
        "core: a boundary event that a later quantum is to enter outlives the interruption of its scope",
        "tests/core/elements/test_boundary_event_entered_later.py::test_an_interruption_of_its_scope_drops_it",
        "core/apply/elements.py",
        ('stage in ("arrive", "enter") and scope is not', 'stage == "arrive" and scope is not'),
    ),
    mutant(
        "core: a boundary event is entered in a scope that is to end",
        "tests/core/elements/test_boundary_event_entered_later.py::test_a_cancellation_drops_it",
        "core/execution/worklist.py",
        ("        if scope.state is not ACTIVATED or self.ending.covers(scope):\n", "        if False:\n"),
    ),
    mutant(
        "listeners: the element goes on before its listener is done",
        f"{LISTENER_TESTS}::test_each_has_its_turn_in_the_order_of_the_file",
        "core/execution/worklist.py",
        ("following is not None and not element.waits.jobs:", "following is not None:"),
    ),
    mutant(
        "listeners: the first one alone has its turn",
        f"{LISTENER_TESTS}::test_each_has_its_turn_in_the_order_of_the_file",
        "core/execution/consequences.py",
        ("row.listener_index + 1))", "row.listener_index + 9))"),
    ),
    mutant(
        "listeners: those of a loop are told by its body",
        f"{LISTENER_TESTS}::test_each_instance_of_a_loop_tells_and_the_loop_does_not",
        "core/execution/lifecycle.py",
        (
            "return event in node.listeners and (element.is_inner or node.loop is None)",
            "return event in node.listeners",
        ),
    ),
    mutant(
        "listeners: behind mappings nobody is told",
        f"{LISTENER_TESTS}::test_they_come_behind_the_mappings",
        "core/execution/lifecycle.py",
        ("or _hears(element, event) else behind", "or not _hears(element, event) else behind"),
    ),
    mutant(
        "listeners: an expression that fails tells that one alone again",
        f"{LISTENER_TESTS}::test_an_expression_that_fails_tells_all_of_its_event_again",
        "core/execution/worklist.py",
        (
            "        argument = 0 if stage in RESTARTED else argument",
            "        argument = argument if stage in RESTARTED else argument",
        ),
    ),
    mutant(
        "listeners: what one brings at the start goes upwards",
        f"{LISTENER_TESTS}::test_what_a_start_listener_brings_is_local",
        "core/shared/listeners.py",
        ("    if job.listener_event != END:", "    if False:"),
    ),
    mutant(
        "listeners: what one brings at the end is merged from the element on",
        f"{LISTENER_TESTS}::test_what_an_end_listener_brings_leaves_like_the_result_of_a_mapping",
        "core/shared/listeners.py",
        ("merge_upwards(output_scope(job.element), variables, view)", "merge_upwards(job.element, variables, view)"),
    ),
    mutant(
        "listeners: one throws an error",
        f"{LISTENER_TESTS}::test_a_listener_cannot_throw_an_error",
        "core/commands/job.py",
        ("    if job.kind in (EXECUTION_LISTENER, TASK_LISTENER):", "    if False:"),
    ),
    mutant(
        "listeners: one that has failed is told as a job of the element",
        f"{LISTENER_TESTS}::test_a_listener_without_retries_is_an_incident_and_it_alone_is_told_again",
        "core/commands/job.py",
        ("NO_RETRIES[job.kind]", "NO_RETRIES[ELEMENT]"),
    ),
    mutant(
        "listeners: one reports on what is about to end",
        f"{LISTENER_TESTS}::test_a_listener_of_what_is_about_to_end_reports_in_vain",
        "core/commands/job.py",
        ("    if element.state is not WAITING_STATES[job.listener_event]:", "    if False:"),
    ),
)
