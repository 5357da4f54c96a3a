-- Items of loops over very many: many a row, a JSON array of their JSON texts. `first`: the index of the row's first.
-- `loop_items` has their results, and of other loops both.
CREATE TABLE paged_loop_items (
    body_key bigint NOT NULL,
    first    int NOT NULL,
    items    text NOT NULL,
    PRIMARY KEY (body_key, first)
);

INSERT INTO paged_loop_items (body_key, first, items)
SELECT l.body_key, l.index / 100 * 100, json_agg(l.item ORDER BY l.index)::text
FROM loop_items l JOIN element_instances e ON e.element_instance_key = l.body_key
WHERE e.ended_at IS NULL AND (e.loop ->> 'paged')::boolean
GROUP BY l.body_key, l.index / 100 * 100;

ALTER TABLE loop_items ALTER COLUMN item DROP NOT NULL;

-- A command is written and read once: compressing a large one held up those behind it.
ALTER TABLE command_log ALTER COLUMN payload SET STORAGE EXTERNAL;
