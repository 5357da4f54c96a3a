"""Long polls for jobs: one queue for each job type and tenant, served by whoever leads a partition.

Entry: `long_polls.LongPolls`.
Imports: core, storage, engine, http.
"""
