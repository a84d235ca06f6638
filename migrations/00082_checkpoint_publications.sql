-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- When, and where, the checkpoints of a log that are larger than previous_size, up to size, were published. The previous version
-- publishes without a row.
CREATE TABLE ledger_checkpoint_publications (
    platform_id   uuid        NOT NULL,
    log           text        NOT NULL CONSTRAINT ledger_checkpoint_publication_log_known CHECK (log IN ('POSTINGS', 'EVIDENCE')),
    size          bigint      NOT NULL,
    previous_size bigint      NOT NULL, -- the size up to which they were published before
    published_at  timestamptz NOT NULL,
    place         text        NOT NULL, -- a folder, or scheme and host of a URL
    PRIMARY KEY (platform_id, log, size),
    CONSTRAINT ledger_checkpoint_publication_covers CHECK (previous_size < size)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_checkpoint_publications
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_checkpoint_publications TO causeway_service;
SELECT isolate_platforms('ledger_checkpoint_publications');
