-- The functions of Citus that `storage/schema/distributed.sql` calls, for a server without it: each checks the rules of Citus's
-- documentation and notes what it was told.
CREATE TABLE placements (relation text PRIMARY KEY, kind text NOT NULL, distribution_column text, beside text);

CREATE FUNCTION create_distributed_table(relation regclass, distribution_column text, colocate_with text,
    shard_count int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
    number CONSTANT int := (SELECT attnum FROM pg_attribute WHERE attrelid = relation AND attname = distribution_column
        AND attgenerated = '' AND attnotnull AND atttypid = 'int'::regtype);
BEGIN
    IF number IS NULL THEN
        RAISE EXCEPTION '% has no integer column % NOT NULL that is not generated', relation, distribution_column;
    END IF;
    SELECT indexrelid::regclass::text INTO wrong FROM pg_index
    WHERE indrelid = relation AND (indisunique OR indisexclusion) AND NOT number = ANY (indkey::int2[]);
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the unique index % does not contain %', wrong, distribution_column;
    END IF;
    SELECT tgname INTO wrong FROM pg_trigger WHERE tgrelid = relation AND NOT tgisinternal;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% has the trigger %', relation, wrong;
    END IF;
    SELECT conname INTO wrong FROM pg_constraint WHERE contype = 'f' AND relation IN (conrelid, confrelid);
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% is part of the foreign key %', relation, wrong;
    END IF;
    IF colocate_with <> 'none' AND NOT EXISTS (SELECT FROM placements p WHERE p.relation = colocate_with) THEN
        RAISE EXCEPTION '% is not distributed yet', colocate_with;
    END IF;
    INSERT INTO placements VALUES (relation::text, 'distributed', distribution_column, nullif(colocate_with, 'none'));
END $$;

CREATE FUNCTION create_reference_table(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND NOT tgisinternal) THEN
        RAISE EXCEPTION '% has a trigger', relation;
    END IF;
    INSERT INTO placements VALUES (relation::text, 'reference');
END $$;

-- A worker runs it, therefore it writes nothing.
CREATE FUNCTION create_distributed_function(signature regprocedure) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT provolatile FROM pg_proc WHERE oid = signature) = 'v' THEN
        RAISE EXCEPTION '% is volatile', signature;
    END IF;
    INSERT INTO placements VALUES (signature::text, 'function');
END $$;
