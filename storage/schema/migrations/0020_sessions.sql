-- Sessions of browsers. The id is in a cookie; only its hash is stored. Every node knows all sessions.

CREATE TABLE sessions (
    sha256     bytea PRIMARY KEY,
    username   text NOT NULL,
    -- Users of an identity provider may have the names of ours; `claims` are theirs, as JSON, for mapping rules.
    provider   text NOT NULL CHECK (provider IN ('PASSWORD', 'OIDC')),
    name       text,
    email      text,
    claims     text NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (username, provider);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- The end of a session that could still be in use tells all nodes, which remember callers for some seconds.
CREATE FUNCTION notify_ended_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > clock_timestamp()) THEN
        PERFORM pg_notify('vivero_identities', '');
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER sessions_ended AFTER DELETE ON sessions REFERENCING OLD TABLE AS ended
    FOR EACH STATEMENT EXECUTE FUNCTION notify_ended_sessions();

-- A new password ends the sessions of the old one, whoever sets it.
CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sessions WHERE username = OLD.username AND provider = 'PASSWORD';
    RETURN NULL;
END $$;

CREATE TRIGGER password_changed AFTER UPDATE OF password_hash ON users FOR EACH ROW
    WHEN (OLD.password_hash IS DISTINCT FROM NEW.password_hash) EXECUTE FUNCTION end_sessions();
CREATE TRIGGER user_deleted AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION end_sessions();
