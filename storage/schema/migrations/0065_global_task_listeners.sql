-- Task listeners of the whole cluster: a part of the catalogue, which belongs to no tenant.
CREATE TABLE global_task_listeners (
    key              bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id               text NOT NULL UNIQUE,
    type             text NOT NULL,
    retries          int NOT NULL,
    priority         int NOT NULL,
    after_non_global boolean NOT NULL,
    -- As in the API: `all`, or events in small letters.
    event_types      text[] NOT NULL
);
