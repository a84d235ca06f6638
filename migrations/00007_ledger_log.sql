-- +goose Up

-- The log of postings: for each platform a Merkle tree (RFC 6962) over its postings in
-- sequence order, and signed checkpoints of the tree. Posting does not touch it; a worker
-- appends to it afterwards.

-- Full tiles of 256 hashes, which never change. Level 0 holds the leaves, one for each
-- posting; a hash of level n is the root of a full tile of level n-1.
CREATE TABLE ledger_log_tiles (
    platform_id uuid     NOT NULL,
    tile_index  bigint   NOT NULL,
    level       smallint NOT NULL,
    hashes      bytea    NOT NULL CONSTRAINT ledger_log_tile_is_full CHECK (length(hashes) = 8192),
    PRIMARY KEY (platform_id, level, tile_index)
);
-- Hashes do not compress.
ALTER TABLE ledger_log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

CREATE TABLE ledger_log_checkpoints (
    platform_id uuid        NOT NULL,
    size        bigint      NOT NULL CONSTRAINT ledger_log_checkpoint_size_positive CHECK (size > 0),
    sealed_at   timestamptz NOT NULL,
    root_hash   bytea       NOT NULL CONSTRAINT ledger_log_checkpoint_root_is_sha256 CHECK (length(root_hash) = 32),
    signed_note text        NOT NULL, -- the checkpoint in the C2SP format
    PRIMARY KEY (platform_id, size)
);

-- The state of each platform's log. The worker locks the row while it appends.
CREATE TABLE ledger_log_state (
    platform_id         uuid        PRIMARY KEY,
    size                bigint      NOT NULL DEFAULT 0,
    partial_tiles       bytea       NOT NULL DEFAULT '', -- the tiles that are not full, level by level
    published_size      bigint      NOT NULL DEFAULT 0,  -- of the last checkpoint stored outside the database
    publish_lease_until timestamptz                      -- until when a process is publishing
);
ALTER TABLE ledger_log_state ALTER COLUMN partial_tiles SET STORAGE EXTERNAL;

-- Keys that sign checkpoints; the private keys are encrypted. They are kept for ever, so
-- that every checkpoint can be verified.
CREATE TABLE ledger_log_keys (
    id            uuid        PRIMARY KEY,
    public_key    bytea       NOT NULL CONSTRAINT ledger_log_key_is_ed25519 CHECK (length(public_key) = 32),
    encrypted_key bytea       NOT NULL,
    valid_from    timestamptz NOT NULL,
    valid_until   timestamptz CONSTRAINT ledger_log_key_validity_ordered CHECK (valid_until >= valid_from)
);
CREATE UNIQUE INDEX ledger_log_key_one_active ON ledger_log_keys ((valid_until IS NULL)) WHERE valid_until IS NULL;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_log_tiles FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_log_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON ledger_log_keys FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT ON ledger_log_tiles, ledger_log_checkpoints, ledger_log_keys TO causeway_service;
GRANT UPDATE (valid_until) ON ledger_log_keys TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_log_state TO causeway_service;
