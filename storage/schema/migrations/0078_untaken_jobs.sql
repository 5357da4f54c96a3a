-- An undo depends on jobs that no worker has, or has had. Its batch locks their rows before anything is written, so an activation
-- comes before the batch, which then raises, or finds the rows as the batch leaves them.
CREATE FUNCTION require_untaken(keys bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    taken bigint;
BEGIN
    PERFORM FROM jobs WHERE job_key = ANY (keys) ORDER BY job_key FOR UPDATE;
    SELECT job_key INTO taken FROM jobs WHERE job_key = ANY (keys) AND lease_token IS NOT NULL ORDER BY job_key LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'a worker has got job ''%''', taken USING ERRCODE = 'VV003';
    END IF;
END $$;
