-- What searches ask for, at next to no cost for those who write. By process: all other tables find the rows of a process by way
-- of its instances. There is one tenant, so that it need not come first.
DROP INDEX process_instances_process;
CREATE INDEX process_instances_process ON process_instances (process_id, process_instance_key);
-- Written once, when an instance ends.
CREATE INDEX process_instances_ended ON process_instances (ended_at) WHERE ended_at IS NOT NULL;
-- Few end so.
CREATE INDEX process_instances_terminated ON process_instances (process_instance_key) WHERE state = 'TERMINATED';
CREATE INDEX element_instances_terminated ON element_instances (element_instance_key) WHERE state = 'TERMINATED';
