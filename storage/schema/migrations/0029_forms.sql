-- Versions of forms, and the forms that clients show before they start a process. Partition 1 alone writes them.

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

ALTER TABLE process_definitions
    ADD COLUMN start_form_id text,
    ADD COLUMN start_form_binding text,
    ADD COLUMN start_form_version_tag text,
    ADD CHECK ((start_form_id IS NULL) = (start_form_binding IS NULL));
