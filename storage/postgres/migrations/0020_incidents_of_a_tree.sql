-- The incidents of a process instance are those of all that it called, too, and resolved ones are asked for as well.
CREATE INDEX incidents_root ON incidents (root_key, incident_key);
