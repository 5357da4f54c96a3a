-- Tokens under which nothing may be leased any more: of activations whose answer was lost. One that comes late would lease jobs
-- to nobody until the end of their time, which may be hours. Mostly empty; unlogged, as a crash ends all that could come late.
CREATE UNLOGGED TABLE void_leases (
    token uuid PRIMARY KEY,
    at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
