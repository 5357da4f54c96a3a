-- name: begin
-- A late call begins an upload that nobody goes on with: it is deleted an hour later.
WITH tenant AS (INSERT INTO document_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING)
INSERT INTO document_contents (tenant_id, store_id, object_name) VALUES ($1, $2, $3) RETURNING content_key;

-- name: add
-- The offset makes it happen once: a repeated call finds more bytes.
SELECT add_document_part($1, $2, $3, $4, $5);

-- name: complete
-- Within the transaction that adds the document.
SELECT complete_document_content($1, $2);

-- name: give_up
-- The uploading request knows that nobody needs it. A content that is complete meanwhile stays. If bytes may still come ($2 is
-- false), the row lives on until an hour after the last part, and then the object is deleted once more.
UPDATE document_contents SET alive_at = CASE WHEN $2 THEN '-infinity' ELSE alive_at END
WHERE content_key = $1 AND sha256 IS NULL RETURNING content_key;

-- name: complete_one
-- After `give_up`, in a statement of its own: it sees what committed while that one waited.
SELECT FROM document_contents WHERE content_key = $1 AND sha256 IS NOT NULL;

-- name: drop
-- By the primary key of the parts, from the end: a content is never whole again.
SELECT drop_document_parts($1, $2, $3);

-- name: unused
-- By the partial index. Uploads under way are younger.
SELECT content_key FROM document_contents
WHERE sha256 IS NULL AND store_id = $1 AND alive_at < clock_timestamp() - make_interval(secs => $2)
ORDER BY content_key LIMIT $3;

-- name: claim
-- The upload is over before its object is deleted: its last bytes come too late. Two chores may both delete the object.
UPDATE document_contents SET alive_at = '-infinity' WHERE content_key = ANY (ARRAY(
    SELECT content_key FROM document_contents
    WHERE sha256 IS NULL AND store_id = $1 AND content_key > $2 AND alive_at < clock_timestamp() - make_interval(secs => $3)
    ORDER BY content_key LIMIT $4 FOR UPDATE))
RETURNING content_key, object_name;

-- name: forget
-- After the object is deleted: until then the row leads to it.
SELECT forget_document_object($1);

-- name: known
-- A store that has, or had, complete contents. Asked before the first use of a directory. Uploads under way prove nothing.
SELECT EXISTS (SELECT FROM document_contents WHERE store_id = $1 AND (sha256 IS NOT NULL OR alive_at = '-infinity'));

-- name: by_store
-- For the doctor: contents with documents, their bytes, and contents that a chore should have deleted ($1 s ago).
SELECT store_id, count(*) FILTER (WHERE sha256 IS NOT NULL), coalesce(sum(bytes) FILTER (WHERE sha256 IS NOT NULL), 0)::bigint,
    count(*) FILTER (WHERE sha256 IS NULL AND alive_at < clock_timestamp() - make_interval(secs => $1))
FROM document_contents GROUP BY store_id ORDER BY store_id;

-- name: part
-- The part that has a byte: the last one that begins at it or before it.
SELECT p.first, p.content
FROM document_contents c JOIN LATERAL (
    SELECT first, content FROM document_parts WHERE content_key = c.content_key AND first <= $2
    ORDER BY first DESC LIMIT 1) p ON true
WHERE c.content_key = $1
    -- only tenants: AND c.tenant_id = ANY ($3::text[])
;
