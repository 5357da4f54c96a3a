-- Task listeners of the whole cluster that the settings file has: the API shows them, and does not change them.
ALTER TABLE global_task_listeners ADD COLUMN source text NOT NULL DEFAULT 'API';
