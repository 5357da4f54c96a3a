-- How many jobs of each type were created, completed and failed, and by which workers: for periods of five minutes, added up as the counts of
-- elements are (0011). Statements that save jobs write the changes.

CREATE TABLE job_count_changes (
    partition_id int NOT NULL,
    id           bigserial NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    worker       text NOT NULL,
    status       text NOT NULL CHECK (status IN ('CREATED', 'COMPLETED', 'FAILED')),
    jobs         bigint NOT NULL,
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (partition_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 100000);

CREATE TABLE job_counts (
    period       timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    status       text NOT NULL,
    worker       text NOT NULL,
    partition_id int NOT NULL,
    jobs         bigint NOT NULL,
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (period, tenant_id, type, status, worker, partition_id)
) WITH (fillfactor = 70);

-- The id up to which the changes are added up.
CREATE TABLE job_count_totals (
    partition_id int PRIMARY KEY,
    until        bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION job_period(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
SELECT date_bin('5 minutes', at, 'epoch')
$$;

-- All counts: the sum of its rows.
CREATE VIEW counted_jobs WITH (security_invoker = true) AS
SELECT period, tenant_id, type, status, worker, jobs, last_at FROM job_counts
UNION ALL
SELECT job_period(c.last_at), c.tenant_id, c.type, c.status, c.worker, c.jobs, c.last_at
FROM partitions p
LEFT JOIN job_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT * FROM job_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0)
) c ON true;

-- Adds up to `most` changes to the totals, and deletes some totals of more than thirty days ago; returns how many changes there were.
CREATE FUNCTION total_job_counts(p int, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO job_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM job_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM job_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM job_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *)
    INSERT INTO job_counts AS c (period, tenant_id, type, status, worker, partition_id, jobs, last_at)
    SELECT job_period(last_at), tenant_id, type, status, worker, p, sum(jobs), max(last_at)
    FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (period, tenant_id, type, status, worker, partition_id) DO UPDATE
    SET jobs = c.jobs + excluded.jobs, last_at = greatest(c.last_at, excluded.last_at);
    UPDATE job_count_totals SET until = high WHERE partition_id = p;
    DELETE FROM job_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM job_counts WHERE period < clock_now() - interval '30 days' AND partition_id = p LIMIT most));
    RETURN n;
END $$;

-- The errors of jobs. Other jobs are not in the index.
CREATE INDEX jobs_errors ON jobs (type, updated_at) WHERE error_code IS NOT NULL OR error_message IS NOT NULL;

-- The statistic of open message subscriptions reads no rows.
CREATE INDEX subscriptions_open ON subscriptions (process_definition_key, process_instance_key) WHERE kind = 'MESSAGE' AND ended_at IS NULL;
