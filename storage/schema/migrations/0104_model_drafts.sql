-- Drafts of models that people edit in the console and have not deployed yet (docs/rest-api.md). They belong to a tenant:
-- all who may deploy there see and change them. They do not go through the log: the engine never reads them.
CREATE TABLE model_drafts (
    draft_key  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  text NOT NULL,
    name       text NOT NULL,
    content    text NOT NULL,
    version    bigint NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_by text NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX model_drafts_of_tenant ON model_drafts (tenant_id);
