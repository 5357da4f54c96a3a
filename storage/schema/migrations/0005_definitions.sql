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
    UNIQUE (tenant_id, process_id, version)
);
