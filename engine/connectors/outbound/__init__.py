"""Outbound connectors: one file each, with what the node gives them. They are imported with their first job.

Entry: `types.TypeWork`, `surroundings.Surroundings`, `http_json`.
Imports: core, storage, appender, compute, contracts, documents, http, jobs, outcomes, work.
"""
