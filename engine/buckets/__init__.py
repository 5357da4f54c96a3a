"""Buckets of S3-compatible stores, for the archive and for documents: their names, and a client with limits.

Entry: `locations.bucket_and_prefix`, `client.Bucket`, `client.connect`.
Imports: nothing of ours.
"""
