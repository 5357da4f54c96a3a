"""What a request knows of its caller: identity, permissions, and what the audit log will say.

Entry: `caller.Caller`, `permissions`.
Imports: core, storage.
"""
