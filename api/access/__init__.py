"""Access: who a caller is, what each route needs, sign-ins and tokens, tenants, and records of the audit log.

Entry: `authentication.Authenticator`, `needs.authorise`.
Imports: core, storage, engine, callers, http.
"""
