-- Levels of single loggers that an operator has changed at a node while it runs (docs/observability.md).

-- By logger, for example {"vivero.engine": "debug"}. They end with the node: a restarted program is another one.
ALTER TABLE nodes ADD COLUMN log_levels json NOT NULL DEFAULT '{}';
