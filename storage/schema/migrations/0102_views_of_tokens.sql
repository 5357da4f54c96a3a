-- A token takes its saved views along, however it ends: it is revoked, or its user is deleted. A later token of that name must
-- not inherit them. Those of users and tenants go with the requests that delete these.
CREATE FUNCTION delete_views_of_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM saved_views WHERE owner_type = 'TOKEN' AND owner_id = OLD.name;
    RETURN NULL;
END $$;

-- A database that somebody has changed may lack a table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('api_tokens') IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM saved_views v WHERE v.owner_type = 'TOKEN' AND NOT EXISTS (SELECT FROM api_tokens t WHERE t.name = v.owner_id);
    CREATE TRIGGER token_deleted_with_views AFTER DELETE ON api_tokens
        FOR EACH ROW EXECUTE FUNCTION delete_views_of_token();
END $$;
