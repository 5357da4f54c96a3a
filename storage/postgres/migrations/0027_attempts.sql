-- Attempts at commands that may be what ends terms (docs/adr/0014-count-attempts.md). Written only while commands are tried
-- one by one; a row goes in the commit that passes it.
CREATE TABLE attempts (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    -- Up to here commands are tried one by one: `position` itself, or the end of a batch that the watchdog ended.
    until        bigint NOT NULL,
    begun        int NOT NULL,
    -- The term of the latest attempt, and whether nothing is known yet of how it ended.
    epoch        bigint NOT NULL,
    open         boolean NOT NULL,
    -- What ended those attempts that count.
    causes       text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_id, position)
);
