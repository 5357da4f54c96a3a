-- name: valid
-- Few: one for each week of the longest life of a link. The newest first: it signs.
SELECT key_id, secret, created_at > clock_timestamp() - make_interval(secs => $1) FROM document_link_keys
WHERE created_at > clock_timestamp() - make_interval(secs => $2) ORDER BY created_at DESC, key_id DESC;

-- name: add
-- Two nodes may make one at the same time: both are valid. A late call adds one that nobody signs with.
INSERT INTO document_link_keys (secret) VALUES ($1);

-- name: purge
-- Every link that one of these signed has expired.
DELETE FROM document_link_keys WHERE key_id = ANY (ARRAY(
    SELECT key_id FROM document_link_keys WHERE created_at <= clock_timestamp() - make_interval(secs => $1) LIMIT $2));

-- name: until
-- The end of a link, by real time: a clock that is pinned must not make links last.
SELECT to_epoch_ms(clock_timestamp()) + $1;
