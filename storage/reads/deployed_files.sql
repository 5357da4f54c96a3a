-- name: missing
-- By the unique keys of forms and generic resources; no more than a deployment can name. A deleted version is as good as none.
SELECT asked.kind, asked.id, asked.tag
FROM unnest($2::text[], $3::text[], $4::text[]) asked (kind, id, tag)
WHERE NOT EXISTS (
    SELECT FROM forms f
    WHERE f.tenant_id = $1 AND f.form_id = asked.id AND f.state = 'ACTIVE' AND asked.kind = 'form'
        AND (asked.tag IS NULL OR f.version_tag = asked.tag)
) AND NOT EXISTS (
    SELECT FROM generic_resources g
    WHERE g.tenant_id = $1 AND g.resource_id = asked.id AND g.state = 'ACTIVE' AND asked.kind = 'resource'
        AND (asked.tag IS NULL OR g.version_tag = asked.tag)
);
