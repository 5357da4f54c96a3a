-- Elements (ids) after which an instance is terminated; NULL where there are none, which is nearly everywhere.
ALTER TABLE process_instances ADD COLUMN terminate_after text[];
