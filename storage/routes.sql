-- name: routes
-- One snapshot: the number that each change of the routes raises, the number of partitions, and the owner of each slot.
SELECT (SELECT n FROM definitions_seq), (SELECT max(id) FROM partitions),
       (SELECT array_agg(partition_id ORDER BY slot) FROM slots);
