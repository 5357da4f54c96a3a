"""Reads that are no searches, one statement each, and the figures of the database.

Entry: `single_reads`, `figures`.
Imports: access, cluster, postgres, retention, schema.
"""
