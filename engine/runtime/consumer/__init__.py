"""The log consumer of a partition: leadership, terms, batches, slices, and what is refused."""
