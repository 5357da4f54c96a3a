-- name: user
-- The statement of a password check, which runs at most once in some seconds for each client.
SELECT password_hash, name, email FROM users WHERE username = $1;

-- name: taken
-- Two people may have one name, one at the identity provider and one here.
SELECT FROM users WHERE username = $1 AND NOT $2::text[] && ARRAY[username, '*'];

-- name: taken_names
-- At the start: the users of the provider who are refused from now on, as far as sessions and tokens tell. A bounded number.
SELECT username FROM users WHERE NOT $1::text[] && ARRAY[username, '*'] AND (
    EXISTS (SELECT FROM sessions s WHERE s.username = users.username AND s.provider = 'OIDC' AND s.expires_at > clock_timestamp())
    OR EXISTS (SELECT FROM api_tokens a WHERE a.owner = users.username AND a.owner_provider = 'OIDC'))
ORDER BY username LIMIT 100;

-- name: token
-- By hash: the index compares digests of 256 random bits, so its timing tells nothing of a token. The server's clock decides
-- the expiry, and says how long the token is still valid. The token of a user of the provider ends when a local user gets the
-- name, unless the settings say that both are one person ($2).
SELECT name, roles, tenants, extract(epoch FROM expires_at - clock_timestamp())::float8,
       last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '10 minutes', owner
FROM api_tokens a WHERE sha256 = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp())
    AND (owner_provider IS DISTINCT FROM 'OIDC' OR $2::text[] && ARRAY[owner, '*']
        OR NOT EXISTS (SELECT FROM users u WHERE u.username = a.owner));

-- name: token_used
-- At most every ten minutes, because a worker uses its token thousands of times a second. A late call finds a newer time.
UPDATE api_tokens SET last_used_at = clock_timestamp()
WHERE sha256 = $1 AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '10 minutes');

-- name: rights
-- One round trip for everything that a caller is and may do. Rules match its claims; its groups come from what it is itself,
-- its roles from itself and its groups, its tenants and grants from all of them. The role `admin` has all tenants. A grant with a
-- value in a column that this version does not know, which a newer one has written, may be narrower than it looks: it gives
-- nothing.
WITH itself AS (
    SELECT type, id FROM unnest($1::text[], $2::text[]) AS given (type, id)
    UNION
    SELECT 'MAPPING_RULE', mapping_rule_id FROM mapping_rules
    WHERE (claim_name, claim_value) IN (SELECT * FROM unnest($3::text[], $4::text[]))),
grouped AS (
    SELECT DISTINCT 'GROUP' AS type, m.container_id AS id
    FROM members m JOIN itself i ON m.member_type = i.type AND m.member_id = i.id WHERE m.container_type = 'GROUP'),
known AS (SELECT type, id FROM itself UNION SELECT type, id FROM grouped),
in_role AS (
    SELECT 'ROLE' AS type, r.role_id AS id FROM roles r
    WHERE r.role_id = ANY ($5::text[]) OR EXISTS (
        SELECT FROM members m JOIN known k ON m.member_type = k.type AND m.member_id = k.id
        WHERE m.container_type = 'ROLE' AND m.container_id = r.role_id)),
owners AS (SELECT type, id FROM known UNION SELECT type, id FROM in_role)
SELECT json_build_object(
    'nowS', extract(epoch FROM clock_timestamp()),
    'groups', (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM grouped),
    'roles', (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM in_role),
    'mappingRules', (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM itself WHERE type = 'MAPPING_RULE'),
    'tenants', (
        SELECT coalesce(json_agg(json_build_object(
            'tenantId', t.tenant_id, 'name', t.name, 'description', t.description) ORDER BY t.tenant_id), '[]')
        FROM tenants t
        WHERE t.tenant_id = ANY ($6::text[]) OR EXISTS (SELECT FROM in_role WHERE id = 'admin') OR EXISTS (
            SELECT FROM members m JOIN owners o ON m.member_type = o.type AND m.member_id = o.id
            WHERE m.container_type = 'TENANT' AND m.container_id = t.tenant_id)),
    'grants', (
        SELECT coalesce(json_agg(json_build_object(
            'resourceType', a.resource_type, 'resourceId', a.resource_id, 'permissionTypes', a.permission_types,
            'propertyName', a.resource_property_name)), '[]')
        FROM authorizations a JOIN owners o ON a.owner_type = o.type AND a.owner_id = o.id
        WHERE jsonb_strip_nulls(to_jsonb(a) - ARRAY['authorization_key', 'owner_type', 'owner_id', 'resource_type', 'resource_id',
            'permission_types', 'resource_property_name']) = '{}'));

-- name: users
-- For `vivero user list`.
SELECT u.username, u.name, u.email, array(
    SELECT m.container_id FROM members m
    WHERE m.container_type = 'ROLE' AND m.member_type = 'USER' AND m.member_id = u.username ORDER BY 1)
FROM users u ORDER BY u.username;

-- name: create_user
-- No row: the name is taken.
INSERT INTO users (username, name, email, password_hash) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING username;

-- name: create_first_admin
-- One statement, so that of several programs that start at once one makes the administrator, and only in a database that has
-- neither users nor another member of the role.
WITH made AS (
    INSERT INTO users (username, password_hash)
    SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM users)
        AND NOT EXISTS (SELECT FROM members WHERE container_type = 'ROLE' AND container_id = 'admin')
    ON CONFLICT DO NOTHING RETURNING username)
INSERT INTO members (container_type, container_id, member_type, member_id)
SELECT 'ROLE', 'admin', 'USER', username FROM made RETURNING member_id;

-- name: set_password
-- No row: there is no such user.
UPDATE users SET password_hash = $2 WHERE username = $1 RETURNING username;

-- name: lock_admins
-- Changes of the command line and of members take turns, so that two administrators cannot remove each other. A change that is in
-- doubt keeps the lock: no later change overtakes it.
SELECT FROM roles WHERE role_id = 'admin' FOR UPDATE;

-- name: count_admins
-- A user, client, group or mapping rule that has the role.
SELECT count(*) FROM members WHERE container_type = 'ROLE' AND container_id = 'admin';

-- name: roles
-- For `vivero role list`.
SELECT r.role_id, r.name, r.description, array(
    SELECT m.member_type || ' ' || m.member_id FROM members m
    WHERE m.container_type = 'ROLE' AND m.container_id = r.role_id ORDER BY 1)
FROM roles r ORDER BY r.role_id;

-- name: missing_roles
-- The roles of this list that do not exist.
SELECT asked FROM unnest($1::text[]) AS asked WHERE NOT EXISTS (SELECT FROM roles WHERE role_id = asked);

-- name: tenants
-- For `vivero tenant list` and `show`. API tokens carry their tenants themselves.
SELECT t.tenant_id, t.name, t.description, array(
    SELECT m.member_type || ' ' || m.member_id FROM members m
    WHERE m.container_type = 'TENANT' AND m.container_id = t.tenant_id
    UNION ALL SELECT 'TOKEN ' || a.name FROM api_tokens a WHERE t.tenant_id = ANY (a.tenants) ORDER BY 1),
    (SELECT count(*) FROM process_definitions d WHERE d.tenant_id = t.tenant_id AND d.state <> 'DELETED')
FROM tenants t ORDER BY t.tenant_id;

-- name: missing_tenants
-- The tenants of this list that do not exist.
SELECT asked FROM unnest($1::text[]) AS asked WHERE NOT EXISTS (SELECT FROM tenants WHERE tenant_id = asked);

-- name: assign
-- No row: it is a member already.
INSERT INTO members (container_type, container_id, member_type, member_id) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING member_id;

-- name: unassign
-- No row: it was not a member.
DELETE FROM members WHERE container_type = $1 AND container_id = $2 AND member_type = $3 AND member_id = $4
RETURNING member_id;

-- name: create_token
-- No row: the name is taken.
INSERT INTO api_tokens (name, sha256, roles, tenants, expires_at, owner, owner_provider)
VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), $6, $7)
ON CONFLICT (name) DO NOTHING RETURNING name;

-- name: tokens
-- For `vivero token list`, or those of one user; never the hash.
SELECT name, roles, tenants, created_at, expires_at, last_used_at, coalesce(expires_at <= clock_timestamp(), false), owner,
    owner_provider
FROM api_tokens WHERE $1::text IS NULL OR (owner = $1 AND owner_provider = $2) ORDER BY name;

-- name: rotate_token
-- No row: there is no such token. A token that has expired stays expired, unless a new lifetime is given.
UPDATE api_tokens SET sha256 = $2, last_used_at = NULL,
    expires_at = coalesce(clock_timestamp() + make_interval(secs => $3), expires_at)
WHERE name = $1 RETURNING name;

-- name: revoke_token
-- No row: there is no such token, or it is not this user's.
DELETE FROM api_tokens WHERE name = $1 AND ($2::text IS NULL OR (owner = $2 AND owner_provider = $3)) RETURNING name;
