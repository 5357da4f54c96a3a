"""The engine's state and its tables: what a batch loads and saves.

Entry: `load.fill`, `save.statements_of`.
Imports: core, access, cluster, postgres.
"""
