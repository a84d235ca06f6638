-- +goose Up

-- The log of evidence: for each platform a Merkle tree over hashes of what is recorded beside the postings and
-- never changes, and signed checkpoints of the tree. A worker appends to it, as to the log of postings. Tables whose rows
-- are evidence have a trigger ledger_evidence, in the files of the tables.

-- A leaf: facts that were sealed together. All arrays have the same length.
CREATE TABLE ledger_evidence (
    platform_id uuid        NOT NULL,
    seq         bigint      NOT NULL CONSTRAINT ledger_evidence_seq_positive CHECK (seq > 0),
    sealed_at   timestamptz NOT NULL,
    kinds       text[]      NOT NULL,
    subjects    text[]      NOT NULL, -- the id, month or number of each fact
    hashes      bytea[]     NOT NULL, -- SHA-256
    hints       bytea[]     NOT NULL, -- by which the check names the fields that differ
    PRIMARY KEY (platform_id, seq)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_evidence FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_evidence TO causeway_service;
SELECT isolate_platforms('ledger_evidence');

CREATE TABLE ledger_evidence_checkpoints (
    platform_id   uuid        NOT NULL,
    size          bigint      NOT NULL CONSTRAINT ledger_evidence_checkpoint_size_positive CHECK (size > 0),
    sealed_at     timestamptz NOT NULL,
    root_hash     bytea       NOT NULL CONSTRAINT ledger_evidence_checkpoint_root_is_sha256 CHECK (length(root_hash) = 32),
    signed_note   text        NOT NULL, -- the checkpoint in the C2SP format
    previous_size bigint      NOT NULL, -- of the checkpoint before it, 0 for the first
    PRIMARY KEY (platform_id, size)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_evidence_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_evidence_checkpoints TO causeway_service;
SELECT isolate_platforms('ledger_evidence_checkpoints');

-- The state of each platform's log of evidence. The worker locks the row while it appends.
CREATE TABLE ledger_evidence_state (
    platform_id         uuid    PRIMARY KEY,
    size                bigint  NOT NULL DEFAULT 0,
    partial_tiles       bytea   NOT NULL DEFAULT '', -- the tiles of the tree that are not full, level by level
    published_size      bigint  NOT NULL DEFAULT 0,  -- of the last checkpoint stored outside the database
    publish_lease_until timestamptz, -- until when a process is publishing
    posting_seq         bigint  NOT NULL DEFAULT 0   -- the posting up to which payments are sealed
);
GRANT SELECT, INSERT, UPDATE ON ledger_evidence_state TO causeway_service;
SELECT isolate_platforms('ledger_evidence_state');

-- Facts that are recorded by decisions of people and not sealed yet. Those of payments are not queued: the worker
-- finds them by their postings.
CREATE TABLE ledger_evidence_queue (
    platform_id uuid        NOT NULL,
    kind        text        NOT NULL,
    subject     text        NOT NULL,
    queued_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, kind, subject)
);
GRANT SELECT, INSERT, UPDATE (queued_at), DELETE ON ledger_evidence_queue TO causeway_service;
SELECT isolate_platforms('ledger_evidence_queue');

-- Queues the inserted rows of a table: the arguments of the trigger are the kind of the facts and the columns that
-- are their subject: the primary key without the platform. Rows that belong to no platform are not sealed. The
-- subjects are the same whatever the format of dates of a session is.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_evidence() RETURNS trigger LANGUAGE plpgsql SET datestyle = 'ISO, YMD' AS $$
BEGIN
    EXECUTE format('INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
        SELECT platform_id, %L, concat_ws(''/'', %s), clock_timestamp() FROM inserted WHERE platform_id IS NOT NULL ON CONFLICT DO NOTHING',
        TG_ARGV[0], (SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.no) FROM unnest(TG_ARGV[1:]) WITH ORDINALITY c (name, no)));
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Queues a proposal that is decided: what a decision has recorded never changes. The argument of the trigger is the
-- kind of the facts.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    VALUES (NEW.platform_id, coalesce(TG_ARGV[0], 'proposal-decision'), NEW.id::text, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Rows that change are sealed too: each version of them, and their deletion. The check compares a row with its last version.

-- Queues a row that the service has changed. Whoever else changes one, with the rights of the owner of the tables, leaves
-- it as it was sealed. The row of the queue is locked until the commit, so that no version is sealed for the next one.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF current_user = 'causeway_service' THEN
        INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
        VALUES (changed.platform_id, TG_ARGV[0], changed.id::text, clock_timestamp())
        ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_log_tiles FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_log_tiles TO causeway_service;
SELECT isolate_platforms('ledger_log_tiles');

CREATE TABLE ledger_log_checkpoints (
    platform_id   uuid        NOT NULL,
    size          bigint      NOT NULL CONSTRAINT ledger_log_checkpoint_size_positive CHECK (size > 0),
    sealed_at     timestamptz NOT NULL,
    root_hash     bytea       NOT NULL CONSTRAINT ledger_log_checkpoint_root_is_sha256 CHECK (length(root_hash) = 32),
    signed_note   text        NOT NULL, -- the checkpoint in the C2SP format
    -- The size of the checkpoint that was the newest when this one was stored, 0 for the first: a deleted one is missed
    -- by the next. A trigger sets it.
    previous_size bigint      NOT NULL,
    PRIMARY KEY (platform_id, size)
);

-- +goose StatementBegin
CREATE FUNCTION ledger_chain_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Uses ledger_log_checkpoints_pkey.
    NEW.previous_size := greatest((SELECT c.size FROM ledger_log_checkpoints c WHERE c.platform_id = NEW.platform_id ORDER BY c.size DESC LIMIT 1), 0);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_log_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_log_checkpoint_chain BEFORE INSERT ON ledger_log_checkpoints FOR EACH ROW EXECUTE FUNCTION ledger_chain_checkpoint();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_log_checkpoints REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('checkpoint', 'size');
GRANT SELECT, INSERT ON ledger_log_checkpoints TO causeway_service;
SELECT isolate_platforms('ledger_log_checkpoints');

-- The state of each platform's log. The worker locks the row while it appends.
CREATE TABLE ledger_log_state (
    platform_id         uuid        PRIMARY KEY,
    size                bigint      NOT NULL DEFAULT 0,
    partial_tiles       bytea       NOT NULL DEFAULT '', -- the tiles that are not full, level by level
    published_size      bigint      NOT NULL DEFAULT 0,  -- of the last checkpoint stored outside the database
    publish_lease_until timestamptz                      -- until when a process is publishing
);
ALTER TABLE ledger_log_state ALTER COLUMN partial_tiles SET STORAGE EXTERNAL;
GRANT SELECT, INSERT, UPDATE ON ledger_log_state TO causeway_service;
SELECT isolate_platforms('ledger_log_state');

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
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON ledger_log_keys FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- A new master key encrypts the keys again.
GRANT SELECT, INSERT, UPDATE (valid_until, encrypted_key) ON ledger_log_keys TO causeway_service;
