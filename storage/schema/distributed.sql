-- The layout of a database over several servers of Citus, as a trial (docs/operations/scale.md). It is for psql at the
-- coordinator, in a database that `vivero migrate` has made and no node has used. The program does not run on it, because its
-- statements do not name the partition of each row. `tests/storage/distributed` proves that they could.
--
-- Every session connects to the coordinator, which serves advisory locks, the sequences of positions, LISTEN and NOTIFY.

BEGIN;

-- The distribution column of rows that say their partition by their key alone. It has no default: a statement that forgets it
-- fails. Citus refuses generated columns here.
ALTER TABLE deleted_trees ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE archive_erasures ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE process_instances ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE element_instances ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE variables ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE jobs ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE incidents ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE user_tasks ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE user_task_comments ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE agent_answers ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE agent_calls ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE subscriptions ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE loop_items ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE paged_loop_items ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE work_items ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE message_correlations ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE compensations ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE decision_instances ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE channel_subscriptions ADD COLUMN partition_id integer NOT NULL;
ALTER TABLE start_locks ADD COLUMN partition_id integer NOT NULL;

-- Keys contain the distribution column, so each shard checks them alone. It comes last, because searches look up keys alone.
-- The tables need an ANALYZE after their first rows: plans without statistics begin with all rows of the partition.
ALTER TABLE archive_files
    DROP CONSTRAINT archive_files_pkey, ADD CONSTRAINT archive_files_pkey PRIMARY KEY (name, partition_id);
ALTER TABLE deleted_trees
    DROP CONSTRAINT deleted_trees_pkey, ADD CONSTRAINT deleted_trees_pkey PRIMARY KEY (root_key, partition_id);
ALTER TABLE archive_erasures
    DROP CONSTRAINT archive_erasures_pkey, ADD CONSTRAINT archive_erasures_pkey PRIMARY KEY (root_key, file, partition_id);
ALTER TABLE process_instances
    DROP CONSTRAINT process_instances_pkey,
    ADD CONSTRAINT process_instances_pkey PRIMARY KEY (process_instance_key, partition_id);
ALTER TABLE element_instances
    DROP CONSTRAINT element_instances_pkey,
    ADD CONSTRAINT element_instances_pkey PRIMARY KEY (element_instance_key, partition_id);
ALTER TABLE variables
    DROP CONSTRAINT variables_of_scopes,
    ADD CONSTRAINT variables_of_scopes UNIQUE (process_instance_key, scope_key, name, partition_id);
ALTER TABLE variables DROP CONSTRAINT variables_pkey, ADD CONSTRAINT variables_pkey PRIMARY KEY (variable_key, partition_id);
ALTER TABLE jobs DROP CONSTRAINT jobs_pkey, ADD CONSTRAINT jobs_pkey PRIMARY KEY (job_key, partition_id);
ALTER TABLE incidents DROP CONSTRAINT incidents_pkey, ADD CONSTRAINT incidents_pkey PRIMARY KEY (incident_key, partition_id);
ALTER TABLE user_tasks
    DROP CONSTRAINT user_tasks_pkey, ADD CONSTRAINT user_tasks_pkey PRIMARY KEY (user_task_key, partition_id);
ALTER TABLE user_task_comments
    DROP CONSTRAINT user_task_comments_pkey,
    ADD CONSTRAINT user_task_comments_pkey PRIMARY KEY (user_task_key, comment_key, partition_id);
ALTER TABLE agent_calls
    DROP CONSTRAINT agent_calls_pkey, ADD CONSTRAINT agent_calls_pkey PRIMARY KEY (job_key, call_id, partition_id);
ALTER TABLE agent_answers
    DROP CONSTRAINT agent_answers_pkey, ADD CONSTRAINT agent_answers_pkey PRIMARY KEY (job_key, digest, partition_id);
ALTER TABLE timers DROP CONSTRAINT timers_pkey, ADD CONSTRAINT timers_pkey PRIMARY KEY (timer_key, partition_id);
DROP INDEX timers_pending_target;
CREATE UNIQUE INDEX timers_pending_target ON timers (element_instance_key, target_element_id, partition_id)
    WHERE state = 'PENDING' AND element_instance_key IS NOT NULL;
ALTER TABLE stuck_timers
    DROP CONSTRAINT stuck_timers_pkey, ADD CONSTRAINT stuck_timers_pkey PRIMARY KEY (timer_key, due_at_ms, partition_id);
ALTER TABLE subscriptions
    DROP CONSTRAINT subscriptions_pkey, ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (subscription_key, partition_id);
ALTER TABLE loop_items
    DROP CONSTRAINT loop_items_pkey, ADD CONSTRAINT loop_items_pkey PRIMARY KEY (body_key, index, partition_id);
ALTER TABLE paged_loop_items
    DROP CONSTRAINT paged_loop_items_pkey, ADD CONSTRAINT paged_loop_items_pkey PRIMARY KEY (body_key, first, partition_id);
ALTER TABLE work_items
    DROP CONSTRAINT work_items_pkey,
    ADD CONSTRAINT work_items_pkey PRIMARY KEY (process_instance_key, suspended, number, partition_id);
ALTER TABLE message_correlations
    DROP CONSTRAINT message_correlations_pkey,
    ADD CONSTRAINT message_correlations_pkey PRIMARY KEY (message_correlation_key, partition_id);
ALTER TABLE compensations
    DROP CONSTRAINT compensations_pkey, ADD CONSTRAINT compensations_pkey PRIMARY KEY (compensation_key, partition_id);
ALTER TABLE decision_instances
    DROP CONSTRAINT decision_instances_pkey,
    ADD CONSTRAINT decision_instances_pkey PRIMARY KEY (decision_instance_key, partition_id);
ALTER TABLE messages DROP CONSTRAINT messages_pkey, ADD CONSTRAINT messages_pkey PRIMARY KEY (message_key, partition_id);
ALTER TABLE channel_subscriptions
    DROP CONSTRAINT channel_subscriptions_pkey,
    ADD CONSTRAINT channel_subscriptions_pkey PRIMARY KEY (subscription_key, partition_id);
ALTER TABLE start_locks
    DROP CONSTRAINT start_locks_pkey, ADD CONSTRAINT start_locks_pkey PRIMARY KEY (process_instance_key, partition_id);

-- Citus has no triggers on distributed tables. These count what is deleted, and let documents of deleted rows expire: the
-- statements that delete rows must do so instead.
DROP TRIGGER process_instances_deleted ON process_instances;
DROP TRIGGER user_tasks_deleted ON user_tasks;
DROP TRIGGER decision_instances_deleted ON decision_instances;
DROP TRIGGER messages_deleted ON messages;

-- Functions in statements that a worker runs.
SELECT create_distributed_function('clock_now()');
SELECT create_distributed_function('from_epoch_ms(bigint)');
SELECT create_distributed_function('to_epoch_ms(timestamptz)');
SELECT create_distributed_function('slot_of(text, text)');
SELECT create_distributed_function('headers_with_trace(json, text)');
SELECT create_distributed_function('task_of_listener(json)');
SELECT create_distributed_function('variables_of_listener(bigint, text)');
SELECT create_distributed_function('job_as_shown(jobs, text, boolean)');

-- The catalogue, the clock, and what activation reads: each worker has a copy.
SELECT create_reference_table('clock');
SELECT create_reference_table('definitions_seq');
SELECT create_reference_table('deployments');
SELECT create_reference_table('process_definitions');
SELECT create_reference_table('resources');
SELECT create_reference_table('forms');
SELECT create_reference_table('generic_resources');
SELECT create_reference_table('start_subscriptions');
SELECT create_reference_table('decision_requirements');
SELECT create_reference_table('decision_definitions');
SELECT create_reference_table('global_task_listeners');
SELECT create_reference_table('cluster_variables');
SELECT create_reference_table('void_leases');

-- One group of shards: the rows of a partition are on one worker, whatever their table.
SELECT create_distributed_table('command_log', 'partition_id', colocate_with => 'none', shard_count => 128);
SELECT create_distributed_table('attempts', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('batches', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('event_log', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('event_consumers', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('outbox_deliveries', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('element_counts', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('element_count_changes', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('element_count_totals', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('element_durations', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('instance_counts', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('instance_durations', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('job_counts', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('job_count_changes', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('job_count_totals', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('slot_detours', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('retention_clocks', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('archive_files', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('unhashed_variables', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('inbox', 'target_partition', colocate_with => 'command_log');
SELECT create_distributed_table('transaction_inbox', 'target_partition', colocate_with => 'command_log');
SELECT create_distributed_table('transaction_outcomes', 'target_partition', colocate_with => 'command_log');
SELECT create_distributed_table('deleted_trees', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('archive_erasures', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('process_instances', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('element_instances', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('variables', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('jobs', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('incidents', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('user_tasks', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('user_task_comments', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('agent_calls', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('agent_answers', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('timers', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('stuck_timers', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('subscriptions', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('loop_items', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('paged_loop_items', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('work_items', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('message_correlations', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('compensations', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('decision_instances', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('messages', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('channel_subscriptions', 'partition_id', colocate_with => 'command_log');
SELECT create_distributed_table('start_locks', 'partition_id', colocate_with => 'command_log');

-- All other tables stay at the coordinator, with their triggers and notifications: access, the cluster, background jobs,
-- documents, batch operations, keys of requests.

COMMIT;
