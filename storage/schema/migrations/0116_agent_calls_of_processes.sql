-- What the agents of a process cost in some days is read by this index.
CREATE INDEX agent_calls_process ON agent_calls (tenant_id, process_id, ended_at);
