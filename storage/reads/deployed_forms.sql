-- name: missing
-- By the unique key of forms; no more than a deployment can name. A deleted form is as good as none.
SELECT asked.id, asked.tag
FROM unnest($2::text[], $3::text[]) asked (id, tag)
WHERE NOT EXISTS (
    SELECT FROM forms f
    WHERE f.tenant_id = $1 AND f.form_id = asked.id AND f.state = 'ACTIVE' AND (asked.tag IS NULL OR f.version_tag = asked.tag)
);
