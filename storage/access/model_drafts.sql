-- name: lock
-- Drafts are added rarely. With the lock no tenant exceeds its number; readers do not wait.
LOCK TABLE model_drafts IN SHARE ROW EXCLUSIVE MODE;

-- name: add
-- Behind `lock`. Nothing if the tenant has $5 drafts.
INSERT INTO model_drafts (tenant_id, name, content, version, created_by, created_at, updated_by, updated_at)
SELECT $1::text, $2::text, $3::text, 1, $4::text, clock_now(), $4::text, clock_now()
WHERE (SELECT count(*) FROM model_drafts d WHERE d.tenant_id = $1) < $5
RETURNING draft_key, version, to_epoch_ms(updated_at);

-- name: change
-- By primary key. The versions are those that the client has seen, so nobody overwrites what somebody else has written.
UPDATE model_drafts SET name = $3, content = $4, version = version + 1, updated_by = $5, updated_at = clock_now()
WHERE draft_key = $1 AND version = ANY ($2::bigint[])
    -- only tenants: AND tenant_id = ANY ($6::text[])
RETURNING draft_key, version, to_epoch_ms(updated_at);

-- name: find
-- By primary key, without the content.
SELECT version, updated_by, to_epoch_ms(updated_at) FROM model_drafts WHERE draft_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[])
;

-- name: get
-- By primary key.
SELECT draft_key, tenant_id, name, content, version, created_by, to_epoch_ms(created_at), updated_by, to_epoch_ms(updated_at)
FROM model_drafts WHERE draft_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[])
;

-- name: delete
-- By primary key. Nothing depends on a draft.
DELETE FROM model_drafts WHERE draft_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[])
RETURNING 1;
