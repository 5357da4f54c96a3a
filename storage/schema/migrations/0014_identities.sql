-- Who may use the API: users, API tokens, groups, roles, mapping rules, tenants, and what they may do.

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

CREATE TABLE authorizations (
    authorization_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_type        text NOT NULL CHECK (owner_type IN ('USER', 'CLIENT', 'ROLE', 'GROUP', 'MAPPING_RULE')),
    owner_id          text NOT NULL,
    resource_type     text NOT NULL,
    resource_id       text NOT NULL,
    permission_types  text[] NOT NULL
);
CREATE INDEX authorizations_by_owner ON authorizations (owner_type, owner_id);

-- Only the hash of a token is stored. A token carries its roles and tenants itself, so no other identity can take its name.
CREATE TABLE api_tokens (
    name         text PRIMARY KEY,
    sha256       bytea NOT NULL UNIQUE,
    roles        text[] NOT NULL,
    tenants      text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    last_used_at timestamptz
);

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
