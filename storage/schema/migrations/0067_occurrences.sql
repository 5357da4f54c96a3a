-- Events that wait until all of their definitions have occurred: the variables of those that have, by event.

ALTER TABLE process_instances ADD COLUMN occurrences json;
ALTER TABLE element_instances ADD COLUMN occurrences json;
