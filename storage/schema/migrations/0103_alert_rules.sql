-- Alert rules that people make: a condition on a figure of a tenant, and the URL that hears of its beginning and its end
-- (docs/alert-rules.md). They do not go through the log. Times are those of the database, except for ages of instances.
CREATE TABLE alert_rules (
    alert_rule_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id      text NOT NULL,
    name           text NOT NULL,
    process_id     text NOT NULL, -- empty: all processes of the tenant
    metric         text NOT NULL,
    threshold      bigint NOT NULL,
    clears_at      bigint NOT NULL,
    every_s        int NOT NULL,
    url            text NOT NULL,
    secret         text, -- name of the connectors' secret that signs
    made_by        text NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    muted_until    timestamptz,
    revision       bigint NOT NULL DEFAULT 0, -- of each change and evaluation: of two at once, one happens
    next_at        timestamptz NOT NULL,
    evaluated_at   timestamptz,
    value          bigint,
    error          text,
    is_raised      boolean NOT NULL DEFAULT false,
    is_told        boolean NOT NULL DEFAULT false, -- what the newest delivery said
    since          timestamptz NOT NULL,
    UNIQUE (tenant_id, name)
) WITH (fillfactor = 50);

-- The notices of rules. The revision of the evaluation makes the id: an evaluation that a crash took gives the same one again.
CREATE TABLE alert_deliveries (
    alert_rule_key bigint NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
    revision       bigint NOT NULL,
    kind           text NOT NULL,
    value          bigint,
    state          text NOT NULL,
    made_at        timestamptz NOT NULL,
    due_at         timestamptz NOT NULL,
    attempts       int NOT NULL DEFAULT 0,
    ended_at       timestamptz,
    error          text,
    PRIMARY KEY (alert_rule_key, revision)
) WITH (fillfactor = 50);
CREATE INDEX alert_deliveries_pending ON alert_deliveries (alert_rule_key, revision) WHERE state = 'PENDING';
