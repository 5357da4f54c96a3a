-- The archive of ended instance trees (docs/operations/archive.md): which files there are. The files are in a directory.

CREATE TABLE archive_files (
    -- Relative to the directory.
    name         text PRIMARY KEY,
    partition_id int NOT NULL,
    -- WRITING: somebody writes it, or was killed meanwhile. COMPLETE: it is on disk and was read back. REMOVED: the file is to be deleted.
    state        text NOT NULL DEFAULT 'WRITING' CHECK (state IN ('WRITING', 'COMPLETE', 'REMOVED')),
    begun_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    sha256       text,
    bytes        bigint,
    trees        int,
    -- The roots of its trees lie between these keys.
    first_key    bigint,
    last_key     bigint,
    -- The roots of its trees that are not deleted from the tables yet.
    waiting      bigint[] NOT NULL DEFAULT '{}'
);
CREATE INDEX archive_files_keys ON archive_files (last_key, first_key) WHERE state = 'COMPLETE';
CREATE INDEX archive_files_open ON archive_files (partition_id) WHERE state <> 'COMPLETE' OR waiting <> '{}';

-- What was erased from the archive: no data, only that it was there.
CREATE TABLE archive_erasures (
    root_key  bigint NOT NULL,
    -- The file that had the tree, and is deleted.
    file      text NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason    text NOT NULL,
    PRIMARY KEY (root_key, file)
);
