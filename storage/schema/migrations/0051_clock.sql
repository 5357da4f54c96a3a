-- The engine's clock, the identity of the installation, and the numbers of the migrations before these.

-- These twelve files replaced fifty (docs/operations/upgrade.md). A program that knows only the fifty counts the rows of this table: these
-- rows let it say that the database is newer than the program.
INSERT INTO schema_migrations (version, name, sha256) SELECT n, 'squashed', '' FROM generate_series(1, 50) AS n;

-- One row. With `pinned_at`, time stands still; otherwise the time is the database's plus `shift`. `revision` rises with each
-- change.
CREATE TABLE clock (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision  bigint NOT NULL DEFAULT 0,
    pinned_at timestamptz,
    shift     interval NOT NULL DEFAULT '0'
);
INSERT INTO clock DEFAULT VALUES;

-- The engine's time. STABLE, so that a comparison with it can be an index condition.
CREATE FUNCTION clock_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT coalesce(pinned_at, now() + shift) FROM clock $$;

-- Each is declared exactly as volatile as its body: otherwise the planner does not inline it.
CREATE FUNCTION to_epoch_ms(t timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT floor(extract(epoch FROM t) * 1000)::bigint $$;

CREATE FUNCTION from_epoch_ms(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT to_timestamp(ms::float8 / 1000) $$;

-- One row, made once: it tells two installations apart.
CREATE TABLE cluster (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    cluster_id uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO cluster DEFAULT VALUES;
