-- name: routes
-- One snapshot: the number that each change of the routes raises, the number of partitions, the owner of each slot, the
-- partitions of tenants, and the detour of a sender.
SELECT (SELECT n FROM definitions_seq), (SELECT max(id) FROM partitions),
       (SELECT array_agg(partition_id ORDER BY slot) FROM slots),
       (SELECT json_agg(json_build_array(tenant_id, partition_id) ORDER BY tenant_id, partition_id) FROM tenant_partitions)::text,
       d.previous, d.slots, d.held
FROM (SELECT) one LEFT JOIN slot_detours d ON d.partition_id = $1;

-- name: lock_changes
-- One program at a time changes the routes of a schema. The lock ends with its session.
SELECT pg_try_advisory_lock(4714, hashtext(current_schema()));

-- name: make_partitions
-- Those from the first number to the last one. They own nothing yet.
SELECT make_partition(id) FROM generate_series($1::int, $2::int) AS id;

-- name: changed
-- Every batch reads this number, and then the routes.
UPDATE definitions_seq SET n = n + 1;

-- name: tell
-- Nodes without consumers read the routes no more than once a second by themselves.
SELECT pg_notify($1, '');

-- name: moves_under_way
-- The senders that have not switched to the new owner yet.
SELECT count(*) FROM slot_detours;

-- name: unpin
-- New work of the tenant begins in all partitions again.
DELETE FROM tenant_partitions WHERE tenant_id = $1;

-- name: pin
-- The partitions in which new work of the tenant begins.
INSERT INTO tenant_partitions SELECT $1, unnest($2::int[]);
