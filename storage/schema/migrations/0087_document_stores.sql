-- Documents in a directory or a bucket, too. A content there is one object with a random name, which is noted before its first
-- byte is written: whatever is killed, a row leads to all bytes that there may be.
ALTER TABLE document_contents ADD COLUMN object_name text;
ALTER TABLE document_contents ADD CONSTRAINT document_contents_object_name_check
    CHECK ((object_name IS NULL) = (store_id = 'postgres'));
ALTER TABLE document_contents ADD CONSTRAINT document_contents_bytes_check CHECK (bytes >= 0);
ALTER TABLE document_usage ADD CONSTRAINT document_usage_bytes_check CHECK (bytes >= 0);

-- Each store is swept by itself, so that one that is away does not keep the bytes of another one.
DROP INDEX document_contents_unused;
CREATE INDEX document_contents_unused ON document_contents (store_id, content_key) WHERE sha256 IS NULL;

-- The documents of a deleted tenant.
CREATE INDEX documents_tenant ON documents (tenant_id);

-- Adds the next bytes to an upload: STORED, GONE (there is no such upload, or it has other bytes by now), FULL (the tenant may
-- not have as many). Without `part` only the bytes are counted: another store has them. Every function here locks contents before
-- the usage of their tenant. Numbers that nobody can mean, and bytes in a store that is not theirs, are an error.
CREATE OR REPLACE FUNCTION add_document_part(upload bigint, at_byte bigint, size int, part bytea, quota bigint) RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    tenant text;
    object text;
BEGIN
    IF upload IS NULL OR at_byte IS NULL OR size IS NULL OR quota IS NULL OR at_byte < 0 OR size < 0 OR quota < 0 THEN
        RAISE EXCEPTION 'a part of a document needs a content, an offset, a size and a quota' USING ERRCODE = 'check_violation';
    END IF;
    SELECT c.tenant_id, c.object_name INTO tenant, object FROM document_contents c
    WHERE c.content_key = upload AND c.sha256 IS NULL AND c.bytes = at_byte AND c.alive_at > '-infinity' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'GONE';
    END IF;
    IF (part IS NULL) <> (object IS NOT NULL) OR octet_length(part) <> size OR octet_length(part) = 0 THEN
        RAISE EXCEPTION 'a part of a document must have % bytes in its store', size USING ERRCODE = 'check_violation';
    END IF;
    UPDATE document_usage u SET bytes = u.bytes + size WHERE u.tenant_id = tenant AND (quota = 0 OR u.bytes + size <= quota);
    IF NOT FOUND THEN
        RETURN 'FULL';
    END IF;
    UPDATE document_contents c SET bytes = c.bytes + size, alive_at = clock_timestamp() WHERE c.content_key = upload;
    IF part IS NOT NULL THEN
        INSERT INTO document_parts (content_key, first, content) VALUES (upload, at_byte, part);
    END IF;
    RETURN 'STORED';
END $$;

-- Deletes up to `most` parts of an unused content of the database, and then the content: whether something is left. One that
-- somebody else works on is left to them. `dead_s`: the age at which an upload is dead.
CREATE OR REPLACE FUNCTION drop_document_parts(unused bigint, most int, dead_s float8) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    mine  document_contents;
    freed bigint;
    parts int;
BEGIN
    SELECT * INTO mine FROM document_contents c
    WHERE c.content_key = unused AND c.sha256 IS NULL AND c.object_name IS NULL
        AND c.alive_at < clock_timestamp() - make_interval(secs => dead_s)
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH gone AS (
        DELETE FROM document_parts p WHERE p.content_key = unused AND p.first = ANY (ARRAY(
            SELECT l.first FROM document_parts l WHERE l.content_key = unused ORDER BY l.first DESC LIMIT most))
        RETURNING octet_length(p.content) AS size)
    SELECT coalesce(sum(size), 0), count(*) INTO freed, parts FROM gone;
    IF parts < most THEN
        freed := mine.bytes;
        DELETE FROM document_contents c WHERE c.content_key = unused;
    ELSE
        UPDATE document_contents c SET bytes = c.bytes - freed, alive_at = '-infinity' WHERE c.content_key = unused;
    END IF;
    UPDATE document_usage u SET bytes = u.bytes - freed WHERE u.tenant_id = mine.tenant_id;
    RETURN parts = most;
END $$;

-- Forgets an unused content whose object is deleted from its store. Nothing happens the second time.
CREATE FUNCTION forget_document_object(unused bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mine document_contents;
BEGIN
    DELETE FROM document_contents c
    WHERE c.content_key = unused AND c.sha256 IS NULL AND c.object_name IS NOT NULL AND c.alive_at = '-infinity'
    RETURNING * INTO mine;
    UPDATE document_usage u SET bytes = u.bytes - mine.bytes WHERE u.tenant_id = mine.tenant_id;
END $$;
