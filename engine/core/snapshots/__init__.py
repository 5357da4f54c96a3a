"""Snapshots: an instance tree as a JSON document, and back (docs/snapshots.md)."""
