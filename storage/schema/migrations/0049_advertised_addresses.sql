-- The URL at which clients reach a node. `host` and `port` are where it listens, which may be all addresses, or behind a proxy. Null: none
-- is known, as for nodes of older versions.

ALTER TABLE nodes ADD COLUMN address text;
