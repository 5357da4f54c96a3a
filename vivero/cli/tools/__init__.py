"""Commands that need no server of their own: expressions, completion, psql.

Entry: `feel`, `completion`.
Imports: core, embedded, server, shared.
"""
