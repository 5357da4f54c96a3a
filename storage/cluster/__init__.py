"""Nodes and partitions: who leads which, routes, the engine's clock, and the maintenance of a partition's tables.

Entry: `leadership.claim`, `nodes`, `clock`.
Imports: core, postgres, schema.
"""
