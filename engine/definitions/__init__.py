"""Parsed models in memory: a file is parsed once, and its models are found in O(1).

Entry: `cache.DefinitionCache`, `warm_up`.
Imports: core, storage, compute, counters, supervision.
"""
