"""The log consumer of a partition: leadership, terms, batches, quanta, and rejected commands."""
