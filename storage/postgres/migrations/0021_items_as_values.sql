-- The rows of `paged_loop_items` are arrays of the items, no longer of their JSON texts: a loop over a variable begins with pieces
-- of its value. `json` keeps each item as it was written.
UPDATE paged_loop_items SET items = (
    SELECT '[' || string_agg(item, ',' ORDER BY number) || ']'
    FROM json_array_elements_text(items::json) WITH ORDINALITY AS t(item, number));
