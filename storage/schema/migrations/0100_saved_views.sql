-- Views of lists that people save: filters, order and columns (docs/console.md). A view belongs to a person in a tenant.
-- A shared one is for all people of the tenant who may read the list. They do not go through the log: the engine never
-- reads them.
CREATE TABLE saved_views (
    view_key       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id      text NOT NULL,
    owner_type     text NOT NULL,
    owner_id       text NOT NULL,
    owner_provider text NOT NULL,
    resource       text NOT NULL,
    name           text NOT NULL,
    query          text NOT NULL,
    is_shared      boolean NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    UNIQUE (owner_type, owner_id, owner_provider, tenant_id, resource, name)
);
CREATE INDEX saved_views_shared ON saved_views (tenant_id) WHERE is_shared;
