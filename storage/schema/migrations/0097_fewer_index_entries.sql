-- An instance writes an index entry less for each variable, and one less for each element that waits. A database that lacks
-- one of the tables is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('variables') IS NOT NULL THEN
        -- The scopes of an instance stand together: this index also finds all variables of an instance, for filters and
        -- deletions. All readers know the instance of a scope.
        ALTER TABLE variables DROP CONSTRAINT IF EXISTS variables_scope_key_name_key;
        DROP INDEX IF EXISTS variables_instance;
        ALTER TABLE variables ADD CONSTRAINT variables_of_scopes UNIQUE (process_instance_key, scope_key, name);
    END IF;
    IF to_regclass('element_instances') IS NOT NULL THEN
        -- Only the inner instances of paged loops are looked up by their scope. Each is a part of its own, and few instances
        -- have any. The predicate also says which queries the index is for (migration 0056).
        DROP INDEX IF EXISTS element_instances_scope;
        CREATE INDEX element_instances_scope ON element_instances (scope_key, element_instance_key)
            WHERE ended_at IS NULL AND part_key = element_instance_key;
    END IF;
END $$;
