-- Documents: files that clients keep beside their processes (docs/documents.md). Variables have references to them, which nothing
-- counts. Nothing of it goes through the log: the engine never reads a document.

-- The content of one or several documents of a tenant: equal contents are stored once. `sha256` is null while the content is
-- uploaded, and when nothing refers to it any more. Without a part for an hour (`alive_at`) an upload is dead. `-infinity`: the
-- content is to be deleted at once.
CREATE TABLE document_contents (
    content_key bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    tenant_id   text NOT NULL,
    store_id    text NOT NULL,
    sha256      text,
    bytes       bigint NOT NULL DEFAULT 0,
    alive_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX document_contents_sha256 ON document_contents (tenant_id, store_id, sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX document_contents_unused ON document_contents (alive_at) WHERE sha256 IS NULL;

-- The bytes of contents in the store `postgres`: each part commits by itself. `first` is the offset of its first byte. Files are
-- often compressed already, so PostgreSQL does not try it: a range is then read without the bytes before it.
CREATE TABLE document_parts (
    content_key bigint NOT NULL,
    first       bigint NOT NULL,
    content     bytea NOT NULL,
    PRIMARY KEY (content_key, first)
);
ALTER TABLE document_parts ALTER content SET STORAGE EXTERNAL;

CREATE TABLE documents (
    document_id           text NOT NULL,
    store_id              text NOT NULL,
    tenant_id             text NOT NULL,
    content_key           bigint NOT NULL REFERENCES document_contents,
    content_type          text NOT NULL,
    file_name             text NOT NULL,
    created_at            timestamptz NOT NULL,
    expires_at            timestamptz,
    process_definition_id text,
    process_instance_key  bigint,
    custom_properties     text NOT NULL,
    PRIMARY KEY (document_id, store_id, tenant_id)
);
CREATE INDEX documents_content ON documents (content_key);
CREATE INDEX documents_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX documents_instance ON documents (process_instance_key) WHERE process_instance_key IS NOT NULL;

-- The bytes of each tenant, with those of uploads under way and of contents that are not deleted yet.
CREATE TABLE document_usage (
    tenant_id text PRIMARY KEY,
    bytes     bigint NOT NULL DEFAULT 0
);

-- The secrets that sign links to documents. A newer one signs, an older one still verifies, until its last link has expired.
CREATE TABLE document_link_keys (
    key_id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    secret     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Adds the next bytes to an upload: STORED, GONE (there is no such upload, or it has other bytes by now), FULL (the tenant may
-- not have as many). Without `part` only the bytes are counted: another store has them. Every function here locks contents before
-- the usage of their tenant.
CREATE FUNCTION add_document_part(upload bigint, at_byte bigint, size int, part bytea, quota bigint) RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    tenant text;
BEGIN
    SELECT c.tenant_id INTO tenant FROM document_contents c
    WHERE c.content_key = upload AND c.sha256 IS NULL AND c.bytes = at_byte AND c.alive_at > '-infinity' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'GONE';
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

-- Ends an upload: the key of the content that its document has, which is another one if the tenant had these bytes already. Null:
-- there is no such upload. Of two uploads of the same bytes, the lock lets one find the other.
CREATE FUNCTION complete_document_content(upload bigint, sum text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    mine document_contents;
    same bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(4716, hashtext(sum));
    SELECT * INTO mine FROM document_contents c
    WHERE c.content_key = upload AND c.sha256 IS NULL AND c.alive_at > '-infinity' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT c.content_key INTO same FROM document_contents c
    WHERE c.tenant_id = mine.tenant_id AND c.store_id = mine.store_id AND c.sha256 = sum FOR UPDATE;
    IF FOUND THEN
        UPDATE document_contents c SET alive_at = '-infinity' WHERE c.content_key = upload;
        RETURN same;
    END IF;
    UPDATE document_contents c SET sha256 = sum WHERE c.content_key = upload;
    RETURN upload;
END $$;

-- Contents that lost a document: those without another one are to be deleted. Locked first, by a statement of its own, so that
-- the next one sees a document that was added meanwhile.
CREATE FUNCTION release_document_contents(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM document_contents c WHERE c.content_key = ANY (keys) ORDER BY c.content_key FOR UPDATE;
    UPDATE document_contents c SET sha256 = NULL, alive_at = '-infinity'
    WHERE c.content_key = ANY (keys) AND NOT EXISTS (SELECT FROM documents d WHERE d.content_key = c.content_key);
END $$;

-- Deletes up to `most` parts of an unused content, and then the content: whether something is left. One that somebody else works
-- on is left to them. `dead_s`: the age at which an upload is dead.
CREATE FUNCTION drop_document_parts(unused bigint, most int, dead_s float8) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    mine  document_contents;
    freed bigint;
    parts int;
BEGIN
    SELECT * INTO mine FROM document_contents c
    WHERE c.content_key = unused AND c.sha256 IS NULL
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
