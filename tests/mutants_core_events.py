"""Mistakes in what the core does about events, calls, loops, messages and signals."""

from mutants_words import Mutant, mutant

CORE_EVENTS: tuple[Mutant, ...] = (
    mutant(
        "core: catch-all preferred",
        "tests/core/test_issue5_errors.py::test_in_one_place_an_exact_code_beats_every_error",
        "engine/core/shared/events.py",
        ("            catch_all = catch_all or Catcher(host, node)", "            return Catcher(host, node)"),
    ),
    mutant(
        "core: the catcher is looked for in one scope alone",
        "tests/core/test_issue5_errors.py::test_an_error_in_an_interrupting_event_sub_process_goes_on_to_the_boundary_around_it",
        "engine/core/shared/events.py",
        (
            "        inside, level = level.element, level.scope\n",
            "        inside, level = level.element, None if level is not thrower else level.scope\n",
        ),
    ),
    mutant(
        "core: an interrupting event sub-process leaves the other waits open",
        "tests/core/test_oracle_found.py::test_a_token_that_a_later_slice_was_to_move_is_gone_when_its_scope_is_interrupted",
        "engine/core/shared/events.py",
        ("yield from waits.close(host, {child.id", "yield from () and waits.close(host, {child.id"),
    ),
    mutant(
        "core: a timer that has happened is cancelled as well",
        "tests/core/test_oracle_found.py::test_a_timer_that_starts_an_interrupting_event_sub_process_is_not_cancelled_once_more",
        "engine/core/shared/waits.py",
        ("timer.target != happened and (", "("),
    ),
    mutant(
        "core: boundary events of every instance of a loop",
        "tests/core/test_issue5_loops.py::test_a_boundary_event_belongs_to_the_body",
        "engine/core/shared/catching.py",
        ("    if not element.is_inner:\n        nodes", "    if True:\n        nodes"),
    ),
    mutant(
        "core: a non-interrupting event ends its host",
        "tests/core/test_issue5_escalations.py::test_beside_a_non_interrupting_boundary_everything_goes_on",
        "engine/core/shared/events.py",
        ("    if not is_interrupting(catcher, at):\n        scope", "    if False:\n        scope"),
    ),
    mutant(
        "core: an escalation that interrupts lets its thrower go on",
        "tests/core/test_issue5_escalations.py::test_an_interrupting_boundary_keeps_the_throwing_event_from_completing",
        "engine/core/elements/intermediate_throw_event.py",
        (
            "    if catcher is None or not events.is_interrupting(catcher, at):\n        yield",
            "    if True:\n        yield",
        ),
    ),
    mutant(
        "core: terminate ends its token alone",
        "tests/core/test_issue5_ends.py::test_a_terminate_end_event_of_the_process_completes_it",
        "engine/core/elements/end_event.py",
        ("    if isinstance(at.node(event).event, TerminateEvent) and", "    if False and"),
    ),
    mutant(
        "core: a gateway of events waits on for those that lost",
        "tests/core/test_messages.py::test_behind_an_event_based_gateway_the_first_message_wins",
        "engine/core/elements/event_based_gateway.py",
        ("    yield from waits.close(gateway)\n", ""),
    ),
    mutant(
        "core: an event sub-process starts another that throws the same within",
        "tests/core/test_issue5_escalations.py::test_an_escalation_out_of_an_event_sub_process_starts_another_in_the_same_scope",
        "engine/core/shared/events.py",
        ("event_sub_processes_of(level, at) if node.id != inside)", "event_sub_processes_of(level, at) if not inside)"),
    ),
    mutant(
        "core: an output to a path forgets the element's own",
        "tests/core/test_variables.py::test_an_output_to_a_path_is_merged_into_what_the_element_sees",
        "engine/core/shared/mappings.py",
        ("VariableScope(element, {}, at)", "VariableScope(around, {}, at)"),
    ),
    mutant(
        "core: a task that is a job says what is empty",
        "tests/core/test_user_tasks.py::test_a_job_does_not_say_what_is_empty",
        "engine/core/elements/user_task.py",
        ("        if text:\n", "        if text is not None or name:\n"),
    ),
    mutant(
        "core: a static source of a mapping is a number",
        "tests/core/test_variables.py::test_a_static_source_is_text_whatever_it_looks_like",
        "engine/bpmn/extensions.py",
        (
            'source = text_or_expression(child.get("source", "=null"), what, element, report, at=child)',
            'source = whole_number(child.get("source", "=null"), what, element, report, at=child, least=0)',
        ),
    ),
    mutant(
        "core: a sequential loop runs all at once",
        "tests/core/test_issue5_loops.py::test_in_sequence_one_after_the_other",
        "engine/core/elements/multi_instance.py",
        ("width = 1 if _loop(body, at).sequential else state.size", "width = state.size"),
    ),
    mutant(
        "core: a loop that has enough goes on",
        "tests/core/test_issue5_loops.py::test_a_completion_condition_ends_the_others",
        "engine/core/elements/multi_instance.py",
        ('            yield ScopeInterrupted(body.key, ("complete",))', "            return"),
    ),
    mutant(
        "core: a loop is done one instance too late",
        "tests/core/test_issue5_loops.py::test_a_completion_condition_sees_how_far_it_is",
        "engine/core/elements/multi_instance.py",
        ('"numberOfCompletedInstances": state.completed + 1', '"numberOfCompletedInstances": state.completed'),
    ),
    mutant(
        "core: a sequence counts instances that it has not made",
        "tests/core/test_issue5_loops.py::test_in_a_sequence_instances_are_counted_when_they_are_made",
        "engine/core/elements/multi_instance.py",
        ("state.next if loop.sequential else state.size", "state.size"),
    ),
    mutant(
        "core: a completion condition does not see the last result",
        "tests/core/test_issue5_loops.py::test_a_completion_condition_sees_the_results_so_far",
        "engine/core/elements/multi_instance.py",
        ("    results[index] = None if text is None else from_json(text)\n", ""),
    ),
    mutant(
        "core: a turn of a loop collects another's result",
        "tests/core/test_issue5_loops.py::test_the_variable_of_the_result_is_one_of_the_turn",
        "engine/core/shared/mappings.py",
        ("        variables.setdefault(loop.result, None)\n", "        pass\n"),
    ),
    mutant(
        "core: the result of a turn hides its item",
        "tests/core/test_issue5_loops.py::test_what_is_no_variable_of_its_own_is_not_set_to_null",
        "engine/core/shared/mappings.py",
        ("        variables.setdefault(loop.result, None)\n", "        variables[loop.result] = None\n"),
    ),
    mutant(
        "core: a called process gets local variables alone",
        "tests/core/test_issue5_calls.py::test_everything_visible_goes_in_and_everything_comes_back",
        "engine/core/elements/call_activity.py",
        ("visible(call) if called.all_parent_variables else local", "local"),
    ),
    mutant(
        "core: variables of a called process are lost",
        "tests/core/test_issue5_calls.py::test_a_process_that_ends_at_once_is_called_and_left",
        "engine/core/elements/call_activity.py",
        ("    elif _called(call, at).all_child_variables:", "    elif False:"),
    ),
    mutant(
        "core: the oldest version is called",
        "tests/core/test_issue5_calls.py::test_latest_is_the_latest_when_the_call_happens",
        "engine/core/elements/call_activity.py",
        ("    return max(candidates, key=", "    return min(candidates, key="),
    ),
    mutant(
        "core: a message is for all who wait in a process",
        "tests/core/test_messages.py::test_of_one_process_the_longest_wait_gets_it_and_every_process_once",
        "engine/core/commands/message.py",
        (
            "            found.setdefault(subscription.process_id, subscription)",
            "            found.setdefault(str(subscription.key), subscription)",
        ),
    ),
    mutant(
        "core: the lock of a process is not looked at",
        "tests/core/test_message_starts.py::test_one_instance_for_each_key_while_it_lives",
        "engine/core/commands/message.py",
        ("        if start.process_id not in channel.locks:\n", "        if True:\n"),
    ),
    mutant(
        "core: a message that was not taken is for nobody else",
        "tests/core/test_messages.py::test_a_stale_subscription_gives_the_message_to_the_next_one",
        "engine/core/commands/message.py",
        ("    elif following is not None:\n", "    elif False:\n"),
    ),
    mutant(
        "core: what waits takes no kept message",
        "tests/core/test_messages.py::test_kept_messages_come_first_in_first_out",
        "engine/core/commands/message.py",
        (
            "    if message is not None:\n        subscription = ChannelS",
            "    if False:\n        subscription = ChannelS",
        ),
    ),
    mutant(
        "core: who throws goes on before its own tree has heard",
        "tests/core/test_throws.py::test_the_boundary_around_the_thrower_hears_it",
        "engine/core/commands/signal.py",
        (
            "    told = _own(command, at)[: _page_of(variables)]\n",
            "    told = _own(command, at)[: _page_of(variables)]\n"
            "    if command.thrower:\n        yield Send(CompleteThrow(command.thrower))\n",
        ),
    ),
    mutant(
        "core: a channel hears of a wait when there is time for it",
        "tests/core/test_throws.py::test_a_slice_that_ends_between_wait_and_throw_loses_nothing",
        "engine/core/step.py",
        (" and not isinstance(command, PROMPT))", ")"),
    ),
    mutant(
        "core: who throws goes on though that is about to end it",
        "tests/core/test_throws.py::test_who_is_about_to_be_ended_by_it_does_not_go_on",
        "engine/core/commands/throw.py",
        (" and not _ends(thrower):", ":"),
    ),
    mutant(
        "core: what its own tree has heard comes with the pages again",
        "tests/core/test_throws.py::test_it_is_heard_once_by_what_waits_on",
        "engine/core/commands/signal.py",
        (" and key not in command.told)", ")"),
    ),
    mutant(
        "core: signals begin no process",
        "tests/core/test_signals.py::test_it_starts_the_latest_version_each_time",
        "engine/core/commands/signal.py",
        (
            "        yield Send(StartInstance(at.key(), start.definition, start.element, variables",
            "        continue\n        yield Send(StartInstance(at.key(), start.definition, start.element, variables",
        ),
    ),
    mutant(
        "core: the last of a page hears a signal twice",
        "tests/core/test_signals.py::test_who_waits_on_is_told_once_whatever_page_it_is_on",
        "engine/core/commands/signal.py",
        ("if command.after < key < upto", "if command.after <= key < upto"),
    ),
    mutant(
        "core: a page of a signal passes over those who are not in memory",
        "tests/core/test_signals.py::test_who_is_in_memory_behind_the_page_that_was_loaded_is_told_with_a_later_one",
        "engine/core/commands/signal.py",
        ("    upto = command.upto if last is None else min(last + 1, command.upto)\n", "    upto = command.upto\n"),
    ),
    mutant(
        "core: a signal goes on behind those who wait since later",
        "tests/core/test_signals.py::test_a_page_of_those_who_wait_since_later_is_the_last",
        "engine/core/commands/signal.py",
        ("    elif last is not None and last < command.upto:\n", "    elif last is not None:\n"),
    ),
    mutant(
        "core: the next page of a signal is not asked for",
        "tests/engine/test_messages_postgres.py::test_a_signal_for_more_than_a_page",
        "engine/core/commands/signal.py",
        ("    yield Need(NeedKind.SIGNAL, (tenant, command.name, command.after))\n", "    yield from ()\n"),
    ),
    mutant(
        "core: what is to end takes a message",
        "tests/core/test_stale_waits.py::test_a_message_goes_past_what_is_to_end_to_the_next_that_waits",
        "engine/core/commands/subscription.py",
        ("    if subscription is None or not _takes(subscription):\n", "    if subscription is None:\n"),
    ),
    mutant(
        "core: a kept message is lost whose subscription was closed while it was on its way",
        "tests/core/test_stale_waits.py::test_a_kept_message_that_what_is_to_end_did_not_take_waits_on",
        "engine/core/commands/message.py",
        (
            "    process_id = offer.process_id if gone is None else gone.process_id\n",
            "    process_id = None if gone is None else gone.process_id\n",
        ),
    ),
    mutant(
        "core: a loop begins over any number of items",
        "tests/core/test_loop_limits.py::test_too_many_items",
        "engine/core/elements/multi_instance.py",
        ("    if len(items) > MAX_LOOP_ITEMS:\n", "    if False:\n"),
    ),
    mutant(
        "core: the size of a loop's results is not counted",
        "tests/core/test_loop_limits.py::test_a_result_that_is_too_much_does_not_end_its_turn",
        "engine/core/apply/data.py",
        ("collected=body.loop.collected + len(event.value)", "collected=body.loop.collected"),
    ),
    mutant(
        "core: a slice ends by the number of its steps alone",
        "tests/core/test_large_texts.py::test_a_slice_ends_when_it_has_written_enough",
        "engine/core/worklist.py",
        ("self.used >= self.limit or state.written > self._ceiling", "self.used >= self.limit"),
    ),
    mutant(
        "core: a page of a signal holds as many however large its variables are",
        "tests/core/test_large_texts.py::test_a_page_of_a_signal_holds_fewer_when_its_variables_are_large",
        "engine/core/commands/signal.py",
        ("    size = sum(map(len, variables.values()))\n", "    size = 0\n"),
    ),
    mutant(
        "core: a message that was not taken is not looked for in the database",
        "tests/engine/test_messages_postgres.py::test_of_a_channel_with_many_messages_one_that_was_not_taken_is_found_again",
        "engine/core/commands/message.py",
        ("kept = channel.is_here(offer.message)", "kept = offer.message in channel.messages"),
    ),
    mutant(
        "core: who publishes is answered by each receiver",
        "tests/core/test_message_answers.py::test_every_command_is_answered_once",
        "engine/core/commands/subscription.py",
        ("    if offer.message is not None and offer.request is not None:\n", "    if offer.message is not None:\n"),
    ),
    mutant(
        "core: what takes one message asks for another",
        "tests/core/test_message_answers.py::test_what_takes_one_message_is_offered_no_other",
        "engine/core/commands/subscription.py",
        ("        if not subscription.interrupting:\n", "        if True:\n"),
    ),
    mutant(
        "core: what waits on is on its way for ever once it has taken a message",
        "tests/core/test_messages.py::test_what_waits_on_takes_one_kept_message_after_the_other",
        "engine/core/commands/message.py",
        (
            "    yield CorrelationAnswered(offer.message, command.tenant, offer.correlation_key, command.key, True)\n",
            "",
        ),
    ),
    mutant(
        "jobs: one that waits for its backoff is reported on",
        "tests/core/test_jobs.py::test_a_job_that_waits_for_its_backoff_is_not_reported_on",
        "engine/core/commands/job.py",
        ("    if _waits_for_backoff(job, at):\n", "    if False:\n"),
    ),
    mutant(
        "jobs: the clock alone says whether a backoff is over",
        "tests/core/test_jobs.py::test_a_job_that_was_given_out_after_its_backoff_is_reported_on_though_the_clock_was_set_back",
        "engine/core/commands/job.py",
        ("    return at.leases[job.key] is None\n", "    return True\n"),
    ),
)
