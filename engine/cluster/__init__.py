"""The nodes of a cluster: heartbeats, which of them leads which partition, handing over, new partitions.

Entry: `task.Cluster`.
Imports: core, storage, appender, supervision.
"""
