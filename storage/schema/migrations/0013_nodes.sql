-- The running nodes of the cluster, and terms that ended by handing a partition over.

CREATE TABLE nodes (
    -- Unique to a running program: a restarted one is another node.
    id            text PRIMARY KEY,
    number        int GENERATED ALWAYS AS IDENTITY,
    roles         text[] NOT NULL,
    version       text NOT NULL,
    schema        int NOT NULL,
    host          text NOT NULL,
    port          int NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The session of the heartbeats. A killed program loses it at once.
    pid           int NOT NULL,
    backend_start timestamptz NOT NULL,
    -- An operator asked that the node lead nothing.
    draining      boolean NOT NULL DEFAULT false,
    -- Partitions of other nodes that this node is ready to lead at once.
    ready         int[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- The last epoch that handed the partition over. A term that ended in this way leaves no suspicion about the next commands.
ALTER TABLE partitions ADD COLUMN handed_over bigint NOT NULL DEFAULT 0;
