-- Inbound connectors that a node works: polls, mailboxes, topics, queues (docs/connectors.md). The engine never reads it. A row
-- for each element of a model; the node that works them all writes it, and deletes those of elements that are gone. `error` has
-- no values of variables.
CREATE TABLE inbound_connectors (
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    tenant_id              text NOT NULL,
    process_id             text NOT NULL,
    type                   text NOT NULL,
    state                  text NOT NULL,
    waiting                integer NOT NULL,
    events                 bigint NOT NULL,
    errors                 bigint NOT NULL,
    event_at               timestamptz,
    error_at               timestamptz,
    error                  text,
    node                   text NOT NULL,
    updated_at             timestamptz NOT NULL,
    PRIMARY KEY (process_definition_key, element_id)
);
