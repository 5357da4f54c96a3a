-- Deployed files that nothing refers to any more: since when, as the chore that deletes them found. A deployment of the same
-- bytes begins anew.
ALTER TABLE resources ADD COLUMN unused_since timestamptz;
CREATE INDEX resources_unused ON resources (unused_since) WHERE unused_since IS NOT NULL;

-- Files that decisions import. They stay as long as these.
CREATE INDEX decision_definitions_imports ON decision_definitions USING gin (imports) WHERE imports <> '{}';
