-- Who may use the API: users, API tokens, groups, roles, mapping rules, tenants, sessions, and what they may do. And who changed
-- what.

-- The column `key` orders the rows of a search and is the place in its cursors.
CREATE TABLE users (
    username      text PRIMARY KEY,
    key           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name          text,
    email         text,
    password_hash text NOT NULL
);

CREATE TABLE user_groups (
    group_id    text PRIMARY KEY,
    key         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name        text NOT NULL,
    description text
);

-- The permissions of built-in roles are in the program. `built_in` rows cannot be changed or deleted.
CREATE TABLE roles (
    role_id     text PRIMARY KEY,
    key         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name        text NOT NULL,
    description text,
    built_in    boolean NOT NULL DEFAULT false
);

INSERT INTO roles (role_id, name, description, built_in) VALUES
    ('admin', 'Admin', 'May do everything', true),
    ('operator', 'Operator', 'Watches and repairs running processes', true),
    ('developer', 'Developer', 'Deploys and starts processes', true),
    ('worker', 'Worker', 'Works on jobs', true),
    ('viewer', 'Viewer', 'Reads processes and their data', true);

-- A bearer token with this claim has the rights of the rule.
CREATE TABLE mapping_rules (
    mapping_rule_id text PRIMARY KEY,
    key             bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name            text NOT NULL,
    claim_name      text NOT NULL,
    claim_value     text NOT NULL,
    UNIQUE (claim_name, claim_value)
);

CREATE TABLE tenants (
    tenant_id   text PRIMARY KEY,
    key         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name        text NOT NULL,
    description text
);

INSERT INTO tenants (tenant_id, name) VALUES ('<default>', 'Default');

-- New work of the tenant begins in these partitions. Without a row: in all. A later tenant with the same id begins in all
-- partitions.
CREATE TABLE tenant_partitions (
    tenant_id    text NOT NULL,
    partition_id int NOT NULL,
    PRIMARY KEY (tenant_id, partition_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants ON DELETE CASCADE
);

-- Roles, groups and tenants have members. A member need not be a row here: users and clients of an identity provider are none.
CREATE TABLE members (
    container_type text NOT NULL CHECK (container_type IN ('ROLE', 'GROUP', 'TENANT')),
    container_id   text NOT NULL,
    member_type    text NOT NULL CHECK (member_type IN ('USER', 'CLIENT', 'GROUP', 'ROLE', 'MAPPING_RULE')),
    member_id      text NOT NULL,
    key            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    PRIMARY KEY (container_type, container_id, member_type, member_id)
);
CREATE INDEX members_by_member ON members (member_type, member_id);

-- A grant names resources by an id, or user tasks by a property: those whose assignee or candidate the caller is.
CREATE TABLE authorizations (
    authorization_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_type        text NOT NULL CHECK (owner_type IN ('USER', 'CLIENT', 'ROLE', 'GROUP', 'MAPPING_RULE')),
    owner_id          text NOT NULL,
    resource_type     text NOT NULL,
    resource_id       text,
    permission_types  text[] NOT NULL,
    resource_property_name text,
    CHECK (num_nonnulls(resource_id, resource_property_name) = 1)
);
CREATE INDEX authorizations_by_owner ON authorizations (owner_type, owner_id);

-- Only the hash of a token is stored; the API names it by its key. A token carries its roles and tenants itself, so no other
-- identity can take its name. Without an owner it is a program's, with roles that an administrator chose. An owner of an identity
-- provider may have the name of one of our users.
CREATE TABLE api_tokens (
    name         text PRIMARY KEY,
    sha256       bytea NOT NULL UNIQUE,
    roles        text[] NOT NULL,
    tenants      text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    key          bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    owner        text,
    owner_provider text CHECK (owner_provider IN ('PASSWORD', 'OIDC'))
);
CREATE INDEX api_tokens_by_owner ON api_tokens (owner, owner_provider) WHERE owner IS NOT NULL;

-- Sessions of browsers. The id is in a cookie; only its hash is stored, and the API names a session by its key. Every node knows
-- all sessions.
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
    expires_at timestamptz NOT NULL,
    key        bigint GENERATED ALWAYS AS IDENTITY UNIQUE
);
CREATE INDEX sessions_by_user ON sessions (username, provider);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Nodes remember for some seconds what a caller may do. Every change tells them at once.
CREATE FUNCTION notify_identities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('vivero_identities', '');
    RETURN NULL;
END $$;

CREATE TRIGGER users_changed AFTER INSERT OR UPDATE OR DELETE ON users EXECUTE FUNCTION notify_identities();
CREATE TRIGGER groups_changed AFTER INSERT OR UPDATE OR DELETE ON user_groups EXECUTE FUNCTION notify_identities();
CREATE TRIGGER roles_changed AFTER INSERT OR UPDATE OR DELETE ON roles EXECUTE FUNCTION notify_identities();
CREATE TRIGGER mapping_rules_changed AFTER INSERT OR UPDATE OR DELETE ON mapping_rules EXECUTE FUNCTION notify_identities();
CREATE TRIGGER tenants_changed AFTER INSERT OR UPDATE OR DELETE ON tenants EXECUTE FUNCTION notify_identities();
CREATE TRIGGER members_changed AFTER INSERT OR UPDATE OR DELETE ON members EXECUTE FUNCTION notify_identities();
CREATE TRIGGER authorizations_changed AFTER INSERT OR UPDATE OR DELETE ON authorizations EXECUTE FUNCTION notify_identities();
-- The time of the last use is no change.
CREATE TRIGGER api_tokens_changed AFTER INSERT OR UPDATE OF sha256, roles, tenants, expires_at OR DELETE ON api_tokens
    EXECUTE FUNCTION notify_identities();

-- The end of a session that could still be in use tells all nodes, which remember callers for some seconds. It is no change of
-- rights: nodes forget the callers with sessions, and long polls go on.
CREATE FUNCTION notify_ended_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > clock_timestamp()) THEN
        PERFORM pg_notify('vivero_identities', 'sessions');
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

-- A user takes its tokens along.
CREATE FUNCTION revoke_tokens_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM api_tokens WHERE owner = OLD.username AND owner_provider = 'PASSWORD';
    RETURN NULL;
END $$;
CREATE TRIGGER user_deleted_with_tokens AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION revoke_tokens_of_user();

-- The audit log. Times are the database's and not the engine's, which can be set. Rows have no variables, bodies, passwords or
-- tokens.
CREATE TABLE audit_log (
    audit_log_key          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                     timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_type             text NOT NULL CHECK (actor_type IN ('ANONYMOUS', 'CLIENT', 'UNKNOWN', 'USER')),
    actor_id               text,
    address                text,
    category               text NOT NULL,
    entity_type            text NOT NULL,
    entity_key             text NOT NULL,
    operation              text NOT NULL,
    result                 text NOT NULL CHECK (result IN ('FAIL', 'SUCCESS')),
    description            text,
    related_type           text,
    related_key            text,
    tenant_id              text,
    -- The command's position in the log; NULL for a change that is no command.
    position               bigint,
    root_key               bigint,
    process_instance_key   bigint,
    process_definition_key bigint,
    process_id             text,
    element_instance_key   bigint,
    job_key                bigint,
    user_task_key          bigint,
    deployment_key         bigint,
    resource_key           bigint,
    -- The record of a change that a batch operation made names it.
    batch_operation_key    bigint,
    batch_operation_type   text,
    -- Who verified the actor: PASSWORD (this server), OIDC (the identity provider) or TOKEN (an API token). A user of the
    -- provider may have the name that a local user had earlier or gets later. Older rows do not tell.
    actor_provider         text
);
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_actor ON audit_log (actor_id);
CREATE INDEX audit_log_entity ON audit_log (entity_key);
CREATE INDEX audit_log_instance ON audit_log (process_instance_key) WHERE process_instance_key IS NOT NULL;
CREATE INDEX audit_log_user_task ON audit_log (user_task_key) WHERE user_task_key IS NOT NULL;
CREATE INDEX audit_log_batch ON audit_log (batch_operation_key) WHERE batch_operation_key IS NOT NULL;
