"""The state of a partition in memory: rows by aggregate, with undo.

Entry: `state.State`, `instance_tree`.
Imports: bpmn, feel, partitions, records.
"""
