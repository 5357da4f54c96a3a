-- Filters compare the values of variables, however they are spelled (storage/normal_form.py). A variable whose value is not in normal form
-- has the hash of its normal form. The values of nearly all variables are, and these have none: the index on the MD5 of values finds them.
ALTER TABLE variables ADD COLUMN normal_hash uuid;
CREATE INDEX variables_normal ON variables (name, normal_hash) WHERE normal_hash IS NOT NULL;

-- The variables that stood here before, by partition: those with keys in (behind, upto] have no hash yet. The program computes it, so the
-- owner of the partition does this in small steps (the chore `vivero.variable-values`). A partition without a row has nothing left to do.
CREATE TABLE unhashed_variables (
    partition_id int PRIMARY KEY,
    behind       bigint NOT NULL,
    upto         bigint NOT NULL
);
INSERT INTO unhashed_variables (partition_id, behind, upto)
SELECT id, id::bigint << 51, last FROM partitions CROSS JOIN LATERAL (
    SELECT max(variable_key) AS last FROM variables WHERE variable_key BETWEEN id::bigint << 51 AND ((id::bigint + 1) << 51) - 1
) found WHERE last IS NOT NULL;
