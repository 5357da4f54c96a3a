-- name: lock
-- Views are saved and deleted rarely. With the lock nobody exceeds the numbers, a view stays as it was found until its
-- deletion, and readers do not wait. A lock of the row instead would deadlock with a save of the same view.
LOCK TABLE saved_views IN SHARE ROW EXCLUSIVE MODE;

-- name: keep_user
-- Before `lock`, in the order of a deletion: that of the owner waits, or is over and gives no row.
SELECT FROM users WHERE username = $1 FOR KEY SHARE;

-- name: keep_token
-- The same for a token.
SELECT FROM api_tokens WHERE name = $1 FOR KEY SHARE;

-- name: save
-- A view of the same name is replaced. Nothing if the person has $8 views, or the tenant $9 shared ones.
INSERT INTO saved_views
    (tenant_id, owner_type, owner_id, owner_provider, resource, name, query, is_shared, created_at, updated_at)
SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $10::boolean, clock_now(), clock_now()
WHERE (SELECT count(*) FROM saved_views v WHERE v.owner_type = $2 AND v.owner_id = $3 AND v.owner_provider = $4
        AND (v.tenant_id, v.resource, v.name) <> ($1, $5, $6)) < $8
    AND (NOT $10 OR (SELECT count(*) FROM saved_views v WHERE v.tenant_id = $1 AND v.is_shared
        AND (v.owner_type, v.owner_id, v.owner_provider, v.resource, v.name) <> ($2, $3, $4, $5, $6)) < $9)
ON CONFLICT (owner_type, owner_id, owner_provider, tenant_id, resource, name)
    DO UPDATE SET query = excluded.query, is_shared = excluded.is_shared, updated_at = excluded.updated_at
RETURNING view_key;

-- name: find
-- By primary key, behind `lock`.
SELECT resource, is_shared, owner_type = $2 AND owner_id = $3 AND owner_provider = $4 FROM saved_views WHERE view_key = $1
    -- only tenants: AND tenant_id = ANY ($5::text[])
;

-- name: delete
-- By primary key, behind `find`.
DELETE FROM saved_views WHERE view_key = $1;
