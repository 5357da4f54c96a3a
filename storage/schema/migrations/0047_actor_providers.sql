-- Who verified an actor: PASSWORD (this server), OIDC (the identity provider) or TOKEN (an API token). A user of the provider may have
-- the name that a local user had earlier or gets later. Older rows do not tell.

ALTER TABLE audit_log ADD COLUMN actor_provider text;
ALTER TABLE batch_operations ADD COLUMN actor_provider text;
