-- name: limits
-- The server, the database and the user have a limit each; -1 is none. Sessions of nodes and of other programs count, wherever
-- they work, but this one. Workers of the server have no database or no user. The names of other users' programs are hidden.
WITH sessions AS (
    SELECT datname, usename, coalesce(application_name, '') LIKE 'vivero:%' AS ours FROM pg_stat_activity
    WHERE datname IS NOT NULL AND usename IS NOT NULL AND pid <> pg_backend_pid()
)
SELECT 'max_connections', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true), '0')::int,
    (SELECT count(*) FROM sessions WHERE ours), (SELECT count(*) FROM sessions WHERE NOT ours)
UNION ALL
SELECT format('CONNECTION LIMIT of the database %I', d.datname), datconnlimit,
    (SELECT count(*) FROM sessions s WHERE s.datname = d.datname AND ours),
    (SELECT count(*) FROM sessions s WHERE s.datname = d.datname AND NOT ours)
FROM pg_database d WHERE d.datname = current_database() AND datconnlimit <> -1
UNION ALL
SELECT format('CONNECTION LIMIT of the role %I', rolname), rolconnlimit,
    (SELECT count(*) FROM sessions WHERE usename = rolname AND ours),
    (SELECT count(*) FROM sessions WHERE usename = rolname AND NOT ours)
FROM pg_roles WHERE rolname = current_user AND rolconnlimit <> -1;
