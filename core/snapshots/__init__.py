"""Snapshots: an instance tree as a JSON document, and back (docs/snapshots.md).

Entry: `codec.encode`, `codec.decode`.
Imports: bpmn, state.
"""
