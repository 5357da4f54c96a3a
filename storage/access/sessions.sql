-- name: session
-- The server's clock decides both expiries. The index compares digests of 256 random bits, so its timing tells nothing. The
-- session of a user of the provider ends when a local user gets the name, unless the settings say that both are one person
-- ($3).
SELECT s.username, coalesce(u.name, s.name), coalesce(u.email, s.email), s.provider, s.claims,
       extract(epoch FROM s.expires_at - clock_timestamp())::float8,
       s.seen_at < clock_timestamp() - interval '1 minute'
FROM sessions s LEFT JOIN users u ON s.provider = 'PASSWORD' AND u.username = s.username
WHERE s.sha256 = $1 AND s.expires_at > clock_timestamp() AND s.seen_at > clock_timestamp() - make_interval(secs => $2)
    AND (s.provider <> 'OIDC' OR $3::text[] && ARRAY[s.username, '*'] OR NOT EXISTS (
        SELECT FROM users other WHERE other.username = s.username));

-- name: seen
-- At most once a minute. A call that arrives late finds a newer time.
UPDATE sessions SET seen_at = clock_timestamp() WHERE sha256 = $1 AND seen_at < clock_timestamp() - interval '1 minute';

-- name: create_session
-- A user has a bounded number of sessions: the oldest end. Expired rows of all users go, too. No id is used twice, so only a late
-- call can find its session.
WITH gone AS (
    DELETE FROM sessions WHERE expires_at <= clock_timestamp() OR sha256 IN (
        SELECT sha256 FROM sessions WHERE username = $2 AND provider = $3 ORDER BY created_at DESC, sha256 OFFSET $8))
INSERT INTO sessions (sha256, username, provider, name, email, claims, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7))
ON CONFLICT (sha256) DO NOTHING;

-- name: end_session
-- A session that is gone already is no error.
DELETE FROM sessions WHERE sha256 = $1 RETURNING username, provider;

-- name: end_sessions_of
-- All sessions of the user of this session, itself included: they have one password, or one account at the provider.
DELETE FROM sessions WHERE (username, provider) IN (SELECT username, provider FROM sessions WHERE sha256 = $1)
RETURNING username, provider;

-- name: sessions
-- For `vivero user sessions` and the API; never the hash. Without a name, those of all users; without a provider, those of both
-- kinds.
SELECT key, username, provider, created_at, seen_at, expires_at, coalesce(sha256 = $3, false) FROM sessions
WHERE expires_at > clock_timestamp() AND (username = $1 OR $1 IS NULL) AND (provider = $2 OR $2::text IS NULL)
ORDER BY username, provider, created_at, sha256;

-- name: end_chosen_session
-- Somebody who is not at that browser does this. Nodes treat it as a change of rights, so that its long polls end, too.
WITH ended AS (DELETE FROM sessions WHERE key = $1 AND username = $2 AND (provider = $3 OR $3::text IS NULL) RETURNING key)
SELECT ended.key FROM ended CROSS JOIN pg_notify('vivero_identities', '') AS told;

-- name: end_sessions_of_user
-- An administrator does this to somebody. Nodes treat it as a change of rights, so that the long polls of the sessions end, too.
WITH ended AS (DELETE FROM sessions WHERE username = $1 RETURNING expires_at)
SELECT valid FROM (SELECT count(*) FILTER (WHERE expires_at > clock_timestamp()) AS valid FROM ended) AS counted
CROSS JOIN pg_notify('vivero_identities', '') AS told;
