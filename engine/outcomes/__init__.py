"""Requests that wait: their channels, and the task that sends outcomes and ends through them.

Entry: `completions.Completions`, `replies`.
Imports: core, storage, supervision.
"""
