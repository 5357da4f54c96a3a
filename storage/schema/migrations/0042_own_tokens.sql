-- Sessions and API tokens get keys, by which the API names them and their hashes stay secret. A token may belong to a user.

ALTER TABLE sessions ADD COLUMN key bigint GENERATED ALWAYS AS IDENTITY UNIQUE;

-- Without an owner it is a program's, with roles that an administrator chose. An owner of an identity provider may have the name of
-- one of our users.
ALTER TABLE api_tokens
    ADD COLUMN key bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN owner text,
    ADD COLUMN owner_provider text CHECK (owner_provider IN ('PASSWORD', 'OIDC'));
CREATE INDEX api_tokens_by_owner ON api_tokens (owner, owner_provider) WHERE owner IS NOT NULL;

-- A user takes its tokens along.
CREATE FUNCTION revoke_tokens_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM api_tokens WHERE owner = OLD.username AND owner_provider = 'PASSWORD';
    RETURN NULL;
END $$;
CREATE TRIGGER user_deleted_with_tokens AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION revoke_tokens_of_user();
