-- +goose Up

-- The log of postings: for each platform a Merkle tree (RFC 6962) over its postings in
-- the order of their numbers, and signed heads that say what it held. Nothing of it is
-- touched by posting; a worker follows.

-- Full tiles of 256 hashes, which never change. Level 0 are the leaves, one a posting;
-- a hash of level n stands for a full tile of level n-1.
CREATE TABLE ledger_tiles (
    platform_id uuid     NOT NULL,
    n           bigint   NOT NULL,
    level       smallint NOT NULL,
    hashes      bytea    NOT NULL CONSTRAINT ledger_tile_is_full CHECK (length(hashes) = 8192),
    PRIMARY KEY (platform_id, level, n)
);
-- Hashes do not compress.
ALTER TABLE ledger_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- What was sealed, one row a head.
CREATE TABLE ledger_heads (
    platform_id uuid        NOT NULL,
    size        bigint      NOT NULL CONSTRAINT ledger_head_holds_postings CHECK (size > 0),
    sealed_at   timestamptz NOT NULL,
    root        bytea       NOT NULL CONSTRAINT ledger_head_root_is_sha256 CHECK (length(root) = 32),
    -- The head as a signed note, a C2SP checkpoint.
    note        text        NOT NULL,
    PRIMARY KEY (platform_id, size)
);

-- How far the log of a platform has come. Whoever seals holds the row.
CREATE TABLE ledger_sealed (
    platform_id      uuid        PRIMARY KEY,
    size             bigint      NOT NULL DEFAULT 0,
    -- The tiles that are not full, level by level.
    edge             bytea       NOT NULL DEFAULT '',
    -- The last head that is known to be outside of the database, and until when
    -- somebody is busy bringing the next ones there.
    published        bigint      NOT NULL DEFAULT 0,
    publishing_until timestamptz
);
ALTER TABLE ledger_sealed ALTER COLUMN edge SET STORAGE EXTERNAL;

-- Keys that sign heads; the private halves are sealed. They stay for good: a head can
-- be verified as long as there is somebody who asks.
CREATE TABLE ledger_keys (
    id          uuid        PRIMARY KEY,
    public_key  bytea       NOT NULL CONSTRAINT ledger_key_is_ed25519 CHECK (length(public_key) = 32),
    sealed_key  bytea       NOT NULL,
    valid_from  timestamptz NOT NULL,
    valid_until timestamptz CONSTRAINT ledger_key_does_not_end_before_it_begins CHECK (valid_until >= valid_from)
);
CREATE UNIQUE INDEX ledger_key_one_signs ON ledger_keys ((valid_until IS NULL)) WHERE valid_until IS NULL;

CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_tiles FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_heads FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE DELETE OR TRUNCATE ON ledger_keys FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

GRANT SELECT, INSERT ON ledger_tiles, ledger_heads, ledger_keys TO causeway_service;
GRANT UPDATE (valid_until) ON ledger_keys TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_sealed TO causeway_service;

-- +goose Down
DROP TABLE ledger_keys, ledger_sealed, ledger_heads, ledger_tiles;
