-- name: begin
-- Rows of this owner have hashes: the last variable of earlier owners ends the search. Once for each partition.
UPDATE unhashed_variables u SET upto = coalesce(
    (SELECT max(variable_key) FROM variables WHERE variable_key > u.behind AND variable_key < ($1::bigint + 1) << 51), u.behind)
WHERE partition_id = $1 AND upto IS NULL AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2);

-- name: page
-- The next variables of a partition in its term, up to $3 of them and about $4 bytes; a row without a key if there are none.
-- Sizes are read without the values. A value that is too long for a normal form comes without it.
SELECT v.variable_key, CASE WHEN length(v.value) <= $5 THEN v.value END, replace(v.normal_hash::text, '-', '')
FROM unhashed_variables u
LEFT JOIN LATERAL (
    SELECT w.variable_key, w.value, w.normal_hash,
        sum(octet_length(w.value)) OVER (ORDER BY w.variable_key) - octet_length(w.value) AS before
    FROM (
        SELECT variable_key, value, normal_hash FROM variables WHERE variable_key > u.behind AND variable_key <= u.upto
        ORDER BY variable_key LIMIT $3
    ) w
) v ON v.before < $4
WHERE u.partition_id = $1 AND u.upto IS NOT NULL AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2)
ORDER BY v.variable_key;

-- name: hash
-- Hashes of values that are still there, and how far the partition has come. A batch that holds a row hashes its value itself,
-- and one that has changed it has done so: nobody waits here.
WITH x AS (SELECT unnest($3::bigint[]) AS key, unnest($4::text[]) AS spelling, unnest($5::uuid[]) AS hash),
     free AS (
         SELECT v.variable_key, x.hash FROM variables v JOIN x ON v.variable_key = x.key AND md5(v.value) = x.spelling
         ORDER BY v.variable_key FOR UPDATE OF v SKIP LOCKED
     ),
     hashed AS (UPDATE variables v SET normal_hash = free.hash FROM free WHERE v.variable_key = free.variable_key)
UPDATE unhashed_variables SET behind = $6
WHERE partition_id = $1 AND behind < $6 AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2);

-- name: finish
-- Nothing is left of what stood there before.
DELETE FROM unhashed_variables WHERE partition_id = $1 AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2);
