"""The archive of ended instance trees, in a directory or an S3-compatible store (docs/operations/archive.md).

Entry: `archive.Archive`.
Imports: core, storage, buckets, jobs.
"""
