-- Filters compare the values of variables, however they are spelled (storage/normal_form.py). A variable whose value is not in normal form
-- has the hash of its normal form. The values of nearly all variables are, and these have none: the index on the MD5 of values finds them.
ALTER TABLE variables ADD COLUMN normal_hash uuid;
CREATE INDEX variables_normal ON variables (name, normal_hash) WHERE normal_hash IS NOT NULL;

-- The variables that older programs have written, by partition: those with keys in (behind, upto] have no hash yet, or that of an earlier
-- value. The program computes it, so the owner of the partition does this in small steps (the chore `vivero.variable-values`). Older nodes
-- may own the partition for a while after this migration: `upto` is set by the first owner that hashes. A partition without a row has nothing
-- left to do.
CREATE TABLE unhashed_variables (
    partition_id int PRIMARY KEY,
    behind       bigint NOT NULL,
    upto         bigint
);
INSERT INTO unhashed_variables (partition_id, behind) SELECT id, id::bigint << 51 FROM partitions;
