"""Commands that need no server of their own: expressions, decisions, completion, psql.

Entry: `feel`, `evaluate`, `completion`.
Imports: core, config, embedded, library, server, shared, terminal.
"""
