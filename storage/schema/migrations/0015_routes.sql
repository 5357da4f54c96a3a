-- Routes: moves of slots that are under way, and the partitions of tenants.

-- Slots moved from the partition `previous`. This sender still reaches them by way of it, or holds its commands in the inbox of the
-- partition `-partition_id`, which nobody forwards. One move at a time, so each sender has one row.
CREATE TABLE slot_detours (
    partition_id int PRIMARY KEY,
    previous     int NOT NULL,
    slots        smallint[] NOT NULL,
    held         boolean NOT NULL
);

-- New work of the tenant begins in these partitions. Without a row: in all.
CREATE TABLE tenant_partitions (
    tenant_id    text NOT NULL,
    partition_id int NOT NULL,
    PRIMARY KEY (tenant_id, partition_id)
);
