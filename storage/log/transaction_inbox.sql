-- name: waiting
-- Those of these partitions that have rows behind an id, by the same rule as `take`. Each look is one of the primary key.
SELECT p FROM unnest($1::int[], $2::bigint[]) AS x(p, above)
WHERE EXISTS (SELECT FROM transaction_inbox t WHERE t.target_partition = x.p AND t.id > x.above
    AND ($3::bigint IS NULL OR t.began_at > now() - $3 * interval '1 millisecond'));

-- name: take
-- Selects by state: a repeated call after a lost answer moves nothing twice.
SELECT last_position, last_id FROM take_from_transactions($1, $2, $3, $4, $5);

-- name: purge
-- A bounded number of old outcomes, the oldest first, by the database's time.
DELETE FROM transaction_outcomes WHERE (target_partition, id) IN (
    SELECT target_partition, id FROM transaction_outcomes
    WHERE moved_at < clock_timestamp() - $1::bigint * interval '1 millisecond'
    ORDER BY moved_at LIMIT $2 FOR UPDATE SKIP LOCKED);

-- name: outcome
-- For the owner of the tables, who sees all.
SELECT state, "position", execution_id::text, code, reason, answer FROM outcome(id => $1);
