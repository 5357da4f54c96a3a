"""Prove that the tests see: each mutant below, put into a copy of the tree, must be caught by its named test.

    python tests/mutants.py [WORD …]      only the mutants whose names contain one of the words

The copy is made in a temporary directory and nothing is written here. First all named tests are run unmutated and must
pass; then, for each mutant, its test alone, and it must fail: by a failed test, not by a file that cannot be imported.
`old` must occur exactly once in the file (tests/test_mutants.py sees to it), so that a mutant cannot rot unseen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 120.0
FAILED, PASSED = 1, 0
"""What pytest exits with."""

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")


@dataclass(frozen=True)
class Edit:
    """One change of a file: `old`, which occurs once, becomes `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A mistake that somebody could make, and the test that must catch it ("file::test")."""

    name: str
    test: str
    edits: tuple[Edit, ...]


def mutant(name: str, test: str, path: str, *changes: tuple[str, str]) -> Mutant:
    """A mutant of one file, of one or more (old, new) pairs."""
    return Mutant(name, test, tuple(Edit(path, old, new) for old, new in changes))


KERNEL = "storage/sql/migrations/0001_kernel.sql"
LOG_TESTS = "tests/storage/test_log.py"
DOUBT_TESTS = "tests/storage/test_log_in_doubt.py"
APPENDER_TESTS = "tests/engine/test_appender.py"
COMPLETIONS_TESTS = "tests/engine/test_completions.py"
DEFINITIONS_TESTS = "tests/engine/test_definitions.py"
SUPERVISION_TESTS = "tests/engine/test_supervision.py"
LISTENER_TESTS = "tests/storage/test_listener.py"
CHAOS_TESTS = "tests/process/test_chaos.py"
TWO_TESTS = "tests/process/test_two_programs.py"
LEADERSHIP_TESTS = "tests/engine/test_consumer_leadership.py"
OVERLAP_TESTS = "tests/engine/test_consumer_overlap.py"
POISON_TESTS = "tests/engine/test_consumer_poison.py"
CONSUMER_TESTS = "tests/engine/test_consumer.py"
ACTIVATION_TESTS = "tests/storage/test_activation.py"
ELEMENT_TESTS = "tests/core/test_elements.py"
INCIDENT_TESTS = "tests/core/test_incidents.py"
CANCEL_TESTS = "tests/core/test_cancel.py"
TIMER_TESTS = "tests/engine/test_timers.py"
TIMER_TASK_TESTS = "tests/engine/test_timers_task.py"
TIMER_WINDOW_TESTS = "tests/engine/test_timers_window.py"
TIMER_START_TESTS = "tests/engine/test_timers_starts.py"
SCHEDULE_TESTS = "tests/core/test_timers_schedules.py"
MESSAGE_TESTS = "tests/core/test_messages.py"
MESSAGE_START_TESTS = "tests/core/test_message_starts.py"

_LOCK = "    PERFORM pg_advisory_xact_lock(4711, p);\n    IF since"
_UNLOCKED = "    IF since"

MUTANTS: tuple[Mutant, ...] = (
    # The append function (KERNEL.md sections 1 and 9)
    mutant(
        "append: lock inlined into the INSERT",
        f"{LOG_TESTS}::test_positions_become_visible_in_order",
        KERNEL,
        (_LOCK, _UNLOCKED),
        (
            "nextval('command_log_position_seq') END pos\n",
            "nextval('command_log_position_seq') END pos, pg_advisory_xact_lock(4711, p)\n",
        ),
    ),
    mutant(
        "append: no lock, with a slow committer",
        f"{LOG_TESTS}::test_a_slow_committer_loses_nothing_to_a_tail_reader",
        KERNEL,
        (_LOCK, _UNLOCKED),
    ),
    mutant(
        "append: keys after the lock",
        f"{LOG_TESTS}::test_keys_are_taken_before_the_partition",
        KERNEL,
        (_LOCK, _UNLOCKED),
        ("    -- 1: keys first", "    PERFORM pg_advisory_xact_lock(4711, p);\n    -- 1: keys first"),
    ),
    mutant(
        "append: keys in the order of the call",
        f"{LOG_TESTS}::test_keys_are_taken_in_the_same_order_by_all",
        KERNEL,
        (
            "SELECT DISTINCT ON (tenant, key) tenant, key, decode(sha, 'hex'), moment + interval '24 h'\n"
            "        FROM c WHERE key IS NOT NULL ORDER BY tenant, key, o\n",
            "SELECT tenant, key, decode(sha, 'hex'), moment + interval '24 h'\n"
            "        FROM (SELECT DISTINCT ON (tenant, key) * FROM c WHERE key IS NOT NULL ORDER BY tenant, key, o) d\n"
            "        ORDER BY o\n",
        ),
    ),
    mutant(
        "append: ON CONFLICT dropped",
        f"{LOG_TESTS}::test_sixty_keys_eight_times_at_once_have_sixty_effects",
        KERNEL,
        (
            "        ON CONFLICT (tenant, key) DO UPDATE\n"
            "            SET body_sha = excluded.body_sha, position = NULL, expires_at = excluded.expires_at\n"
            "            WHERE i.expires_at <= moment\n",
            "",
        ),
    ),
    mutant(
        "append: a key never expires",
        f"{LOG_TESTS}::test_an_expired_key_is_new_again",
        KERNEL,
        ("            WHERE i.expires_at <= moment\n", "            WHERE false\n"),
    ),
    mutant(
        "append: keys expire by the server's clock",
        f"{LOG_TESTS}::test_keys_expire_by_the_engines_clock",
        KERNEL,
        ("moment timestamptz := clock_now();", "moment timestamptz := now();"),
    ),
    mutant(
        "append: ORDER BY dropped",
        f"{LOG_TESTS}::test_positions_follow_the_numbers_of_the_call",
        KERNEL,
        ("            ORDER BY o\n        ) s", "        ) s"),
    ),
    mutant(
        "append: a retried append that forgets replays",
        f"{LOG_TESTS}::test_a_retried_append_gives_the_same_answer",
        KERNEL,
        (
            "coalesce(l.position, i.position), l.ord IS NULL, l.ord IS NOT NULL OR i.body_sha = decode(c.sha, 'hex')",
            "l.position, l.ord IS NULL, true",
        ),
    ),
    mutant(
        "append: a retry does not look for its append id",
        f"{LOG_TESTS}::test_a_retried_append_gives_the_same_answer",
        KERNEL,
        ("    IF since IS NOT NULL AND EXISTS (", "    IF false AND EXISTS ("),
    ),
    mutant(
        "forward: ORDER BY dropped",
        f"{LOG_TESTS}::test_the_inbox_moves_once_and_in_order",
        KERNEL,
        ("FROM (SELECT * FROM taken ORDER BY id) s", "FROM (SELECT * FROM taken) s"),
    ),
    # The appender
    mutant(
        "appender: a call in doubt is made as if it were new",
        f"{DOUBT_TESTS}::test_dropped_answers_double_and_lose_nothing",
        "engine/appender.py",
        ("since = call.since if call.in_doubt else None", "since = None"),
    ),
    mutant(
        "appender: doubt is forgotten",
        f"{APPENDER_TESTS}::test_a_deadline_during_the_call_leaves_it_in_doubt",
        "engine/appender.py",
        ("if pending.call is not None and pending.call.in_doubt:", "if pending.call is None and False:"),
    ),
    mutant(
        "appender: withdrawn while the call is prepared, and written",
        f"{APPENDER_TESTS}::test_a_command_withdrawn_while_its_call_is_prepared_is_not_written",
        "engine/appender.py",
        ("[item for item in call.items if not item.withdrawn]", "list(call.items)"),
    ),
    mutant(
        "appender: what timed out is appended all the same",
        f"{APPENDER_TESTS}::test_a_deadline_before_the_call_withdraws_the_command",
        "engine/appender.py",
        ("        pending.withdrawn = True\n", ""),
    ),
    mutant(
        "appender: a refused command takes its neighbours with it",
        f"{APPENDER_TESTS}::test_only_the_refused_command_fails",
        "engine/appender.py",
        ("if len(call.items) > 1:\n        middle", "if len(call.items) > 1_000:\n        middle"),
        (
            "    call.items[0].finish(Refused(error.message))",
            "    for item in call.items:\n        item.finish(Refused(error.message))",
        ),
    ),
    mutant(
        "appender: new goes before work",
        f"{APPENDER_TESTS}::test_work_goes_before_new",
        "engine/appender.py",
        ("for channel in (self._work, self._new):", "for channel in (self._new, self._work):"),
    ),
    mutant(
        "appender: no refusal when the engine is behind",
        f"{APPENDER_TESTS}::test_new_is_refused_when_the_engine_is_behind",
        "engine/appender.py",
        ("            self._check_lag(item.partition)\n", "            pass\n"),
    ),
    # Completions and definitions
    mutant(
        "completions without the watermark",
        f"{COMPLETIONS_TESTS}::test_who_registers_below_the_watermark_is_served_from_the_event_log",
        "engine/completions.py",
        (
            "if not self._outcomes.add(waiter) and position <= self._watermarks.get(partition, position):",
            "if not self._outcomes.add(waiter) and position <= 0:",
        ),
    ),
    mutant(
        "completions: outcomes in doubt are never asked for",
        f"{COMPLETIONS_TESTS}::test_everything_outstanding_is_asked_for_again",
        "engine/completions.py",
        ("with trio.move_on_after(self._settings.sweep_s):", "with trio.move_on_after(1e6):"),
    ),
    mutant(
        "definitions: what was read before an invalidation is kept",
        f"{DEFINITIONS_TESTS}::test_what_was_read_before_an_invalidation_is_not_kept",
        "engine/definitions.py",
        ("        if row is not None and changes == self._changes:\n", "        if row is not None:\n"),
        ("if row is not None and changes == self._changes:  #", "if row is not None:  #"),
    ),
    # The batch, the fence, the claim (KERNEL.md sections 2 and 9)
    mutant(
        "fence not raising",
        f"{LEADERSHIP_TESTS}::test_a_batch_of_an_old_epoch_writes_nothing_and_steps_down",
        KERNEL,
        (
            "        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';",
            "        RETURN;",
        ),
    ),
    mutant(
        "fence not looking at the position",
        f"{LEADERSHIP_TESTS}::test_a_batch_from_another_position_writes_nothing_and_steps_down",
        KERNEL,
        ("    IF last IS DISTINCT FROM old_pos THEN", "    IF false THEN"),
    ),
    mutant(
        "fence last",
        f"{LEADERSHIP_TESTS}::test_a_loser_steps_down_and_rejects_nobody",
        "engine/consumer.py",
        (
            'calls = [("BEGIN", ()), fence, *work.calls, ("COMMIT", ())]',
            'calls = [("BEGIN", ()), *work.calls, fence, ("COMMIT", ())]',
        ),
    ),
    mutant(
        "claim: SELECT instead of UPDATE",
        f"{LEADERSHIP_TESTS}::test_a_claim_waits_for_a_backend_in_doubt",
        "storage/sql/partitions.sql",
        (
            "UPDATE partitions p\nSET epoch = epoch + 1, owner_node = $2, owner_pid = pg_backend_pid(),\n"
            "    owner_backend_start = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),\n"
            "    lease_until = clock_timestamp() + make_interval(secs => $3)\nWHERE id = $1 AND (",
            "SELECT epoch + 1 FROM partitions p\nWHERE $2::text > '' AND $3::float8 > 0 AND id = $1 AND (",
        ),
        ("a.backend_start = p.owner_backend_start))\nRETURNING epoch;", "a.backend_start = p.owner_backend_start));"),
    ),
    mutant(
        "claim: a lease that holds is taken over",
        f"{LEADERSHIP_TESTS}::test_a_lease_keeps_others_off",
        "storage/sql/partitions.sql",
        ("OR owner_node = $2\n", "OR owner_node <> $2\n"),
    ),
    mutant(
        "claim: a restart waits for the lease",
        f"{LEADERSHIP_TESTS}::test_of_two_consumers_one_leads_and_the_other_takes_over_at_once",
        "storage/sql/partitions.sql",
        (
            "    OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE",
            "    OR EXISTS (SELECT FROM pg_stat_activity a WHERE false AND",
        ),
    ),
    mutant(
        "claim: a frozen owner is waited for",
        f"{LEADERSHIP_TESTS}::test_a_frozen_owner_whose_lease_has_run_out_is_ended",
        "storage/partitions.py",
        ("        if conflict.sqlstate == LOCK_NOT_AVAILABLE:\n", "        if conflict.sqlstate is None:\n"),
    ),
    mutant(
        "eviction of a pinned aggregate",
        f"{OVERLAP_TESTS}::test_what_is_being_committed_is_not_evicted",
        "engine/core/state.py",
        (
            "for root in [root for root in self.trees.values() if not root.pins]:",
            "for root in list(self.trees.values()):",
        ),
    ),
    mutant(
        "missing tombstone",
        f"{OVERLAP_TESTS}::test_what_is_being_ended_is_not_read_again",
        "storage/load.py",
        ("    gone = state.ended | state.ended_in_batch()", "    gone = state.ended_in_batch()"),
    ),
    mutant(
        "overlap deeper than one",
        f"{OVERLAP_TESTS}::test_a_batch_is_computed_while_the_one_before_it_commits",
        "engine/consumer.py",
        ("        await self._settled()\n        claim = self._claim\n", "        claim = self._claim\n"),
    ),
    mutant(
        "load: a column forgotten",
        f"{CONSUMER_TESTS}::test_evicting_everything_changes_nothing",
        "storage/load.py",
        ("    job.error_code, job.error_message = code, message\n", ""),
    ),
    mutant(
        "save: a column that changes is left out",
        "tests/storage/test_save.py::test_what_may_change_is_changed_to_what_it_would_be_at_birth",
        "storage/sql/save.sql",
        (
            "error_message = x.error_message, updated_at = from_epoch_ms(x.updated_at)",
            "error_message = x.error_message",
        ),
    ),
    mutant(
        "22P05 in the save",
        f"{POISON_TESTS}::test_what_cannot_be_saved_is_rejected_alone",
        "storage/errors.py",
        ('    "22": DataPoison,', '    "2200": DataPoison,'),
    ),
    mutant(
        "poison: the whole batch is rejected",
        f"{POISON_TESTS}::test_what_cannot_be_saved_is_rejected_alone",
        "engine/consumer.py",
        ("if self.careful_until >= last and suspected.commands == 1:", "if True:"),
    ),
    mutant(
        "full-row job save",
        f"{POISON_TESTS}::test_a_change_of_a_leased_job_leaves_its_lease_alone",
        "storage/sql/save.sql",
        (
            "    ready = CASE WHEN x.lease IS NULL THEN t.ready ELSE x.lease = 'ready' END,",
            "    ready = x.lease IS NULL OR x.lease = 'ready',",
        ),
    ),
    mutant(
        "a finished job whose lease runs out",
        f"{POISON_TESTS}::test_a_finished_job_is_not_handed_out_again_when_its_lease_runs_out",
        "engine/core/apply/jobs.py",
        ('    job.lease = "closed"\n    state.unlink', "    state.unlink"),
    ),
    mutant(
        "clock_timestamp() in activation",
        f"{ACTIVATION_TESTS}::test_an_activation_uses_the_partial_indexes",
        "storage/sql/activation.sql",
        (
            "available_at IS NOT NULL AND available_at <= clock_now()",
            "available_at IS NOT NULL AND available_at <= clock_timestamp()",
        ),
    ),
    mutant(
        "an activation client that does not read",
        f"{ACTIVATION_TESTS}::test_a_client_that_does_not_read_its_jobs_holds_no_row",
        "storage/sql/activation.sql",
        (
            "AND j.lease_token = ANY ($2::uuid[])\nORDER BY j.priority DESC, j.job_key;",
            "AND j.lease_token = ANY ($2::uuid[])\nORDER BY j.priority DESC, j.job_key\nFOR UPDATE OF j;",
        ),
    ),
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
    # Supervision
    mutant(
        "supervision: outages count as failures",
        f"{SUPERVISION_TESTS}::test_outages_and_step_downs_never_count",
        "engine/supervision.py",
        ("counts = not excused(error)", "counts = True"),
    ),
    mutant(
        "supervision: a hung child is not ended",
        f"{SUPERVISION_TESTS}::test_a_silent_child_is_closed_cancelled_and_restarted",
        "engine/supervision.py",
        ("                    self._end_hung(kept, life)\n", "                    pass\n"),
    ),
    mutant(
        "supervision: existence taken for health",
        f"{SUPERVISION_TESTS}::test_health_is_progress_not_existence",
        "engine/supervision.py",
        ("healthy=progressing and life is not None", "healthy=life is not None"),
    ),
    mutant(
        "supervision: the closed sockets of a hung child excuse it",
        f"{SUPERVISION_TESTS}::test_a_hung_child_is_not_excused_by_what_closing_its_sockets_raises",
        "engine/supervision.py",
        ("return self._silent(life) or (", "return ("),
    ),
    mutant(
        "supervision: a pause of the whole process is a hang of everybody",
        f"{SUPERVISION_TESTS}::test_after_a_pause_of_the_whole_process_nobody_hangs",
        "engine/supervision.py",
        ("            if not paused:\n", "            if True:\n"),
    ),
    mutant(
        "supervision: healthy without a connection",
        f"{LISTENER_TESTS}::test_it_waits_for_a_server_that_is_not_there_yet_and_shows_life_but_no_progress",
        "storage/reconnect.py",
        ("    beats.report_progress(lambda: link.up)\n", "    beats.report_progress(lambda: True)\n"),
    ),
    mutant(
        "supervision: healthy without a claim",
        f"{CHAOS_TESTS}::test_a_node_that_gets_nowhere_says_so",
        "engine/consumer.py",
        ("        writer = reader = None\n", "        beat.beat()\n        writer = reader = None\n"),
    ),
    mutant(
        "completions: told before the commit",
        f"{TWO_TESTS}::test_both_serve_and_one_leads",
        "engine/consumer.py",
        (
            "        try:\n            await self._writer.pipeline(",
            "        self._tell(work, 0)\n        try:\n            await self._writer.pipeline(",
        ),
        ("        self._tell(work, len(calls))\n", ""),
    ),
    mutant(
        "completions: who asks before the first commit waits for the sweep",
        f"{COMPLETIONS_TESTS}::test_a_program_that_was_just_started_looks_at_once",
        "engine/completions.py",
        ("self._watermarks.get(partition, position)", "self._watermarks.get(partition, 0)"),
    ),
    # Timers (docs/timers.md)
    mutant(
        "timers: a duplicate TIMER:TRIGGER for the next occurrence",
        f"{TIMER_START_TESTS}::test_a_duplicate_trigger_of_a_start_starts_one_instance",
        "engine/core/commands/timer.py",
        (
            "    timer = at.timer(command.key)\n    if timer is not None and timer.due_at == command.due_at <= at.now",
            "    timer = at.timer(command.key) or next(iter(at.state.timers.values()), None)\n"
            "    if timer is not None and command.due_at <= at.now",
        ),
    ),
    mutant(
        "timers: the trigger of a date from which the timer was moved",
        f"{TIMER_TESTS}::test_a_moved_timer_fires_at_its_new_date_only",
        "engine/core/commands/timer.py",
        ("timer.due_at == command.due_at <= at.now", "command.due_at <= at.now"),
    ),
    mutant(
        "timers: a trigger of a clock that was set back fires early",
        f"{TIMER_TESTS}::test_a_clock_that_goes_back_fires_nothing_twice",
        "engine/core/commands/timer.py",
        ("timer.due_at == command.due_at <= at.now", "timer.due_at == command.due_at"),
    ),
    mutant(
        "timers: due by the server's clock",
        f"{TIMER_TESTS}::test_a_timer_fires_when_it_is_due_and_not_before",
        "storage/sql/timers.sql",
        ("SELECT to_epoch_ms(clock_now()), revision", "SELECT to_epoch_ms(clock_timestamp()), revision"),
    ),
    mutant(
        "timers: one timer for an activity",
        f"{TIMER_TESTS}::test_an_activity_has_several_timers_and_a_cycle_a_row_for_each_occurrence",
        "storage/sql/migrations/0003_timers.sql",
        ("ON timers (element_instance_key, target_element_id)", "ON timers (element_instance_key)"),
    ),
    mutant(
        "timers: the next date is counted from the last firing",
        f"{SCHEDULE_TESTS}::test_firing_late_makes_no_drift",
        "engine/core/shared/schedules.py",
        ("    at = _occurrence(interval, anchor, following, zone)\n", "    at = interval.added_to(now)\n"),
    ),
    mutant(
        "timers: the next date is counted from the last date",
        f"{SCHEDULE_TESTS}::test_repeating_intervals",
        "engine/core/shared/schedules.py",
        ("(text, zone, anchor, number + 1 + skipped))", "(text, zone, at, 0))"),
    ),
    mutant(
        "timers: a cycle that began in the past begins now",
        f"{SCHEDULE_TESTS}::test_a_start_in_the_past_keeps_its_phase",
        "engine/core/shared/schedules.py",
        ("    at = _occurrence(interval, cycle.start_ms, number, zone)\n", "    at = max(cycle.start_ms, now)\n"),
    ),
    mutant(
        "timers: skipped occurrences are free",
        f"{SCHEDULE_TESTS}::test_skipped_occurrences_of_a_bounded_cycle_count",
        "engine/core/shared/schedules.py",
        ("    left = timer.repetitions - 1 - skipped\n", "    left = timer.repetitions - 1\n"),
    ),
    mutant(
        "timers: what is behind the horizon is never read",
        f"{TIMER_TESTS}::test_overdue_timers_fire_in_due_order_in_bounded_batches",
        "engine/timers.py",
        ("None if len(rows) < limit else rows[-1].due_at", "None"),
    ),
    mutant(
        "timers: a full window forgets where it ends",
        f"{TIMER_WINDOW_TESTS}::test_whatever_happens_the_nearest_are_taken_in_order_and_none_is_forgotten",
        "engine/timer_window.py",
        ("            self.horizon = min(self._known[key][1].due_at for _, key in kept[self._size :])\n", ""),
    ),
    mutant(
        "timers: what commits while the window is read is lost",
        f"{TIMER_TASK_TESTS}::test_what_commits_while_the_window_is_read_is_not_lost",
        "engine/timers.py",
        ("        self.changed(meanwhile)\n", ""),
    ),
    mutant(
        "timers: nobody is woken by a nearer date",
        f"{TIMER_TESTS}::test_a_timer_in_running_time_wakes_the_task_by_itself",
        "engine/timers.py",
        ("and change[0] < memory.asleep_until:", "and change[0] < 0:"),
    ),
    mutant(
        "timers: triggers that were refused are taken for fired",
        f"{TIMER_TASK_TESTS}::test_triggers_that_were_not_or_perhaps_appended_come_again",
        "engine/timers.py",
        (
            "        except NotAppended as error:\n            self._forget()\n",
            "        except NotAppended as error:\n",
        ),
    ),
    mutant(
        "timers: as many in flight as are due",
        f"{TIMER_TASK_TESTS}::test_no_more_triggers_wait_in_the_log_than_may",
        "engine/timers.py",
        (
            "        room = min(settings.batch, self._pace.allowed - len(memory.in_flight))\n",
            "        room = settings.batch\n",
        ),
    ),
    mutant(
        "timers: the flight never shrinks",
        "tests/engine/test_timers_pace.py::test_it_follows_an_engine_that_gets_slower_and_faster",
        "engine/timer_pace.py",
        ("        if step < 1 or full:\n", "        if step > 1 and full:\n"),
    ),
    mutant(
        "timers: who does not lead fires, too",
        f"{TIMER_TASK_TESTS}::test_who_does_not_lead_the_partition_fires_nothing",
        "engine/timers.py",
        ("        if not self._leads():\n", "        if False:\n"),
    ),
    mutant(
        "timers: a date that has passed comes back with its version",
        f"{TIMER_START_TESTS}::test_a_date_that_has_passed_does_not_come_back_with_its_version",
        "engine/core/shared/start_timers.py",
        ("    if not (restored and due.cycle is None and due.at <= at.now):\n        yield", "    yield"),
    ),
    mutant(
        "timers: the next version keeps the timers of the last",
        f"{TIMER_START_TESTS}::test_a_new_version_replaces_the_timers_and_the_same_file_leaves_them",
        "engine/core/commands/catalogue.py",
        ("    yield from start_timers.close_timers(process_id, at)\n    for new", "    for new"),
    ),
    mutant(
        "timers: what can neither fire nor fail is tried for ever",
        f"{TIMER_TESTS}::test_a_timer_that_can_neither_fire_nor_fail_harms_nobody_else",
        "engine/refusals.py",
        ("        if position in self.positions:\n            self.hopeless.add(position)\n", ""),
    ),
    mutant(
        "timers: cancelled ones are never deleted",
        f"{TIMER_TESTS}::test_old_timers_are_purged_whatever_their_end",
        "storage/sql/timers.sql",
        ("WHERE ended_at IS NOT NULL AND ended_at < from_epoch_ms($1)", "WHERE triggered_at < from_epoch_ms($1)"),
    ),
    mutant(
        "messages: a process gets one twice",
        f"{MESSAGE_TESTS}::test_a_process_gets_a_kept_message_once_however_many_wait",
        "engine/core/apply/channels.py",
        ("        message.given = (*message.given, event.process_id)\n", "        pass\n"),
    ),
    mutant(
        "messages: one whose time has passed is given",
        f"{MESSAGE_TESTS}::test_an_expired_message_is_not_given_even_if_it_is_still_there",
        "engine/core/channels.py",
        ("message.name == name and message.deadline > now and", "message.name == name and"),
    ),
    mutant(
        "messages: the wait that began last comes first",
        f"{MESSAGE_TESTS}::test_of_one_process_the_longest_wait_gets_it_and_every_process_once",
        "engine/core/channels.py",
        (
            "return (one for one in self.subscriptions.values() if one.name == name)",
            "return (one for one in reversed(self.subscriptions.values()) if one.name == name)",
        ),
    ),
    mutant(
        "messages: a key starts any number of instances",
        f"{MESSAGE_START_TESTS}::test_one_instance_for_each_key_while_it_lives",
        "engine/core/commands/message.py",
        ("        if start.process_id not in channel.locks:\n", "        if True:\n"),
    ),
    mutant(
        "messages: a start that cannot be handled keeps its lock",
        "tests/core/test_message_refusals.py::test_a_start_that_raises_gives_its_lock_back",
        "engine/core/commands/subscription.py",
        ("    if command.start_lock is not None:\n", "    if False:\n"),
    ),
    mutant(
        "messages: what cannot be saved is refused without a word to who waits",
        "tests/engine/test_message_refusals_postgres.py::test_a_start_that_cannot_be_saved_leaves_no_lock",
        "engine/batch.py",
        ("WAITED_FOR = (TriggerTimer, StartInstance, TriggerSubscription)", "WAITED_FOR = (TriggerTimer,)"),
    ),
    mutant(
        "messages: an id is looked for among the loaded ones alone",
        "tests/engine/test_messages_postgres.py::test_of_a_channel_with_many_messages_only_what_is_asked_for_is_loaded",
        "storage/sql/channels.sql",
        ("t.message_id = k.message_id AND t.name = k.name", "t.message_id = k.message_id AND false"),
    ),
    mutant(
        "messages: large bodies are loaded with the channel",
        "tests/engine/test_message_bodies.py"
        "::test_small_bodies_come_with_their_messages_and_large_ones_when_they_are_asked_for",
        "storage/sql/channels.sql",
        ("CASE WHEN pg_column_size(c.variables) <= $4 THEN", "CASE WHEN $4::int > 0 THEN"),
    ),
    mutant(
        "messages: expiry waits for what a batch holds",
        "tests/engine/test_expiry.py::test_a_batch_that_holds_a_message_is_not_waited_for",
        "storage/sql/channels.sql",
        ("ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED", "ORDER BY deadline_ms LIMIT $2 FOR UPDATE"),
    ),
    mutant(
        "messages: what expires first is deleted last",
        "tests/engine/test_expiry.py::test_what_has_expired_is_deleted_piece_by_piece_the_first_first",
        "storage/sql/channels.sql",
        ("ORDER BY deadline_ms LIMIT $2 FOR", "ORDER BY deadline_ms DESC LIMIT $2 FOR"),
    ),
    mutant(
        "messages: a correlation is deleted as soon as it is there",
        "tests/engine/test_retention.py::test_what_ended_stays_to_the_millisecond",
        "engine/retention.py",
        ("        before = max(now - int(settings.ended_days * DAY_MS), 0)\n", "        before = now\n"),
    ),
    mutant(
        "signals: a loop that waits again is told again",
        "tests/core/test_signals.py::test_a_loop_that_waits_again_is_not_hit_twice",
        "engine/core/commands/signal.py",
        ("if command.after < key < upto)", "if command.after < key)"),
    ),
    mutant(
        "event sub-processes are waited for before the start event has set what they need",
        "tests/core/test_event_sub_process_waits.py::test_the_key_may_be_what_the_start_event_maps",
        "engine/core/lifecycle.py",
        (
            "    if not isinstance(begin, int):\n        yield from waits.open_aside(element, at)\n",
            "    yield from waits.open_aside(element, at)\n",
        ),
    ),
)


def apply(mutant: Mutant, root: Path) -> None:
    """Make the mutant's changes below `root`. Raises ValueError when a text does not occur exactly once."""
    for edit in mutant.edits:
        path = root / edit.path
        text = path.read_text()
        found = text.count(edit.old)
        if found != 1:
            raise ValueError(f"{mutant.name}: {edit.path} contains {edit.old!r} {found} times, not once")
        path.write_text(text.replace(edit.old, edit.new))


@contextmanager
def mutated(mutant: Mutant, root: Path) -> Iterator[None]:
    """The tree below `root` with the mutant in it, for the block."""
    before = {edit.path: (root / edit.path).read_text() for edit in mutant.edits}
    try:
        apply(mutant, root)
        yield
    finally:
        for path, text in before.items():
            (root / path).write_text(text)


def run_tests(root: Path, tests: Sequence[str]) -> tuple[int, str]:
    """pytest's exit code and output; a run that does not end counts as failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=line", *tests]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"1 failed to end within {TIMEOUT_S:g} s"
    return done.returncode, done.stdout + done.stderr


def try_mutant(mutant: Mutant, root: Path) -> str:
    """ "caught", or what happened instead."""
    with mutated(mutant, root):
        code, output = run_tests(root, [mutant.test])
    if code == FAILED and " failed" in output:
        return "caught"
    return "NOT CAUGHT" if code == PASSED else f"BROKEN (pytest exits {code}): {output[-500:]}"


def chosen(words: Sequence[str]) -> list[Mutant]:
    """The mutants whose names contain one of the words; without words all."""
    return [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]


def main(words: Sequence[str]) -> int:
    """Run the chosen mutants and print a table; 0 when each was caught."""
    mutants = chosen(words)
    with tempfile.TemporaryDirectory(prefix="vivero-mutants-") as directory:
        root = Path(directory) / "tree"
        shutil.copytree(ROOT, root, ignore=NOT_COPIED)
        code, output = run_tests(root, sorted({mutant.test for mutant in mutants}))
        if code != PASSED:
            print(f"The named tests must pass without mutants:\n{output}")
            return 1
        escaped = 0
        for mutant in mutants:
            started = time.monotonic()
            verdict = try_mutant(mutant, root)
            escaped += verdict != "caught"
            print(f"{verdict:<11} {time.monotonic() - started:5.1f} s  {mutant.name}  ({mutant.test})", flush=True)
    print(f"{len(mutants) - escaped} of {len(mutants)} mutants caught")
    return 1 if escaped or not mutants else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
