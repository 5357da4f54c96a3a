-- Contents that lost a document: those without another one are to be deleted. Locked first, by a statement of its own, so that
-- the next one sees a document that was added meanwhile. In the order of their sums, which uploads of several files keep, too:
-- otherwise an expiry and an upload of the same bytes wait for each other.
CREATE OR REPLACE FUNCTION release_document_contents(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM document_contents c WHERE c.content_key = ANY (keys)
    ORDER BY c.sha256 COLLATE "C", c.content_key FOR UPDATE;
    UPDATE document_contents c SET sha256 = NULL, alive_at = '-infinity'
    WHERE c.content_key = ANY (keys) AND NOT EXISTS (SELECT FROM documents d WHERE d.content_key = c.content_key);
END $$;
