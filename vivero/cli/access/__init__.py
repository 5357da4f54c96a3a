"""Commands for users, tokens, roles and tenants. They work on the database itself.

Entry: `identities`, `tenants`.
Imports: core, storage, api, shared, terminal.
"""
