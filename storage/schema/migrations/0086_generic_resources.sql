-- Versions of generic resources: deployed files of other kinds than models, forms and decisions.
CREATE TABLE generic_resources (
    resource_key   bigint PRIMARY KEY,
    deployment_key bigint NOT NULL,
    tenant_id      text NOT NULL,
    resource_id    text NOT NULL,
    version        int NOT NULL,
    version_tag    text,
    resource_name  text NOT NULL,
    sha256         text NOT NULL,
    -- A deleted version stays, so that its number is not given again.
    state          text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    deployed_at    timestamptz NOT NULL,
    UNIQUE (tenant_id, resource_id, version)
);
-- A deployed file belongs to the tenants that have a generic resource from it, too.
CREATE INDEX generic_resources_resource ON generic_resources (sha256);
-- A deployment looks up the resources of an earlier one, to learn whether it repeats that one.
CREATE INDEX generic_resources_deployment ON generic_resources (deployment_key);
