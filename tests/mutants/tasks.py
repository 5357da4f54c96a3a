"""Mistakes in the tasks: supervision, and timers (docs/timers.md)."""

from tests.mutants.mutant import Mutant, mutant

NEW_LEASES_TESTS = "tests/engine/consumer/test_new_job_leases.py"
COMPLETIONS_TESTS = "tests/engine/test_completions.py"
SUPERVISION_TESTS = "tests/engine/supervision/test_supervisor.py"
LISTENER_TESTS = "tests/storage/postgres/test_notification_listener.py"
CHAOS_TESTS = "tests/process/test_chaos.py"
TWO_TESTS = "tests/process/test_two_programs.py"
LATE_TESTS = "tests/storage/test_late_calls.py"
CLOCK_TESTS = "tests/engine/timers/test_clock_steps.py"
TIMER_TESTS = "tests/engine/timers/test_timers.py"
TIMER_TASK_TESTS = "tests/engine/timers/test_task.py"
TIMER_WINDOW_TESTS = "tests/engine/timers/test_window.py"
TIMER_START_TESTS = "tests/engine/timers/test_starts.py"
SCHEDULE_TESTS = "tests/core/shared/test_schedules.py"
MESSAGE_TESTS = "tests/core/events/test_messages.py"
MESSAGE_START_TESTS = "tests/core/events/test_message_starts.py"

ATTEMPT_TESTS = "tests/engine/consumer/test_attempts.py"

TASKS: tuple[Mutant, ...] = (
    # Attempts (docs/adr/0014)
    mutant(
        "attempts: an outage counts",
        f"{ATTEMPT_TESTS}::test_a_black_hole_of_a_whole_deadline_counts_for_nothing",
        "engine/consumer/attempts.py",
        ("(waited and self._probe.serves)", "waited"),
    ),
    mutant(
        "attempts: what fails at once counts",
        f"{ATTEMPT_TESTS}::test_ten_minutes_of_outage_at_one_position_reject_nothing",
        "engine/consumer/attempts.py",
        ("(waited and self._probe.serves)", "self._probe.serves"),
    ),
    mutant(
        "attempts: recorded after loading",
        f"{ATTEMPT_TESTS}::test_an_attempt_is_recorded_before_anything_is_done_for_it",
        "engine/consumer/term.py",
        ("        if careful and read is not None and read.rows:\n", "        if False:\n"),
    ),
    mutant(
        "attempts: kept when the command is passed",
        f"{ATTEMPT_TESTS}::test_a_slow_command_is_rejected_after_three_attempts_and_all_others_are_done_once",
        "engine/consumer/committer.py",
        ("            calls.insert(1, attempts.clear(self._claim.partition, work.last))\n", "            pass\n"),
    ),
    mutant(
        "attempts: what the last term ended with is not recorded",
        f"{ATTEMPT_TESTS}::test_a_slow_command_is_rejected_after_three_attempts_and_all_others_are_done_once",
        "engine/consumer/leadership.py",
        ("            await attempts.end(writer, *verdict)\n", "            pass\n"),
    ),
    mutant(
        "attempts: an old term counts the new one's",
        f"{ATTEMPT_TESTS}::test_an_attempt_is_the_owners_and_counts_once",
        "storage/log/attempts.sql",
        ("AND epoch = $2 AND open", "AND open"),
    ),
    # Supervision
    mutant(
        "supervision: outages count as failures",
        f"{SUPERVISION_TESTS}::test_outages_and_step_downs_never_count",
        "engine/supervision/supervisor.py",
        ("counts = not excused(error)", "counts = True"),
    ),
    mutant(
        "supervision: a hung child is not ended",
        f"{SUPERVISION_TESTS}::test_a_silent_child_is_closed_cancelled_and_restarted",
        "engine/supervision/supervisor.py",
        ("                    self._end_hung(supervised, life)\n", "                    pass\n"),
    ),
    mutant(
        "supervision: existence taken for health",
        f"{SUPERVISION_TESTS}::test_health_is_progress_not_existence",
        "engine/supervision/children.py",
        ("healthy=progressing and life is not None", "healthy=life is not None"),
    ),
    mutant(
        "supervision: the closed sockets of a hung child excuse it",
        f"{SUPERVISION_TESTS}::test_a_hung_child_is_not_excused_by_what_closing_its_sockets_raises",
        "engine/supervision/supervisor.py",
        ("return self._silent(life) or (", "return ("),
    ),
    mutant(
        "supervision: a pause of the whole process is a hang of everybody",
        f"{SUPERVISION_TESTS}::test_after_a_pause_of_the_whole_process_nobody_hangs",
        "engine/supervision/beat.py",
        ("return self.overtaken >= OVERTAKEN and self.overdue", "return self.overdue"),
    ),
    mutant(
        "supervision: a slow machine is a hang of everybody",
        f"{SUPERVISION_TESTS}::test_no_child_of_a_starved_program_hangs",
        "storage/postgres/given_time.py",
        ("self.now_s = now_s - self.withheld_s", "self.now_s = now_s"),
    ),
    mutant(
        "supervision: the watchdog looks at the clock",
        f"{SUPERVISION_TESTS}::test_the_watchdog_lets_a_crowded_out_loop_be",
        "engine/supervision/watchdog.py",
        ("max(self.computed_s, min(self.took_s, 1.5 * self.meant_s) - self.queued_s, 0.0)", "self.took_s"),
    ),
    mutant(
        "deadlines of calls do not move with the machine",
        "tests/storage/postgres/test_given_time.py::test_a_call_of_the_database_has_a_deadline_in_given_time",
        "storage/postgres/session.py",
        ("with trio.CancelScope(deadline=end) as scope, patient(scope):", "with trio.CancelScope(deadline=end):"),
    ),
    mutant(
        "supervision: healthy without a connection",
        f"{LISTENER_TESTS}::test_it_waits_for_a_server_that_is_not_there_yet_and_shows_life_but_no_progress",
        "storage/postgres/reconnect.py",
        ("    beats.report_progress(lambda: link.up)\n", "    beats.report_progress(lambda: True)\n"),
    ),
    mutant(
        "supervision: healthy without a claim",
        f"{CHAOS_TESTS}::test_a_node_that_gets_nowhere_says_so",
        "engine/consumer/leadership.py",
        (
            "        self._connections = []\n        try:",
            "        beat.beat()\n        self._connections = []\n        try:",
        ),
    ),
    mutant(
        "completions: told before the commit",
        f"{TWO_TESTS}::test_both_serve_and_one_leads",
        "engine/consumer/committer.py",
        (
            "            try:\n                await self.connection.finish_pipeline(",
            "            tell(self._owner.observer, self._claim.partition, work, {})\n"
            "            try:\n                await self.connection.finish_pipeline(",
        ),
        (
            "            tell(self._owner.observer, self._claim.partition, work, left)  # no checkpoint up to here\n",
            "",
        ),
    ),
    mutant(
        "completions: who asks before the first commit waits for the sweep",
        f"{COMPLETIONS_TESTS}::test_a_program_that_was_just_started_looks_at_once",
        "engine/outcomes/completions.py",
        ("self._watermarks.get(partition, position)", "self._watermarks.get(partition, 0)"),
    ),
    # Timers (docs/timers.md)
    mutant(
        "engine time: what was read before a step back holds",
        f"{CLOCK_TESTS}::test_what_is_set_after_a_step_goes_by_the_new_time",
        "engine/consumer/engine_time.py",
        (" or self.ms > at_most", ""),
    ),
    mutant(
        "engine time: readings overtake each other",
        f"{CLOCK_TESTS}::test_the_moment_goes_back_only_with_the_clock",
        "engine/consumer/engine_time.py",
        ("self.ms = max(self.ms, read.now)", "self.ms = read.now"),
    ),
    mutant(
        "engine time: what was asked for before a step back undoes it",
        f"{CLOCK_TESTS}::test_the_moment_goes_back_only_with_the_clock",
        "engine/consumer/engine_time.py",
        (" or read.asked_at < self._asked_at", ""),
    ),
    mutant(
        "claim: a lease of the time before a step back holds",
        f"{CLOCK_TESTS}::test_a_lease_of_the_time_before_a_step_back_keeps_nobody_off",
        "storage/cluster/leadership.sql",
        (
            "OR lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $3)",
            "OR lease_until < clock_timestamp()",
        ),
    ),
    mutant(
        "timers: a duplicate TIMER:TRIGGER for the next occurrence",
        f"{TIMER_START_TESTS}::test_a_duplicate_trigger_of_a_start_starts_one_instance",
        "core/commands/timer.py",
        (
            "    timer = view.timer(command.key)\n"
            "    if timer is not None and timer.due_at == command.due_at <= view.now",
            "    timer = view.timer(command.key) or next(iter(view.state.timers.values()), None)\n"
            "    if timer is not None and command.due_at <= view.now",
        ),
    ),
    mutant(
        "timers: the trigger of a date from which the timer was moved",
        f"{TIMER_TESTS}::test_a_moved_timer_fires_at_its_new_date_only",
        "core/commands/timer.py",
        ("timer.due_at == command.due_at <= view.now", "command.due_at <= view.now"),
    ),
    mutant(
        "timers: a trigger of a clock that was set back fires early",
        f"{TIMER_TESTS}::test_a_clock_that_goes_back_fires_nothing_twice",
        "core/commands/timer.py",
        ("timer.due_at == command.due_at <= view.now", "timer.due_at == command.due_at"),
    ),
    mutant(
        "timers: due by the server's clock",
        f"{TIMER_TESTS}::test_a_timer_fires_when_it_is_due_and_not_before",
        "storage/work/timers.sql",
        ("SELECT to_epoch_ms(clock_now()), revision", "SELECT to_epoch_ms(clock_timestamp()), revision"),
    ),
    mutant(
        "timers: one timer for an activity",
        f"{TIMER_TESTS}::test_an_activity_has_several_timers_and_a_cycle_a_row_for_each_occurrence",
        "storage/schema/migrations/0058_timers_and_messages.sql",
        ("ON timers (element_instance_key, target_element_id)", "ON timers (element_instance_key)"),
    ),
    mutant(
        "timers: the next date is counted from the last firing",
        f"{SCHEDULE_TESTS}::test_firing_late_makes_no_drift",
        "core/events/schedules.py",
        ("    at = _occurrence(interval, anchor, following, zone)\n", "    at = interval.added_to(now)\n"),
    ),
    mutant(
        "timers: the next date is counted from the last date",
        f"{SCHEDULE_TESTS}::test_repeating_intervals",
        "core/events/schedules.py",
        ("(text, zone, anchor, number + 1 + skipped))", "(text, zone, at, 0))"),
    ),
    mutant(
        "timers: a cycle that began in the past begins now",
        f"{SCHEDULE_TESTS}::test_a_start_in_the_past_keeps_its_phase",
        "core/events/schedules.py",
        ("    at = _occurrence(interval, cycle.start_ms, number, zone)\n", "    at = max(cycle.start_ms, now)\n"),
    ),
    mutant(
        "timers: skipped occurrences are free",
        f"{SCHEDULE_TESTS}::test_skipped_occurrences_of_a_bounded_cycle_count",
        "core/events/schedules.py",
        ("    left = before.repetitions - 1 - skipped\n", "    left = before.repetitions - 1\n"),
    ),
    mutant(
        "timers: what is behind the horizon is never read",
        f"{TIMER_TESTS}::test_overdue_timers_fire_in_due_order_in_bounded_batches",
        "engine/timers/task.py",
        ("None if len(rows) < limit else rows[-1].due_at", "None"),
    ),
    mutant(
        "timers: a full window forgets where it ends",
        f"{TIMER_WINDOW_TESTS}::test_whatever_happens_the_nearest_are_taken_in_order_and_none_is_forgotten",
        "engine/timers/window.py",
        ("            self.horizon = min(self._known[key][1].due_at for _, key in kept[self._size :])\n", ""),
    ),
    mutant(
        "timers: what commits while the window is read is lost",
        f"{TIMER_TASK_TESTS}::test_what_commits_while_the_window_is_read_is_not_lost",
        "engine/timers/task.py",
        ("        self.changed(meanwhile)\n", ""),
    ),
    mutant(
        "timers: nobody is woken by a nearer date",
        f"{TIMER_TESTS}::test_a_timer_in_running_time_wakes_the_task_by_itself",
        "engine/timers/task.py",
        ("if change[0] < memory.asleep_until:", "if change[0] < 0:"),
    ),
    mutant(
        "timers: triggers that were refused are taken for fired",
        f"{TIMER_TASK_TESTS}::test_triggers_that_were_not_or_perhaps_appended_come_again",
        "engine/timers/task.py",
        (
            "        except NotAppended as error:\n            self._forget()\n",
            "        except NotAppended as error:\n",
        ),
    ),
    mutant(
        "timers: as many in flight as are due",
        f"{TIMER_TASK_TESTS}::test_no_more_triggers_wait_in_the_log_than_may",
        "engine/timers/task.py",
        (
            "        capacity = min(settings.batch, self._pace.allowed - len(memory.in_flight))\n",
            "        capacity = settings.batch\n",
        ),
    ),
    mutant(
        "timers: the flight never shrinks",
        "tests/engine/timers/test_pace.py::test_it_follows_an_engine_that_gets_slower_and_faster",
        "engine/timers/pace.py",
        ("        if step < 1 or full:\n", "        if step > 1 and full:\n"),
    ),
    mutant(
        "timers: who does not lead fires, too",
        f"{TIMER_TASK_TESTS}::test_who_does_not_lead_the_partition_fires_nothing",
        "engine/timers/task.py",
        ("        if not self._leads():\n", "        if False:\n"),
    ),
    mutant(
        "timers: a date that has passed comes back with its version",
        f"{TIMER_START_TESTS}::test_a_date_that_has_passed_does_not_come_back_with_its_version",
        "core/events/start_timers.py",
        ("    if not (latest.restored and due.cycle is None and due.at <= view.now):\n        yield", "    yield"),
    ),
    mutant(
        "timers: the next version keeps the timers of the last",
        f"{TIMER_START_TESTS}::test_a_new_version_replaces_the_timers_and_the_same_file_leaves_them",
        "core/commands/catalogue.py",
        ("    yield from start_timers.close_timers(process_id, view)\n    for new", "    for new"),
    ),
    mutant(
        "timers: what can neither fire nor fail is tried for ever",
        f"{TIMER_TESTS}::test_a_timer_that_can_neither_fire_nor_fail_harms_nobody_else",
        "engine/consumer/rejected_commands.py",
        ("        if position in self.positions:\n            self.hopeless.add(position)\n", ""),
    ),
    mutant(
        "timers: a restart tries again what can neither fire nor fail",
        "tests/engine/consumer/test_stuck_timers.py"
        "::test_a_timer_that_can_neither_fire_nor_fail_is_left_alone_by_later_programs",
        "engine/consumer/leadership.py",
        (
            "        self.rejected.know(reversed(await timers.stuck(writer, claim.partition, MAX_TIMERS)))\n",
            "",
        ),
    ),
    mutant(
        "timers: cancelled ones are never deleted",
        f"{TIMER_TESTS}::test_old_timers_are_purged_whatever_their_end",
        "storage/work/timers.sql",
        ("WHERE ended_at IS NOT NULL AND ended_at <", "WHERE triggered_at <"),
    ),
    mutant(
        "messages: a process gets one twice",
        f"{MESSAGE_TESTS}::test_a_process_gets_a_kept_message_once_however_many_wait",
        "core/apply/message_channels.py",
        ("        message.given = (*message.given, event.process_id)\n", "        pass\n"),
    ),
    mutant(
        "messages: one whose time has passed is given",
        f"{MESSAGE_TESTS}::test_an_expired_message_is_not_given_even_if_it_is_still_there",
        "core/state/message_channels.py",
        ("fits and message.deadline > now and", "fits and"),
    ),
    mutant(
        "messages: the wait that began last comes first",
        f"{MESSAGE_TESTS}::test_of_one_process_the_longest_wait_gets_it_and_every_process_once",
        "core/state/message_channels.py",
        (
            "return (one for one in self.subscriptions.values() if one.name == name)",
            "return (one for one in reversed(self.subscriptions.values()) if one.name == name)",
        ),
    ),
    mutant(
        "messages: a key starts any number of instances",
        f"{MESSAGE_START_TESTS}::test_one_instance_for_each_key_while_it_lives",
        "core/commands/message.py",
        ("if start.process_id not in channel.locks and", "if"),
    ),
    mutant(
        "messages: a start that cannot be handled keeps its lock",
        "tests/core/commands/test_message_rejections.py::test_a_start_that_raises_gives_its_lock_back",
        "core/commands/subscription.py",
        ("    if command.start_lock is not None:\n", "    if False:\n"),
    ),
    mutant(
        "messages: what cannot be saved is refused without a word to who waits",
        "tests/engine/consumer/test_message_rejections.py::test_a_start_that_cannot_be_saved_leaves_no_lock",
        "core/records/messages.py",
        (
            "    home = homes.of_start\n    sent_by = Sender.TREE\n    has_waiter = True\n",
            "    home = homes.of_start\n    sent_by = Sender.TREE\n",
        ),
    ),
    mutant(
        "messages: an id is looked for among the loaded ones alone",
        "tests/engine/consumer/test_messages.py::test_of_a_channel_with_many_messages_only_what_is_asked_for_is_loaded",
        "storage/state/message_channels.sql",
        ("t.message_id = k.message_id AND t.name = k.name", "t.message_id = k.message_id AND false"),
    ),
    mutant(
        "messages: large bodies are loaded with the channel",
        "tests/engine/consumer/test_message_bodies.py"
        "::test_small_bodies_come_with_their_messages_and_large_ones_when_they_are_asked_for",
        "storage/state/message_channels.sql",
        (
            "CASE WHEN pg_column_size(c.variables) <= $4 THEN c.variables::text END, c.given, c.business_id\n"
            "FROM unnest($1::text[], $2::text[]) k",
            "CASE WHEN $4::int > 0 THEN c.variables::text END, c.given, c.business_id\n"
            "FROM unnest($1::text[], $2::text[]) k",
        ),
    ),
    mutant(
        "messages: expiry waits for what a batch holds",
        "tests/engine/jobs/test_expired_messages.py::test_a_batch_that_holds_a_message_is_not_waited_for",
        "storage/state/message_channels.sql",
        ("ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED));", "ORDER BY deadline_ms LIMIT $2 FOR UPDATE));"),
    ),
    mutant(
        "messages: what expires first is deleted last",
        "tests/engine/jobs/test_expired_messages.py::test_each_statement_deletes_a_bounded_number_the_first_first",
        "storage/state/message_channels.sql",
        ("ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED));", "ORDER BY deadline_ms DESC LIMIT $2 FOR UPDATE));"),
    ),
    mutant(
        "background jobs: two nodes see the same free place below a limit",
        "tests/engine/jobs/test_limits.py::test_a_node_sees_what_another_is_about_to_pull_under_a_limit_of_all_nodes",
        "storage/background/job_executions.sql",
        ("SELECT pg_advisory_xact_lock(4713, 0)", "SELECT pg_advisory_xact_lock_shared(4713, 0)"),
    ),
    mutant(
        "background jobs: a consumer waits for the next poll",
        "tests/engine/jobs/test_events.py::test_events_that_come_while_a_run_reads_the_end_of_the_log_wait_for_no_poll",
        "engine/jobs/dispatcher.py",
        ("if commits == self._commits[run.partition or 0]:", "if commits <= self._commits[run.partition or 0]:"),
    ),
    mutant(
        "background jobs: long runs hold free places back",
        "tests/engine/jobs/test_limits.py::test_long_runs_hold_no_free_places_back",
        "engine/jobs/tracker.py",
        ("        if missing <= 0:\n", "        if running >= self.min_concurrent:\n"),
    ),
    mutant(
        "background jobs: pulls above the minimum are not gathered",
        "tests/engine/jobs/test_rules.py::test_the_tracker_asks_for_what_has_a_place",
        "engine/jobs/tracker.py",
        ("return max(GATHER_S - pulled_ago_s, 0.0) if", "return 0.0 if"),
    ),
    mutant(
        "background jobs: a misspelt type waits for ever",
        "tests/api/routes/test_background_jobs.py::test_a_type_that_no_node_runs_is_refused_unless_it_is_wanted",
        "api/routes/background_jobs.py",
        ("    if not body.allow_unknown_type:\n", "    if False:\n"),
    ),
    mutant(
        "background jobs: a deletion takes what failed since",
        "tests/storage/test_late_calls.py::test_a_call_that_comes_late_changes_nothing",
        "storage/background/job_executions.sql",
        (
            "($1::text IS NULL OR job_type = $1) AND failed_at < from_epoch_ms($2)",
            "($1::text IS NULL OR job_type = $1)",
        ),
    ),
    mutant(
        "chores: an earlier term goes on",
        "tests/engine/jobs/test_expired_messages.py::test_another_partition_and_an_earlier_term_delete_nothing",
        "storage/state/message_channels.sql",
        ("WHERE id = $1 AND epoch = $3)", "WHERE id = $1 AND epoch >= $3)"),
    ),
    mutant(
        "chores: any node does those of a partition",
        "tests/engine/jobs/test_chores.py::test_a_chore_of_a_partition_runs_at_its_owner_in_its_term",
        "storage/background/job_executions.sql",
        (
            "WHERE p.id = e.partition_id AND p.owner_node = $7 AND p.lease_until > clock_timestamp()))\n        ORDER",
            "WHERE p.id = e.partition_id))\n        ORDER",
        ),
    ),
    mutant(
        "messages: a correlation is deleted as soon as it is there",
        "tests/engine/jobs/test_retention.py::test_what_ended_stays_to_the_millisecond",
        "engine/retention/chores.py",
        ("int(min(days * DAY_MS, LONGEST_MS))", "0"),
    ),
    mutant(
        "signals: a loop that waits again is told again",
        "tests/core/events/test_signals.py::test_a_loop_that_waits_again_is_not_hit_twice",
        "core/commands/signal.py",
        ("if command.after < key < upto and", "if command.after < key and"),
    ),
    mutant(
        "event sub-processes are waited for before the start event has set what they need",
        "tests/core/elements/test_event_sub_process_waits.py::test_the_key_may_be_what_the_start_event_maps",
        "core/execution/lifecycle.py",
        (
            "return (ElementActivated(element.key), *behaviour",
            "return (*subscriptions.subscribe_event_sub_processes(element, view), "
            "ElementActivated(element.key), *behaviour",
        ),
    ),
    # Activation (docs/design/log.md §7, docs/adr/0008)
    mutant(
        "new leases: leases that cannot be saved are tried again, and a command is rejected for them",
        f"{NEW_LEASES_TESTS}::test_a_batch_that_the_database_rejects_is_repeated_without_leases",
        "engine/consumer/committer.py",
        ("if work.new_jobs is None or not work.commands or self.careful:", "if work.new_jobs is None:"),
    ),
    mutant(
        "new leases: nobody is told of a lost batch",
        f"{NEW_LEASES_TESTS}::test_a_worker_whose_batch_is_lost_is_told",
        "engine/consumer/new_job_leases.py",
        ("            one.lost()\n", "            pass\n"),
    ),
    mutant(
        "new leases: others are told of jobs that are leased",
        f"{NEW_LEASES_TESTS}::test_a_job_is_saved_with_its_lease",
        "engine/consumer/new_job_leases.py",
        (" - len(one.leases)", ""),
    ),
    mutant(
        "board: whoever rides goes when its time is over",
        "tests/api/test_long_polls.py::test_whoever_has_a_lease_waits_for_the_batch",
        "api/activation/pollers.py",
        (
            "        if not self._receive() and self.delivery is not None:\n            with trio",
            "        if False:\n            with trio",
        ),
    ),
    mutant(
        "board: a poll waits for its batch for ever",
        "tests/api/test_long_polls.py::test_a_poll_does_not_wait_for_ever_for_a_batch_and_its_leases_are_taken_back",
        "api/activation/pollers.py",
        ("trio.move_on_after(DELIVERY_S)", "trio.CancelScope()"),
    ),
    mutant(
        "board: what is brought to somebody who has left stays leased",
        "tests/api/test_long_polls.py::test_what_is_brought_to_somebody_who_has_left_is_taken_back",
        "api/activation/long_polls.py",
        (
            "        if leases:\n            self.note_lost_lease(subject",
            "        if False:\n            self.note_lost_lease(subject",
        ),
    ),
    mutant(
        "board: tokens of types for which nobody looks are kept for ever",
        "tests/api/test_long_polls.py::test_what_was_lost_is_bounded_although_nobody_looks",
        "api/activation/long_polls.py",
        ("> MAX_LOST:", "> 2 * MAX_LOST:"),
    ),
    mutant(
        "activation: one that comes late leases jobs to nobody",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/work/activation.sql",
        (
            "AND job_key <= last_key\n            AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)",
            "AND job_key <= last_key AND $8::uuid IS NOT NULL",
        ),
    ),
    mutant(
        "activation: a plain one that comes late leases jobs to nobody",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/work/activation.sql",
        ("WHERE fits AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)", "WHERE fits"),
    ),
    mutant(
        "activation: a plain one leases jobs that are not small",
        "tests/storage/test_activation.py::test_a_plain_look_leases_small_jobs_or_none",
        "storage/work/activation.sql",
        ("AND coalesce(min(looked_at), 0) <= 50 AS small", "AS small"),
    ),
    mutant(
        "activation: an extension that comes late undoes a later one",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/work/activation.sql",
        ("AND extract(epoch FROM available_at)::text = $4", "AND $4::text IS NOT NULL"),
    ),
    mutant(
        "clock: a setting that comes late undoes a later one",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/cluster/clock.sql",
        ("shift = '0'\n    WHERE revision = $3", "shift = '0'\n    WHERE $3::bigint IS NOT NULL"),
    ),
    mutant(
        "claim: one that comes late deposes the term that followed it",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/cluster/leadership.sql",
        ("AND epoch = $4 AND (", "AND $4::bigint IS NOT NULL AND ("),
    ),
    mutant(
        "retention: a purge that comes late goes by a clock that was set back",
        f"{LATE_TESTS}::test_a_call_that_comes_late_changes_nothing",
        "storage/log/command_log.sql",
        ("< clock_now() - $1::bigint * interval '1 millisecond'", "< 'infinity'::timestamptz AND $1::bigint > 0"),
    ),
    mutant(
        "activation: what a client that has left was brought stays leased",
        "tests/api/routes/test_job_activation.py::test_what_is_brought_to_a_client_that_has_left_is_given_back",
        "api/routes/job_activation.py",
        ("            await _release(services, left)\n", "            pass\n"),
    ),
    mutant(
        "activation: taking back waits for jobs that the engine saves",
        "tests/storage/test_activation.py::test_taking_back_waits_for_no_job",
        "storage/work/activation.sql",
        (
            "lease_token = ANY ($3::uuid[])\n    FOR UPDATE SKIP LOCKED))",
            "lease_token = ANY ($3::uuid[])\n    FOR UPDATE))",
        ),
    ),
    mutant(
        "activation: what was leased to nobody stays so",
        "tests/api/routes/test_job_activation.py::test_what_a_batch_leased_is_not_lost_with_its_answer",
        "api/routes/job_activation.py",
        ("if lost := polls.lost_leases(poller.subject):", "if lost := polls.lost_leases(poller.subject)[:0]:"),
    ),
    mutant(
        "activation: large jobs are shown by the statement that locks them",
        "tests/storage/test_activation.py::test_who_leases_large_jobs_and_does_not_read_the_answer_holds_no_row",
        "storage/work/activation.sql",
        (
            "octet_length(value) <= 2000\n"
            "                   AND sum(octet_length(name) + octet_length(value)) OVER () <= small_size",
            "true",
        ),
        ("OVER () <= 60000\n", "OVER () <= 600000000\n"),
    ),
    mutant(
        "activation: a job that the engine makes ready again is behind the bound",
        "tests/storage/test_activation_scans.py::test_bounds_change_nothing_of_what_is_leased",
        "storage/state/save.sql",
        ("THEN t.lease_token END, returned = true", "THEN t.lease_token END"),
    ),
    mutant(
        "activation: jobs are leased that do not fit",
        "tests/storage/test_activation.py::test_only_as_many_are_leased_as_fit",
        "storage/work/activation.sql",
        ("AND sum(700 + headers + seen.size) OVER places <= $9::bigint", ""),
    ),
    mutant(
        "activation: whoever comes late takes room before those who wait for it",
        "tests/api/test_shared_budget.py::test_the_first_is_served_first_and_nobody_takes_before",
        "api/http/shared_budget.py",
        ("0 if self._waiting else max", "max"),
    ),
    mutant(
        "activation: a job that comes while somebody looks is forgotten",
        "tests/api/test_long_polls.py::test_a_job_that_comes_while_somebody_looks_is_looked_for_again",
        "api/activation/pollers.py",
        ("self.woken |= more", "self.woken = more"),
    ),
    mutant(
        "a poll is not told that its client has left",
        "tests/api/routes/test_job_activation.py::test_a_poll_whose_client_leaves_takes_no_job",
        "api/activation/pollers.py",
        ("                poller.leave()\n", "                poller.wake()\n"),
    ),
    mutant(
        "appender: everything in the inbox is moved to the log",
        "tests/engine/appender/test_forwarding.py::test_as_many_are_under_way_as_the_owner_works_off_soon",
        "engine/appender/forwarding.py",
        (" - under_way)", ")"),
    ),
    mutant(
        "appender: nobody tells it that there is room for more of the inbox",
        "tests/engine/appender/test_forwarding.py::test_the_appender_waits_for_the_owner_without_turning",
        "engine/appender/task.py",
        (" or partition in self._filled_inboxes:\n", ":\n"),
    ),
)
