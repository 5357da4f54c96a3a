-- Of a root: its live elements and process instances that are loaded in parts, each by itself. Of trees that were running
-- when this column came they are counted from then on.
ALTER TABLE process_instances ADD COLUMN in_parts int NOT NULL DEFAULT 0;
