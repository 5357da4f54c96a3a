-- Cluster variables: a part of the catalogue that requests change. Expressions read them.
CREATE TABLE cluster_variables (
    key       bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    -- The empty text: of the whole cluster, which every tenant sees.
    tenant_id text NOT NULL,
    name      text NOT NULL,
    -- JSON as it was sent, and its normal form, which filters compare.
    value     text NOT NULL,
    normal    text NOT NULL,
    metadata  jsonb NOT NULL,
    UNIQUE (tenant_id, name)
);
CREATE INDEX cluster_variables_name ON cluster_variables (name);
