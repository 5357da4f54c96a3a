"""Dry runs of commands on process instances: on a copy from one snapshot of the database, in a compute process.

Entry: `dry_runs.DryRuns`.
Imports: core, storage, compute.
"""
