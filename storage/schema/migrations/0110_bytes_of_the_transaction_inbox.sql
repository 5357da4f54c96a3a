-- A command of more than 26,843 bytes is counted with all that wait. 10,000 smaller ones have 256 MiB, which is as much as a
-- larger one may find, so that never more than 512 MiB wait.
CREATE OR REPLACE FUNCTION queue_in_transaction(
    p int, tenants text, intent text, subject bigint, document text, caller text, record jsonb
)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    number  bigint := nextval('transaction_inbox_numbers');
    content bytea := convert_to(document, 'UTF8');
    waiting bigint;
    bytes   bigint;
BEGIN
    IF number > (SELECT last_value FROM transaction_inbox_room) OR octet_length(content) > 26843 THEN
        SELECT count(*), coalesce(sum(w.size), 0) INTO waiting, bytes
        FROM (SELECT t.size FROM transaction_inbox t LIMIT 10000) w;
        IF waiting >= 10000 OR bytes + octet_length(content) > 268435456 THEN
            RAISE EXCEPTION 'the inbox is full: % commands with % bytes wait', waiting, bytes
                USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'Is a server with the role engine running? Try again when it has caught up.';
        END IF;
    END IF;
    number := (p::bigint << 51) + number;
    INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, key, payload, size, audit, role_name)
    VALUES (p, number, tenants, intent, subject, content, octet_length(content),
        (jsonb_build_object('actor_type', 'CLIENT', 'actor_id', caller, 'actor_provider', 'postgresql',
            'category', 'DEPLOYED_RESOURCES') || record)::text, caller);
    RETURN number;
END $$;
