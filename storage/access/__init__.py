"""People and tenants: users, tokens, roles, sessions, what a tenant's reader sees, and the audit log.

Entry: `identities`, `row_security`, `audit_log`.
Imports: core, cluster, postgres, schema.
"""
