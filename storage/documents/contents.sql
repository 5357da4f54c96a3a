-- name: begin
-- A late call begins an upload that nobody goes on with: it is deleted an hour later.
WITH tenant AS (INSERT INTO document_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING)
INSERT INTO document_contents (tenant_id, store_id) VALUES ($1, $2) RETURNING content_key;

-- name: add
-- The offset makes it happen once: a repeated call finds more bytes.
SELECT add_document_part($1, $2, $3, $4, $5);

-- name: complete
-- Within the transaction that adds the document.
SELECT complete_document_content($1, $2);

-- name: give_up
-- The uploading request knows that nobody needs it. A content that is complete meanwhile stays.
UPDATE document_contents SET alive_at = '-infinity' WHERE content_key = $1 AND sha256 IS NULL;

-- name: drop
-- By the primary key of the parts, from the end: a content is never whole again.
SELECT drop_document_parts($1, $2, $3);

-- name: unused
-- By the partial index, the oldest first. Uploads under way are younger.
SELECT content_key, store_id FROM document_contents
WHERE sha256 IS NULL AND alive_at < clock_timestamp() - make_interval(secs => $1)
ORDER BY alive_at, content_key LIMIT $2;

-- name: part
-- The part that has a byte: the last one that begins at it or before it.
SELECT p.first, p.content
FROM document_contents c JOIN LATERAL (
    SELECT first, content FROM document_parts WHERE content_key = c.content_key AND first <= $2
    ORDER BY first DESC LIMIT 1) p ON true
WHERE c.content_key = $1
    -- only tenants: AND c.tenant_id = ANY ($3::text[])
;
