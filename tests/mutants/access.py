"""Mistakes in authentication and authorisation (docs/security.md)."""

from tests.mutants.mutant import Mutant, mutant

AUTHENTICATION = "tests/api/access/test_authentication.py"
MATRIX = "tests/api/access/test_matrix.py"
SCOPES = "tests/api/access/test_scopes.py"
AUTHENTICATOR = "api/access/authentication.py"
TOKENS = "api/access/json_web_tokens.py"

CORE_TENANTS = "tests/core/commands/test_tenants.py"
TENANTS = "tests/api/access/test_tenants.py"

AUDIT = "tests/api/access/test_audit.py"
DIRECTORY = "tests/api/access/test_directory.py"
TASKS = "tests/api/access/test_task_grants.py"
AUDITED_COMMANDS = "tests/engine/test_audited_commands.py"
READS = "tests/api/access/test_tenant_reads.py"
SIGN_IN = "tests/api/access/test_sign_in.py"
FAILED = "tests/api/access/test_failed_sign_ins.py"
FOREIGN_COST = "tests/engine/test_foreign_keys_cost.py"
CROSSING = "tests/core/partitions/test_crossing.py"
ROW_SECURITY = "tests/storage/test_row_security.py"

ACCESS: tuple[Mutant, ...] = (
    mutant(
        "a search has no condition on the tenant",
        f"{READS}::test_searches_and_totals_have_own_rows_only",
        "storage/search/filters.py",
        ("[resource.visible, *of_tenants(resource, tenants, parameters)]", "[resource.visible]"),
    ),
    mutant(
        "a trace has no condition on the tenant",
        f"{READS}::test_foreign_keys_are_unknown_keys",
        "storage/reads/single_reads.sql",
        (
            "SELECT root_key FROM process_instances WHERE process_instance_key = $1\n"
            "    -- only tenants: AND tenant_id = ANY ($2::text[]);",
            "SELECT root_key FROM process_instances WHERE process_instance_key = $1\n"
            "    -- only tenants: AND $2::text[] IS NOT NULL;",
        ),
    ),
    mutant(
        "the first role reads for everybody",
        f"{READS}::test_foreign_keys_are_unknown_keys",
        "api/reading.py",
        ("services.reads.readers.connection() as", "services.reads.pool.connection() as"),
    ),
    mutant(
        "the tenants of a reader outlive its transaction",
        f"{ROW_SECURITY}::test_without_tenants_there_are_no_rows",
        "storage/access/tenants.py",
        ("$1::text[]::text, true)", "$1::text[]::text, false)"),
    ),
    mutant(
        "a command is visible to readers that have one of its tenants",
        f"{ROW_SECURITY}::test_commands_by_key_are_visible_to_those_who_see_what_they_changed",
        "storage/access/policies.py",
        ("string_to_array(tenant_id, ',') <@", "string_to_array(tenant_id, ',') &&"),
    ),
    mutant(
        "the record of a change is a transaction of its own",
        f"{AUDIT}::test_a_change_that_fails_has_no_record_of_a_success",
        "api/access/audit.py",
        (
            "services.reads.pool.connection() as connection, connection.transaction():",
            "services.reads.pool.connection() as connection:",
        ),
    ),
    mutant(
        "a forbidden attempt is not recorded",
        f"{AUDIT}::test_a_forbidden_attempt_is_recorded_and_an_unknown_caller_is_not",
        "api/app.py",
        ("            await audit.note_failure(services, denied)\n", ""),
    ),
    mutant(
        "job workers are recorded",
        f"{AUDIT}::test_reports_of_job_workers_carry_no_record",
        "api/callers/audited.py",
        ("return audited.weight is Weight.BY_PEOPLE and caller", "return caller"),
    ),
    mutant(
        "a record stays behind when its command goes to another partition",
        f"{AUDITED_COMMANDS}::test_a_command_that_another_partition_handles_is_recorded_there",
        "storage/state/save.py",
        ('        "audit": one.audit,\n', ""),
    ),
    mutant(
        "a command that is read from the log loses its record",
        f"{AUDITED_COMMANDS}::test_a_command_that_is_read_from_the_log_is_recorded",
        "storage/log/log_batches.py",
        ("CommandRow(*row[:7])", "CommandRow(*row[:5])"),
    ),
    mutant(
        "a tenant covers those whose ids begin alike",
        f"{CORE_TENANTS}::test_a_list_of_tenants_covers_its_members",
        "core/partitions/tenants.py",
        ("tenant in tenants.split(_SEPARATOR)", "tenant in tenants"),
    ),
    mutant(
        "what follows a command by key has the tenants of its sender",
        f"{CORE_TENANTS}::test_what_follows_a_command_by_key_is_of_one_tenant",
        "core/view.py",
        ("            self.tenant = tenant\n", ""),
    ),
    mutant(
        "the version of a foreign instance can be asked",
        f"{CORE_TENANTS}::test_a_condition_on_a_foreign_tree_is_not_compared",
        "core/commands/conditional_change.py",
        ("element is not None and view.enter(element.instance.tenant)", "element is not None"),
    ),
    mutant(
        "a command by key may touch every tenant in the core",
        "tests/api/access/test_foreign_keys.py::test_a_foreign_key_is_an_unknown_key",
        "core/view.py",
        ("if not covers(self.tenant, tenant):", "if False:"),
    ),
    mutant(
        "an idempotency key belongs to everybody",
        f"{TENANTS}::test_an_idempotency_key_belongs_to_its_caller",
        "api/commands/submission.py",
        ("    if services.access.authenticator is not None:\n        key", "    if False:\n        key"),
    ),
    mutant(
        "a token gets a later tenant with the same id",
        "tests/api/access/test_directory.py::test_a_token_does_not_get_a_later_tenant_with_the_same_id",
        "storage/access/directory.py",
        ("WHERE $1 = ANY (tenants)", "WHERE $1 = ANY (tenants) AND false"),
    ),
    mutant(
        "a later tenant with the same id gets the cluster variables",
        "tests/api/access/test_cluster_variables.py::test_a_deleted_tenant_leaves_no_variable_to_a_later_one",
        "storage/access/directory.py",
        ("cluster_variables WHERE tenant_id = $1", "cluster_variables WHERE tenant_id = $1 AND false"),
    ),
    mutant(
        "a worker that has lost its tenant waits on for its jobs",
        "tests/api/test_long_polls.py"
        "::test_a_change_of_tenants_or_rights_ends_the_waits_of_those_who_may_have_lost_them",
        "vivero/node/http_server.py",
        ("        long_polls.end_waits()\n", ""),
    ),
    mutant(
        "a caller may name every tenant",
        f"{TENANTS}::test_another_tenant_is_403_whether_it_exists_or_not",
        "api/access/tenants.py",
        ("if allowed is None or tenant in allowed:", "if True:"),
    ),
    mutant(
        "a command by key may touch all tenants",
        f"{TENANTS}::test_a_command_by_key_has_the_tenants_of_its_caller",
        "api/access/tenants.py",
        ("return joined(request.caller.tenants) if", "return joined(None) if"),
    ),
    mutant(
        "the first tenant is always the first in turn",
        f"{TENANTS}::test_each_tenant_is_the_first_in_turn",
        "api/activation/long_polls.py",
        ("first = next(self._turns) % len(pollers)", "first = 0"),
    ),
    mutant(
        "a check that was under way during a change is remembered",
        f"{AUTHENTICATION}::TestPasswords::test_a_change_during_a_check_is_not_forgotten",
        AUTHENTICATOR,
        ("if changes == self._changes:", "if True:"),
    ),
    mutant(
        "a token is remembered beyond its expiry",
        f"{AUTHENTICATION}::TestApiTokens::test_a_token_is_not_remembered_beyond_its_expiry",
        AUTHENTICATOR,
        ("min(self._settings.cache_s, found.valid_s)", "self._settings.cache_s"),
    ),
    mutant(
        "expired API tokens are valid",
        f"{AUTHENTICATION}::TestApiTokens::test_an_expired_token_does_not",
        "storage/access/identities.sql",
        (" AND (expires_at IS NULL OR expires_at > clock_timestamp())", ""),
    ),
    mutant(
        "the audience of a bearer token does not matter",
        f"{AUTHENTICATION}::TestTokensOfAnIdentityProvider::test_others_do_not",
        TOKENS,
        ('options={"require": ["exp", "iss", "aud"]}', 'options={"require": ["exp", "iss"], "verify_aud": False}'),
    ),
    mutant(
        "a bearer token needs no expiry",
        f"{AUTHENTICATION}::TestTokensOfAnIdentityProvider::test_others_do_not",
        TOKENS,
        ('"require": ["exp", "iss", "aud"]', '"require": ["iss", "aud"]'),
    ),
    mutant(
        "an invented key id asks the identity provider each time",
        f"{AUTHENTICATION}::TestTokensOfAnIdentityProvider::test_invented_keys_do_not_make_us_ask_the_provider",
        "api/access/signing_keys.py",
        ("if trio.current_time() - self._tried_at < PAUSE_S:", "if False:"),
    ),
    mutant(
        "every caller may use every route",
        f"{MATRIX}::test_roles",
        "api/access/needs.py",
        ("    if not ids:\n        raise denied(need)\n", ""),
    ),
    mutant(
        "a restricted caller may use a route without a scope",
        f"{SCOPES}::test_routes_without_a_scope_are_closed",
        "api/access/scopes.py",
        ("    if scope is Scope.EVERYTHING:\n        raise denied(allowed.need)\n", ""),
    ),
    mutant(
        "a restricted caller may use the keys of other processes",
        f"{SCOPES}::test_keys_of_other_processes_are_closed",
        "api/access/scopes.py",
        ("if process is None or process in allowed.ids:", "if True:"),
    ),
    mutant(
        "searches find what belongs to other processes",
        f"{SCOPES}::test_searches_find_own_processes_only",
        "api/search/search_requests.py",
        ("        yield OF_PROCESSES, sorted(request.allowed.ids)\n", "        yield from ()\n"),
    ),
    mutant(
        "a grant on one user task opens all",
        f"{TASKS}::test_every_route_of_a_task_is_open_for_granted_tasks_only",
        "api/access/scopes.py",
        ("not await _is_granted(services, tenants, allowed.tasks, parameters)", "False"),
    ),
    mutant(
        "searches find tasks that are not granted",
        f"{TASKS}::test_a_search_finds_the_granted_tasks",
        "api/search/search_requests.py",
        ("        yield GRANTED, request.allowed.tasks\n", "        yield from ()\n"),
    ),
    mutant(
        "a client is the user with the same name",
        f"{TASKS}::test_a_client_with_the_name_of_a_user_is_not_the_user",
        "api/access/needs.py",
        ('caller.id if caller.kind == "USER" else None', "caller.id"),
    ),
    mutant(
        "the permission to claim assigns to others",
        f"{TASKS}::test_claims",
        "api/routes/user_tasks.py",
        ('if not claims or (request.caller.kind, request.caller.id) != ("USER", assignee):', "if not claims:"),
    ),
    mutant(
        "the permission for a task opens the records of a task that is gone",
        f"{AUDIT}::test_the_records_of_a_user_task",
        "api/access/scopes.py",
        ("        return Allowed(allowed.need, allowed.ids)\n", "        return allowed\n"),
    ),
    mutant(
        "the current password is not checked",
        f"{DIRECTORY}::test_a_user_changes_its_own_password",
        "api/routes/own_password.py",
        ('    await _check_current(request, services, body.current_password or "")\n', ""),
    ),
    mutant(
        "an unknown owner gets grants",
        f"{DIRECTORY}::TestGrants::test_an_unknown_owner_gets_no_grants_that_a_later_one_would_have",
        "api/routes/authorizations.py",
        ("        await _owner_must_exist(connection, made)\n", ""),
    ),
    mutant(
        "changes of background jobs are not recorded",
        "tests/api/routes/test_background_jobs.py::test_each_change_is_recorded_and_a_rejected_one_as_failed",
        "api/routes/background_jobs.py",
        (
            "    async with changing(request, services, id) as connection:",
            "    async with services.reads.pool.connection() as connection:",
        ),
    ),
    mutant(
        "a deleted group leaves its rights to a later one",
        "tests/api/access/test_directory.py::TestMembers::test_a_deleted_entry_leaves_nothing_to_a_later_one",
        "storage/access/directory.py",
        ('"DELETE FROM authorizations WHERE owner_type = $1 AND owner_id = $2"', '"SELECT $1::text, $2::text"'),
    ),
    mutant(
        "the last administrator can go",
        "tests/api/access/test_directory.py::TestMembers::test_the_last_administrator_stays",
        "storage/access/directory.py",
        ("if before and not await count_admins(connection):", "if False:"),
    ),
    mutant(
        "wrong passwords by HTTP Basic are not counted",
        f"{FAILED}::test_basic_and_the_page_are_counted_together",
        AUTHENTICATOR,
        ("            self.failed_sign_ins.count(None if user is None else given.username, address)\n", ""),
    ),
    mutant(
        "what may be a password is in the audit log",
        f"{FAILED}::test_a_name_that_nobody_has_is_not_kept",
        AUTHENTICATOR,
        ("count(None if user is None else given.username, address)", "count(given.username, address)"),
    ),
    mutant(
        "a flood of wrong passwords fills the audit log",
        f"{FAILED}::test_a_flood_fills_neither_memory_nor_the_table",
        "api/access/failed_sign_ins.py",
        ('if self._records.take("one"):', "if False:"),
    ),
    mutant(
        "the last failed sign-ins of a program are lost",
        f"{FAILED}::test_they_are_recorded_every_few_seconds_and_at_the_end",
        "api/access/failed_sign_ins.py",
        ("                await self.write()\n\n    async def write", "                pass\n\n    async def write"),
    ),
    mutant(
        "sign-outs are not recorded",
        f"{SIGN_IN}::TestRecords::test_sign_outs",
        "vivero/web/sign_in/sign_in_pages.py",
        ("            if user is not None:\n", "            if False:\n"),
    ),
    mutant(
        "a sign-out and its record are two transactions",
        f"{SIGN_IN}::TestRecords::test_a_sign_out_and_its_record_are_one_transaction",
        "vivero/web/sign_in/sign_in_pages.py",
        (
            "connection() as connection, connection.transaction():\n            user = await end",
            "connection() as connection:\n            user = await end",
        ),
    ),
    mutant(
        "a caller with some tenants sees the background jobs of all",
        f"{TENANTS}::test_what_belongs_to_no_tenant_is_for_callers_with_all_tenants",
        "api/app.py",
        ("        if route.of_no_tenant:\n", "        if False:\n"),
    ),
    mutant(
        "the record of a command does not know the tenants of its sender",
        f"{AUDIT}::test_a_record_carries_the_tenants_of_its_actor",
        "api/access/audit.py",
        ("tenants=None if tenants is None else joined(tenants)", "tenants=None"),
    ),
    mutant(
        "an attempt with a foreign key is recorded for the tenant that has the key",
        f"{AUDITED_COMMANDS}::test_an_attempt_with_a_key_of_another_tenant_is_recorded_like_one_with_an_unknown_key",
        "storage/access/audit_log.sql",
        ("AS s ON a.tenants IS NULL OR s.tenant_id = ANY (string_to_array(a.tenants, ','));", "AS s ON true;"),
    ),
    mutant(
        "the tree of another tenant is loaded before the command is rejected",
        f"{FOREIGN_COST}::test_a_foreign_key_costs_what_an_unknown_one_does",
        "storage/state/load.py",
        ("            if covers(need.tenants, tenant):\n", "            if True:\n"),
    ),
    mutant(
        "a foreign row in memory costs no look-up",
        f"{FOREIGN_COST}::test_a_foreign_key_costs_what_an_unknown_one_does",
        "storage/state/load_plan.py",
        (" or is_foreign(need, present[need.key]):", ":"),
    ),
    mutant(
        "a read of a restricted caller looks for the process of a foreign key",
        f"{READS}::test_a_foreign_key_costs_the_statements_of_an_unknown_one",
        "api/access/scopes.py",
        (
            "found = await read_of(services, tenants, partial(_process_of, resource, key))",
            "found = await read_of(services, None, partial(_process_of, resource, key))",
        ),
    ),
    mutant(
        "a grant with a condition of a newer version counts without it",
        "tests/api/access/test_unknown_grants.py::test_what_is_unknown_gives_nothing",
        "storage/access/identities.sql",
        ("'permission_types', 'resource_property_name']) = '{}'));", "'permission_types']) IS NOT NULL));"),
    ),
    mutant(
        "a grant by an unknown property opens searches",
        "tests/api/access/test_unknown_grants.py::test_what_is_unknown_gives_nothing",
        "api/callers/permissions.py",
        ("elif grant.property_name in TASK_PROPERTIES:", "elif grant.property_name is not None:"),
    ),
    mutant(
        "a message starts instances of a pinned tenant where its channel is",
        f"{CROSSING}::test_a_message_starts_an_instance_in_a_partition_of_its_tenant",
        "core/commands/message.py",
        ("partition=view.partition_for_start(start.tenant, key) or 0", "partition=0"),
    ),
    mutant(
        "an instance that began elsewhere never releases its lock",
        f"{CROSSING}::test_a_stored_message_starts_the_next_instance_when_one_has_ended_elsewhere",
        "core/commands/subscription.py",
        ("if command.start_lock is not None and instance != command.key:", "if False:"),
    ),
    mutant(
        "nobody hears that the pins of a tenant have ended",
        "tests/storage/test_routes.py::test_pins_end_with_their_tenant",
        "storage/access/directory.py",
        ("await routes.note_change(connection)", "pass"),
    ),
)
