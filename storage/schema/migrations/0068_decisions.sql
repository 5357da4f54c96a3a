-- Versions of decisions, and of the files that have them (decision requirements).
CREATE TABLE decision_requirements (
    decision_requirements_key bigint PRIMARY KEY,
    deployment_key            bigint NOT NULL,
    tenant_id                 text NOT NULL,
    requirements_id           text NOT NULL,
    version                   int NOT NULL,
    name                      text NOT NULL,
    resource_name             text NOT NULL,
    sha256                    text NOT NULL,
    state                     text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    deployed_at               timestamptz NOT NULL,
    UNIQUE (tenant_id, requirements_id, version)
);
-- A deployed file belongs to the tenants that have decisions from it, too.
CREATE INDEX decision_requirements_resource ON decision_requirements (sha256);

CREATE TABLE decision_definitions (
    decision_definition_key   bigint PRIMARY KEY,
    deployment_key            bigint NOT NULL,
    tenant_id                 text NOT NULL,
    decision_id               text NOT NULL,
    version                   int NOT NULL,
    name                      text NOT NULL,
    version_tag               text,
    decision_requirements_key bigint NOT NULL,
    -- The files that define the decision: its own one, and those that it imports.
    sha256                    text NOT NULL,
    imports                   text[] NOT NULL,
    -- A deleted decision stays, for what it has decided.
    state                     text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    deployed_at               timestamptz NOT NULL,
    UNIQUE (tenant_id, decision_id, version)
);
CREATE INDEX decision_definitions_requirements ON decision_definitions (decision_requirements_key);
