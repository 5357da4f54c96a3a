-- Ended rows stay in the tables of the live ones (docs/adr/0058-keep-ended-rows-where-they-are.md). Live rows have partial indexes, which
-- do not grow with the ended ones. This is what millions of ended rows need besides; docs/operations/growth.md has the figures.

-- Room in a page is of use only to an update that leaves all indexed columns alone. The one update of nearly every element ends it, and
-- `ended_at` is in the condition of its partial indexes; each update of a job changes its lease or ends it; the value of a variable is
-- indexed. Room that such an update cannot use was a tenth to a sixth of these tables for ever. Process instances keep theirs: each batch
-- that has a command for one updates its row, and only the last of them ends it.
-- Autovacuum waits for a twentieth of the rows instead of a fifth: at ten million rows a fifth is two million dead ones, and so many entries
-- in the indexes of live rows. A smaller share would read all indexes too often, since each vacuum reads them whole. New rows count, too:
-- until a vacuum has seen them, a search that counts reads the rows besides the index.
ALTER TABLE process_instances SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE element_instances SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE variables SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE jobs SET (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Only a small table (8 MB) gives up the room. In a large one PostgreSQL would fill the room of all old pages with new rows, far apart: at three
-- million instances that tripled the WAL of an instance and took a sixth of the throughput.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['element_instances', 'variables', 'jobs'] LOOP
        IF pg_relation_size(name::regclass) < 8 * 1024 * 1024 THEN
            EXECUTE format('ALTER TABLE %I SET (fillfactor = 100)', name);
        END IF;
    END LOOP;
END $$;

-- The instances of a process, in the order of their start: what lists show, and a range of time within a process. The key makes it as good
-- as the index before for all who find the rows of a process by its instances. Without IF NOT EXISTS nobody could make the index beforehand
-- with CONCURRENTLY (docs/operations/growth.md): making it here lets writers wait, for about five seconds at three million instances.
CREATE INDEX IF NOT EXISTS process_instances_process_started ON process_instances (process_id, started_at, process_instance_key);
DROP INDEX process_instances_process;

-- With the process, and with the end in the condition, which each terminated instance has: a list of them is counted in the index alone.
DROP INDEX process_instances_terminated;
CREATE INDEX process_instances_terminated ON process_instances (process_id, process_instance_key)
    WHERE state = 'TERMINATED' AND ended_at IS NOT NULL;
