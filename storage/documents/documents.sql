-- name: add
-- Nothing if the tenant has a document with this id in this store. Its own time is the engine's, like that of its expiry.
INSERT INTO documents (document_id, store_id, tenant_id, content_key, content_type, file_name, created_at, expires_at,
    process_definition_id, process_instance_key, custom_properties, goes_with_instance)
VALUES ($1, $2, $3, $4, $5, $6, clock_now(),
    coalesce(from_epoch_ms($7), clock_now() + $8::bigint * interval '1 millisecond'), $9, $10, $11, $12)
ON CONFLICT DO NOTHING
RETURNING expires_at;

-- name: belong_to_message
-- If the message is stored: otherwise nobody can tell later whether someone has got it. The lock makes this statement come before
-- the deletion of the message, or find none. Late or twice, it does nothing else.
WITH stored AS MATERIALIZED (SELECT message_key FROM messages WHERE message_key = $1 FOR KEY SHARE)
UPDATE documents d SET message_key = stored.message_key
FROM stored, unnest($2::text[], $3::text[], $4::text[]) AS n(document_id, store_id, tenant_id)
WHERE d.document_id = n.document_id AND d.store_id = n.store_id AND d.tenant_id = n.tenant_id;

-- name: belong_to_pending_start
-- A pending start alone keeps the message, which is not stored. If it has ended by now, with an instance or without one, this
-- changes nothing that counts. Late or twice, it does nothing else.
UPDATE documents d SET message_key = $1
FROM unnest($2::text[], $3::text[], $4::text[]) AS n(document_id, store_id, tenant_id)
WHERE d.document_id = n.document_id AND d.store_id = n.store_id AND d.tenant_id = n.tenant_id;

-- name: belong_to_instance
-- The instance did not exist when they were added. Late or twice, it does nothing else.
UPDATE documents d SET process_instance_key = $1
FROM unnest($2::text[], $3::text[], $4::text[]) AS n(document_id, store_id, tenant_id)
WHERE d.document_id = n.document_id AND d.store_id = n.store_id AND d.tenant_id = n.tenant_id;

-- name: exists
-- An early answer for a client that would upload in vain. An expired document counts until it is deleted.
SELECT FROM documents WHERE document_id = $1 AND store_id = $2 AND tenant_id = $3;

-- name: find
-- Expired documents are gone at once, whenever they are deleted. Two rows are enough to know that an id is ambiguous. A link ($4)
-- has an end in real time, which the database alone judges.
SELECT d.document_id, d.store_id, d.tenant_id, d.content_key, c.sha256, c.bytes, d.content_type, d.file_name, d.expires_at,
    d.process_definition_id, d.process_instance_key, d.custom_properties, c.object_name
FROM documents d JOIN document_contents c USING (content_key)
WHERE d.document_id = $1 AND (d.store_id = $2 OR $2 IS NULL) AND (d.tenant_id = $3 OR $3 IS NULL)
    AND (d.expires_at IS NULL OR d.expires_at > clock_now())
    AND ($4::bigint IS NULL OR from_epoch_ms($4::bigint) > clock_timestamp())
    -- only tenants: AND d.tenant_id = ANY ($5::text[])
LIMIT 2;

-- name: delete
-- The content that it had, which the next statement of the transaction may let go.
DELETE FROM documents WHERE document_id = $1 AND store_id = $2 AND tenant_id = $3 AND content_key = $4 RETURNING content_key;

-- name: release
-- A content goes with its last document.
SELECT release_document_contents($1);

-- name: expire
-- By the index on their time, the oldest first. Documents that somebody else deletes are left to them.
DELETE FROM documents WHERE (document_id, store_id, tenant_id) IN (
    SELECT document_id, store_id, tenant_id FROM documents WHERE expires_at <= clock_now()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING content_key;

-- name: orphans
-- Documents that were added while their tenant was deleted, or before: nobody can see them, and they are in nobody's quota.
DELETE FROM documents WHERE (document_id, store_id, tenant_id) IN (
    SELECT d.document_id, d.store_id, d.tenant_id FROM document_usage u JOIN documents d USING (tenant_id)
    WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = u.tenant_id)
    LIMIT $1 FOR UPDATE OF d SKIP LOCKED)
RETURNING content_key;
