"""Mistakes in the log: the append function, the appender, completions, definitions (docs/design/log.md §2)."""

from tests.mutants.mutant import Mutant, mutant

APPEND = "storage/schema/migrations/0054_append.sql"
PARTITIONS_TESTS = "tests/storage/test_partitions.py"
LOG_TESTS = "tests/storage/test_log.py"
LATE_TESTS = "tests/storage/test_late.py"
DOUBT_TESTS = "tests/storage/test_log_in_doubt.py"
APPENDER_TESTS = "tests/engine/appender/test_appender.py"
COMPLETIONS_TESTS = "tests/engine/test_completions.py"
DEFINITIONS_TESTS = "tests/engine/test_definitions.py"
WAITS_TEST = "tests/api/test_outcome_waits.py::test_a_request_gets_its_outcome_or_leaves_whatever_comes_first"
_LOCK = "    PERFORM pg_advisory_xact_lock(4711, p);\n    IF NOT EXISTS (SELECT FROM app"
_UNLOCKED = "    IF NOT EXISTS (SELECT FROM app"
_AFTER_A_CRASH = (
    "    IF NOT EXISTS (SELECT FROM since_recovery) THEN\n        PERFORM skip_lost_positions();\n    END IF;\n"
)
_FRESH_LOCK = "    PERFORM pg_advisory_xact_lock(4711, p);\n    RETURN QUERY\n"
_FRESH_UNLOCKED = "    RETURN QUERY\n"

LOG: tuple[Mutant, ...] = (
    # The append function (docs/design/log.md §2)
    mutant(
        "append: lock inlined into the INSERT",
        f"{LOG_TESTS}::test_positions_become_visible_in_order",
        APPEND,
        (_LOCK, _UNLOCKED),
        (
            "nextval(positions) END pos\n",
            "nextval(positions) END pos, pg_advisory_xact_lock(4711, p)\n",
        ),
    ),
    mutant(
        "append: no lock, with a slow committer",
        f"{LOG_TESTS}::test_a_slow_committer_loses_nothing_to_a_tail_reader",
        APPEND,
        (_LOCK, _UNLOCKED),
    ),
    mutant(
        "append: keys after the lock",
        f"{LOG_TESTS}::test_keys_are_taken_before_the_partition",
        APPEND,
        (_LOCK, _UNLOCKED),
        ("    -- 1: keys first", "    PERFORM pg_advisory_xact_lock(4711, p);\n    -- 1: keys first"),
    ),
    mutant(
        "append: keys in the order of the call",
        f"{LOG_TESTS}::test_keys_are_taken_in_the_same_order_by_all",
        APPEND,
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
        APPEND,
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
        APPEND,
        ("            WHERE i.expires_at <= moment\n", "            WHERE false\n"),
    ),
    mutant(
        "append: keys expire by the server's clock",
        f"{LOG_TESTS}::test_keys_expire_by_the_engines_clock",
        APPEND,
        ("moment timestamptz := clock_now();", "moment timestamptz := now();"),
    ),
    mutant(
        "append: ORDER BY dropped",
        f"{LOG_TESTS}::test_positions_follow_the_numbers_of_the_call",
        APPEND,
        ("            ORDER BY o\n        ) s", "        ) s"),
    ),
    mutant(
        "append: a retried append that forgets replays",
        f"{LOG_TESTS}::test_a_retried_append_gives_the_same_answer",
        APPEND,
        (
            "coalesce(l.position, i.position), l.ord IS NULL, l.ord IS NOT NULL OR i.body_sha = decode(c.sha, 'hex')",
            "l.position, l.ord IS NULL, true",
        ),
    ),
    mutant(
        "append: a retry does not look for its append id",
        f"{LOG_TESTS}::test_a_retried_append_gives_the_same_answer",
        APPEND,
        ("    IF since IS NOT NULL AND EXISTS (", "    IF false AND EXISTS ("),
    ),
    mutant(
        "append without keys: lock inlined into the INSERT",
        f"{LOG_TESTS}::test_positions_become_visible_in_order",
        APPEND,
        (_FRESH_LOCK, _FRESH_UNLOCKED),
        (" aid, s.o, ", " aid, CASE WHEN pg_advisory_xact_lock(4711, p) IS NULL THEN s.o ELSE s.o END, "),
    ),
    mutant(
        "append without keys: no lock, with a slow committer",
        f"{LOG_TESTS}::test_a_slow_committer_loses_nothing_to_a_tail_reader",
        APPEND,
        (_FRESH_LOCK, _FRESH_UNLOCKED),
    ),
    mutant(
        "append without keys: ORDER BY dropped",
        f"{LOG_TESTS}::test_positions_follow_the_numbers_of_the_call",
        APPEND,
        ("        ORDER BY o\n    ) s", "    ) s"),
    ),
    mutant(
        "append without keys: nothing is said to be missing before a tail",
        f"{LOG_TESTS}::test_what_others_append_in_between_is_a_gap",
        "storage/log/command_log.py",
        ("AppendedSegment(first - 1, LogPage(", "AppendedSegment(0, LogPage("),
    ),
    mutant(
        "append without keys: a retry is made as if it were the first try",
        f"{LOG_TESTS}::test_a_retry_without_keys_gives_the_same_answer",
        "storage/log/command_log.py",
        ("if since is None and all(", "if all("),
    ),
    mutant(
        "append without keys: keys are forgotten",
        f"{LOG_TESTS}::test_a_replay_gets_the_first_position",
        "storage/log/command_log.py",
        ("all(entry.key is None for", "any(entry.key is None for"),
    ),
    mutant(
        "append without keys: what somebody is told of is not flushed",
        f"{LOG_TESTS}::test_only_what_somebody_is_told_of_is_flushed",
        APPEND,
        ("    IF NOT flush THEN", "    IF true THEN"),
    ),
    mutant(
        "append: positions that a crash took are given out again",
        f"{LOG_TESTS}::test_no_position_is_given_out_again_after_a_crash",
        APPEND,
        ("BEGIN\n    PERFORM skip_lost_positions();\n", "BEGIN\n"),
    ),
    mutant(
        "forward: positions that a crash took are given out again",
        f"{LOG_TESTS}::test_no_position_is_given_out_again_after_a_crash",
        APPEND,
        (_AFTER_A_CRASH + "    PERFORM", "    PERFORM"),
    ),
    mutant(
        "keys that a recovery took are assigned again",
        f"{PARTITIONS_TESTS}::test_no_key_is_assigned_again_after_the_database_went_back",
        APPEND,
        ("b.next_key + greatest(1::bigint << 30, behind << 18)", "b.next_key"),
    ),
    mutant(
        "a term does not wait for the jump of its keys",
        f"{PARTITIONS_TESTS}::test_a_term_waits_for_a_jump_that_is_under_way",
        "storage/cluster/leadership.py",
        ('[(_sql["skip_lost"], ())', '[(_sql["lock_timeout"], ())'),
    ),
    mutant(
        "a copy of a database assigns the keys of the original",
        f"{PARTITIONS_TESTS}::test_a_copy_of_a_database_assigns_other_keys",
        APPEND,
        ("    DELETE FROM since_recovery WHERE database <> here;\n", ""),
    ),
    mutant(
        "an old backup jumps no farther than after a crash",
        f"{PARTITIONS_TESTS}::test_the_older_a_backup_the_farther_the_jump",
        APPEND,
        ("greatest(1000000, behind << 16)", "1000000"),
    ),
    mutant(
        "append: what comes late is appended",
        f"{LATE_TESTS}::test_an_append_that_comes_late_is_not_made_twice",
        APPEND,
        ("    IF NOT EXISTS (SELECT FROM appenders", "    IF false AND NOT EXISTS (SELECT FROM appenders"),
    ),
    mutant(
        "append without keys: what comes late is appended",
        f"{LATE_TESTS}::test_an_append_that_comes_late_is_not_made_twice",
        APPEND,
        ("    WHERE EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number)\n", ""),
    ),
    mutant(
        "append: a session that begins late ends a later one",
        f"{LATE_TESTS}::test_a_session_that_begins_late_ends_no_later_one",
        APPEND,
        (" WHERE a.session < excluded.session;", ";"),
    ),
    mutant(
        "appender: what was in doubt is certain when its repetition fails",
        f"{LATE_TESTS}::test_what_is_in_doubt_stays_so_when_the_repeated_call_fails",
        "engine/appender/task.py",
        ("InDoubt(why) if call.in_doubt else Unavailable(why)", "Unavailable(why)"),
    ),
    mutant(
        "appender: each connection is the same session",
        f"{LATE_TESTS}::test_an_append_that_comes_late_is_not_made_twice",
        "engine/appender/task.py",
        ("self._session.number + 1)", "1)"),
    ),
    mutant(
        "append: a second crash makes the same jump again",
        f"{LOG_TESTS}::test_the_jump_after_a_crash_is_flushed",
        APPEND,
        ("set_config('synchronous_commit', reset_val, true)", "reset_val"),
    ),
    mutant(
        "appender: a call is flushed only if all of its commands ask for it",
        f"{APPENDER_TESTS}::test_a_call_is_flushed_if_somebody_is_told_of_one_of_its_commands",
        "engine/appender/task.py",
        ("flush = any(item.flush", "flush = all(item.flush"),
    ),
    mutant(
        "api: who does not wait is told of a command that is not flushed",
        "tests/api/test_commands.py::test_who_does_not_want_to_wait",
        "api/commands/submission.py",
        ("flush = not waits or", "flush ="),
    ),
    mutant(
        "completions: who waits for what a crash took waits on",
        f"{COMPLETIONS_TESTS}::test_who_waits_for_what_a_crash_took_is_told",
        "engine/outcomes/completions.py",
        ("                await self.give_up_lost(connection)\n", ""),
    ),
    mutant(
        "appender: a jump of the positions counts as a backlog",
        f"{APPENDER_TESTS}::test_what_waits_is_counted_across_a_jump",
        "storage/log/command_log.py",
        ("    if last - reached < limit:\n", "    if last >= reached:\n"),
    ),
    mutant(
        "completions: what a standby has not got yet is lost",
        f"{LOG_TESTS}::test_what_a_standby_has_not_got_yet_is_not_lost",
        "storage/log/command_log.sql",
        ("WHERE NOT pg_is_in_recovery() AND NOT EXISTS (", "WHERE NOT EXISTS ("),
    ),
    mutant(
        "api: a position is told before it is flushed",
        "tests/api/test_commands.py::test_a_position_is_not_told_before_it_is_flushed",
        "api/commands/submission.py",
        ("position if trio.current_time() >= durable_at else None", "position"),
    ),
    mutant(
        "forward: ORDER BY dropped",
        f"{LOG_TESTS}::test_the_inbox_moves_once_and_in_order",
        APPEND,
        ("FROM (SELECT * FROM taken ORDER BY id) s", "FROM (SELECT * FROM taken) s"),
    ),
    # The appender
    mutant(
        "appender: a call in doubt is made as if it were new",
        f"{DOUBT_TESTS}::test_dropped_answers_double_and_lose_nothing",
        "engine/appender/task.py",
        ("since = call.since if call.in_doubt else None", "since = None"),
    ),
    mutant(
        "appender: doubt is forgotten",
        f"{APPENDER_TESTS}::test_a_deadline_during_the_call_leaves_it_in_doubt",
        "engine/appender/task.py",
        ("if pending.call is not None and pending.call.in_doubt:", "if pending.call is None and False:"),
    ),
    mutant(
        "appender: withdrawn while the call is prepared, and written",
        f"{APPENDER_TESTS}::test_a_command_withdrawn_while_its_call_is_prepared_is_not_written",
        "engine/appender/task.py",
        ("[item for item in call.items if not item.withdrawn]", "list(call.items)"),
    ),
    mutant(
        "appender: what timed out is appended all the same",
        f"{APPENDER_TESTS}::test_a_deadline_before_the_call_withdraws_the_command",
        "engine/appender/task.py",
        ("        pending.withdrawn = True\n", ""),
    ),
    mutant(
        "appender: a refused command takes its neighbours with it",
        f"{APPENDER_TESTS}::test_only_the_refused_command_fails",
        "engine/appender/calls.py",
        ("if len(call.items) > 1:\n        middle", "if len(call.items) > 1_000:\n        middle"),
        (
            "    call.items[0].finish(ValueRejected(error.message))",
            "    for item in call.items:\n        item.finish(ValueRejected(error.message))",
        ),
    ),
    mutant(
        "appender: new goes before work",
        f"{APPENDER_TESTS}::test_work_goes_before_new",
        "engine/appender/new_commands.py",
        (
            "next_work(work)) is not None:\n        yield pending\n    while (pending := next_new(new))",
            "next_new(new)) is not None:\n        yield pending\n    while (pending := next_work(work))",
        ),
    ),
    mutant(
        "appender: new does not wait for room in the log",
        "tests/engine/appender/test_admission.py::test_what_runs_is_appended_before_what_is_new",
        "engine/appender/new_commands.py",
        ("            self._capacity = self.pace.capacity()\n", "            self._capacity = 1000\n"),
    ),
    mutant(
        "appender: new is not refused when it finds no room in time",
        "tests/engine/appender/test_admission.py::test_new_that_finds_no_room_in_time_is_refused_and_not_written",
        "engine/appender/task.py",
        ("not self._lacks_capacity(pending) and (now := trio", "(now := trio"),
    ),
    mutant(
        "pace: the window shrinks below what running work has in the log",
        "tests/engine/appender/test_pace.py::test_running_work_gets_on_as_fast_as_new_on_a_slow_machine",
        "engine/appender/pace.py",
        ("max(float(self._settings.least), self._most_work)", "float(self._settings.least)"),
    ),
    mutant(
        "appender: no refusal when the engine is behind",
        f"{APPENDER_TESTS}::test_new_is_refused_when_the_engine_is_behind",
        "engine/appender/task.py",
        ("            raise self._overloaded(lag)\n", "            pass\n"),
    ),
    # Completions and definitions
    mutant(
        "completions without the watermark",
        f"{COMPLETIONS_TESTS}::test_who_registers_below_the_watermark_is_served_from_the_event_log",
        "engine/outcomes/completions.py",
        (
            "if not self._outcomes.add(waiter) and position <= self._watermarks.get(partition, position):",
            "if not self._outcomes.add(waiter) and position <= 0:",
        ),
    ),
    mutant(
        "completions: outcomes in doubt are never asked for",
        f"{COMPLETIONS_TESTS}::test_everything_outstanding_is_asked_for_again",
        "engine/outcomes/completions.py",
        ("end = tick_in(self._settings.sweep_s)", "end = tick_in(1e6)"),
    ),
    mutant(
        "definitions: a command that needs two models loses the first when the second is loaded",
        "tests/engine/test_definitions_in_use.py"
        "::test_an_instance_that_needs_two_models_at_once_ends_although_the_cache_holds_one",
        "engine/consumer/term.py",
        ("        if not self._missing:\n            self._loader", "        if True:\n            self._loader"),
        ("else [*before, missing]", "else [missing]"),
    ),
    mutant(
        "definitions: the memory of models is not bounded",
        f"{DEFINITIONS_TESTS}::test_the_memory_of_models_is_bounded_whatever_their_expressions_are",
        "engine/definitions/file_cache.py",
        ("min(cached.memory, size)", "1"),
    ),
    mutant(
        "primary: a server of an older timeline is used again",
        "tests/storage/postgres/test_primary.py::test_connections_follow_the_primary",
        "storage/postgres/primary.py",
        ("found.number < known.number", "found.number < 0"),
    ),
    mutant(
        "primary: connections to a replaced server stay open",
        "tests/storage/postgres/test_primary.py::test_connections_to_a_primary_that_was_replaced_are_closed",
        "storage/postgres/primary.py",
        ("for connection in list(self._connections):", "for connection in ():"),
    ),
    mutant(
        "completions: what an earlier term reported is remembered",
        f"{COMPLETIONS_TESTS}::test_a_term_forgets_what_earlier_ones_reported",
        "engine/outcomes/completions.py",
        ("        self._outcomes.forget_recent()\n", ""),
    ),
    # The channels of requests (docs/adr/0067)
    mutant(
        "completions: a waiter may be told twice",
        WAITS_TEST,
        "engine/outcomes/waiters.py",
        ("waiting = self.waiters.pop(key, None)", "waiting = self.waiters.get(key, None)"),
    ),
    mutant(
        "completions: a request that leaves keeps its waiter",
        WAITS_TEST,
        "api/commands/outcome_waits.py",
        ("            self.pending.leave()", "            pass"),
    ),
    mutant(
        "api: a channel that may still get a reply is used again",
        WAITS_TEST,
        "api/commands/outcome_waits.py",
        ("        if self._is_over:", "        if True:"),
    ),
    mutant(
        "api: the end of the time stays in a channel that is used again",
        WAITS_TEST,
        "api/http/deadlines.py",
        ("            receive.receive_nowait()  #", "            pass  #"),
    ),
    mutant(
        "appender: a second result goes to the next request",
        "tests/api/test_outcome_waits.py::test_an_append_ends_once",
        "engine/appender/calls.py",
        ("send, self.replies = self.replies, None", "send = self.replies"),
    ),
)
