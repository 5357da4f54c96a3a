"""Reads that are no searches, one statement each, and the figures of the database.

Entry: `single_reads`, `latest_changes`, `figures`.
Imports: core, access, cluster, postgres, retention, schema, state.
"""
