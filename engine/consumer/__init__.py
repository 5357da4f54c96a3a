"""The log consumer of a partition: leadership, terms, batches, quanta, and rejected commands.

Entry: `leadership.Consumer`, `term.Term`.
Imports: core, storage, cluster, counters, definitions, supervision, tracing.
"""
