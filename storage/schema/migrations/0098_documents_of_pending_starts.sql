-- Documents that came with a message. They go with it if it is deleted before any process has got it: nothing refers to them. If
-- several have got it, one of which may be a pending start that ends without an instance, they stay.
-- Chores delete messages, and erasures: never a batch. By the index, whatever the tables contained when the plan was made.
CREATE OR REPLACE FUNCTION end_documents_of_messages() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE documents d SET expires_at = '-infinity'
    WHERE d.message_key = ANY (ARRAY(SELECT g.message_key FROM gone g WHERE g.given = '{}'));
    UPDATE documents d SET message_key = NULL
    WHERE d.message_key = ANY (ARRAY(SELECT g.message_key FROM gone g WHERE cardinality(g.given) > 1));
    RETURN NULL;
END $$;
