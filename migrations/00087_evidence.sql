-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The log of evidence: for each platform a Merkle tree over hashes of what is recorded beside the postings and
-- never changes, and signed checkpoints of the tree. A worker appends to it, as to the log of postings.

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

CREATE TABLE ledger_evidence_checkpoints (
    platform_id   uuid        NOT NULL,
    size          bigint      NOT NULL CONSTRAINT ledger_evidence_checkpoint_size_positive CHECK (size > 0),
    sealed_at     timestamptz NOT NULL,
    root_hash     bytea       NOT NULL CONSTRAINT ledger_evidence_checkpoint_root_is_sha256 CHECK (length(root_hash) = 32),
    signed_note   text        NOT NULL, -- the checkpoint in the C2SP format
    previous_size bigint      NOT NULL, -- of the checkpoint before it, 0 for the first
    PRIMARY KEY (platform_id, size)
);

-- The state of each platform's log of evidence. The worker locks the row while it appends.
CREATE TABLE ledger_evidence_state (
    platform_id         uuid        PRIMARY KEY,
    size                bigint      NOT NULL DEFAULT 0,
    partial_tiles       bytea       NOT NULL DEFAULT '', -- the tiles of the tree that are not full, level by level
    published_size      bigint      NOT NULL DEFAULT 0,  -- of the last checkpoint stored outside the database
    publish_lease_until timestamptz,                     -- until when a process is publishing
    posting_seq         bigint      NOT NULL DEFAULT 0,  -- the posting up to which payments are sealed
    -- False until the facts that were there before this table are queued.
    existing_queued     boolean     NOT NULL DEFAULT true
);

-- Facts that are recorded by decisions of people and not sealed yet. Those of payments are not queued: the worker
-- finds them by their postings.
CREATE TABLE ledger_evidence_queue (
    platform_id uuid        NOT NULL,
    kind        text        NOT NULL,
    subject     text        NOT NULL,
    queued_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, kind, subject)
);

-- Queues the inserted rows of a table: the arguments of the trigger are the kind of the facts and the column that
-- is their subject.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
        SELECT platform_id, %L, %I::text, clock_timestamp() FROM inserted ON CONFLICT DO NOTHING', TG_ARGV[0], TG_ARGV[1]);
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_closings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('closing', 'month');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_period_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('period-change', 'id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_authorisations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('authorisation', 'posting_id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON unmatched_assignments REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('assignment', 'posting_id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation', 'id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliation_resolutions REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('resolution', 'break_id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_log_checkpoints REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('checkpoint', 'size');

-- Payments are sealed from now on.
INSERT INTO ledger_evidence_state (platform_id, posting_seq, existing_queued) SELECT platform_id, seq, false FROM ledger_clocks;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_evidence FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_evidence_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT ON ledger_evidence, ledger_evidence_checkpoints TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_evidence_state TO causeway_service;
GRANT SELECT, INSERT, DELETE ON ledger_evidence_queue TO causeway_service;
SELECT isolate_platforms('ledger_evidence');
SELECT isolate_platforms('ledger_evidence_checkpoints');
SELECT isolate_platforms('ledger_evidence_state');
SELECT isolate_platforms('ledger_evidence_queue');
