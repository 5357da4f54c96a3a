"""Pages of an erasure by value are bounded by rows and by bytes, whatever table they are of."""

import pytest

from vivero.storage.retention import erasure_by_value
from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.retention.erasure_by_value import QUEUED_COMMANDS, TABLES, Counts, Search, search_table
from vivero.storage.retention.sought import Sought

TEXT = "repeat(n::text, 400)"
SEARCHED = (QUEUED_COMMANDS, *TABLES)
RULES = """INSERT INTO alert_rules (tenant_id, name, process_id, metric, threshold, clears_at, every_s, url, made_by,
    created_at, updated_at, next_at, since)
SELECT 't', n, '', 'RUNNING', 1, 1, 60, {url}, 'a', now(), now(), now(), now() FROM generate_series(1, {rows}) n"""
ROWS = {
    "queued": "INSERT INTO transaction_inbox"
    " (target_partition, id, tenant_id, intent, payload, size, audit, role_name)"
    f" SELECT 1, n, 't', 'X:Y', convert_to(to_json({TEXT})::text, 'UTF8'), length({TEXT}), '', 'r'"
    " FROM generate_series(1, 5) n",
    "comments": "INSERT INTO user_task_comments"
    " (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)"
    f" SELECT 7, 7, 7, 't', 'a', now(), {TEXT} FROM generate_series(1, 5) n",
    "views": "INSERT INTO saved_views"
    " (tenant_id, owner_type, owner_id, owner_provider, resource, name, query, is_shared, created_at, updated_at)"
    f" SELECT 't', 'USER', 'a', '', 'user-tasks', n, {TEXT}, true, now(), now() FROM generate_series(1, 5) n",
    "drafts": "INSERT INTO model_drafts"
    " (tenant_id, name, content, version, created_by, created_at, updated_by, updated_at)"
    f" SELECT 't', 'x.bpmn', {TEXT}, 1, 'a', now(), 'a', now() FROM generate_series(1, 5) n",
    "rules": RULES.format(url=TEXT, rows=5),
    "notices": f"WITH rule AS ({RULES.format(url='repeat(n::text, 9)', rows=1)} RETURNING alert_rule_key)"
    " INSERT INTO alert_deliveries (alert_rule_key, revision, kind, state, made_at, due_at, error)"
    f" SELECT alert_rule_key, n, 'TEST', 'PENDING', now(), now(), {TEXT} FROM rule, generate_series(1, 5) n",
    "keys": "INSERT INTO idempotency_keys (tenant, key, body_sha, expires_at)"
    f" SELECT 't', {TEXT}, '', now() FROM generate_series(1, 5) n",
    "batches": "INSERT INTO batch_operations"
    " (type, open, resource, filter, actor_kind, actor_id, request_key, body_sha)"
    f" SELECT 'CANCEL_PROCESS_INSTANCE', false, 'incidents', to_json({TEXT}), 'USER', 'u', n, ''"
    " FROM generate_series(1, 5) n",
    "items": "INSERT INTO batch_operation_items (batch_operation_key, item_key, type, process_id, tenant_id, error)"
    f" SELECT 1, n, 'CANCEL_PROCESS_INSTANCE', 'p', 't', {TEXT} FROM generate_series(1, 5) n",
    "executions": "INSERT INTO job_executions (job_type, state, payload)"
    f" SELECT 'mail', 'failed', to_jsonb({TEXT}) FROM generate_series(1, 5) n",
    "workers": "INSERT INTO job_counts"
    f" SELECT now(), 't', 'mail', 'COMPLETED', {TEXT}, 1, 3, now() FROM generate_series(1, 5) n",
}
"""Table of the search → a statement that adds five rows with some 400 bytes each."""


@pytest.mark.parametrize("table", SEARCHED, ids=lambda table: table.name)
@pytest.mark.parametrize(("rows", "size", "pages"), [(2, 1_000_000, 3), (300, 600, 3), (300, 1, 5)])
async def test_a_page_has_few_rows_and_few_bytes(connection, monkeypatch, table, rows, size, pages):
    monkeypatch.setattr(erasure_by_value, "ROWS", rows)
    monkeypatch.setattr(erasure_by_value, "BYTES", size)
    await connection.execute(ROWS[table.name])
    search = Search(Sought(ErasureSubject(texts=("3" * 400,))), dry=True)
    after, seen, counts = table.first, [], Counts()
    while (following := await search_table(connection, search, table, after, counts)) is not None:
        after = following
        seen.append(after)
    assert len(set(seen)) == len(seen) == pages
    assert getattr(counts, table.counted) == 1


def test_every_table_is_tried():
    assert ROWS.keys() == {table.name for table in SEARCHED}
