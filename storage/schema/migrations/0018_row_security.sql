-- What row-level security needs. Its policies are made when multi-tenancy is switched on (storage/row_security.py).

-- A view must show what its reader may see, not what its owner may.
ALTER VIEW message_subscriptions SET (security_invoker = true);
ALTER VIEW counted_elements SET (security_invoker = true);

-- A deployed file belongs to the tenants that have a definition from it.
CREATE INDEX process_definitions_resource ON process_definitions (sha256);
