"""The caller of a request: its identity, its permissions, and the record of it in the audit log.

Entry: `caller.Caller`, `permissions`.
Imports: core, storage.
"""
