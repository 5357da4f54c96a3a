-- The catalogue: deployed files and process definitions. Partition 1 alone writes it, and all partitions read it.

-- One row: n rises with each deployment and deletion, so that caches notice.
CREATE TABLE definitions_seq (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    n   bigint NOT NULL DEFAULT 0
);
INSERT INTO definitions_seq DEFAULT VALUES;

-- Deployed files by content, stored before the command that names them.
CREATE TABLE resources (
    sha256    text PRIMARY KEY,
    bytes     bytea NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE deployments (
    deployment_key bigint PRIMARY KEY,
    tenant_id      text NOT NULL,
    deployed_at    timestamptz NOT NULL
);

CREATE TABLE process_definitions (
    process_definition_key bigint PRIMARY KEY,
    deployment_key         bigint NOT NULL,
    tenant_id              text NOT NULL,
    process_id             text NOT NULL,
    version                int NOT NULL,
    name                   text,
    version_tag            text,
    resource_name          text NOT NULL,
    sha256                 text NOT NULL,
    -- DRAINING: deleted, but instances of it still run.
    state                  text NOT NULL CHECK (state IN ('ACTIVE', 'DRAINING', 'DELETED')),
    deployed_at            timestamptz NOT NULL,
    -- The form that clients show before they start the process.
    start_form_id          text,
    start_form_binding     text,
    start_form_version_tag text,
    -- How long ended instances stay, as the model says; NULL: as the settings say.
    retention_ms           bigint,
    CHECK ((start_form_id IS NULL) = (start_form_binding IS NULL)),
    UNIQUE (tenant_id, process_id, version)
);

-- A deployed file belongs to the tenants that have a definition from it.
CREATE INDEX process_definitions_resource ON process_definitions (sha256);

-- Versions of forms.
CREATE TABLE forms (
    form_key       bigint PRIMARY KEY,
    deployment_key bigint NOT NULL,
    tenant_id      text NOT NULL,
    form_id        text NOT NULL,
    version        int NOT NULL,
    version_tag    text,
    resource_name  text NOT NULL,
    sha256         text NOT NULL,
    -- A deleted form stays for the tasks that have it.
    state          text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    deployed_at    timestamptz NOT NULL,
    UNIQUE (tenant_id, form_id, version)
);
-- A deployed file belongs to the tenants that have a form from it, too.
CREATE INDEX forms_resource ON forms (sha256);
