-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Each time a backup was restored beside the service and its ledger checked, for the metrics, and as a record for ever.
CREATE TABLE backup_verifications (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    began_at       timestamptz NOT NULL,
    backup         text NOT NULL CONSTRAINT backup_verification_backup_length CHECK (length(backup) <= 1000), -- '' if there was none
    backup_at      timestamptz,
    backup_bytes   bigint NOT NULL,
    restored_to    text NOT NULL CONSTRAINT backup_verification_restored_to_length CHECK (length(restored_to) <= 30), -- '' if it was not restored
    last_segment   text NOT NULL CONSTRAINT backup_verification_last_segment_length CHECK (length(last_segment) <= 30),
    last_commit_at timestamptz,
    restored_in    interval NOT NULL CONSTRAINT backup_verification_restored_in_positive CHECK (restored_in >= interval '0'),
    postings       bigint NOT NULL,
    unreached      bigint NOT NULL,
    problem        text NOT NULL CONSTRAINT backup_verification_problem_length CHECK (length(problem) <= 2000), -- '' if it is usable
    CONSTRAINT backup_verification_of_backup CHECK (problem <> '' OR backup <> '' AND backup_at IS NOT NULL AND restored_to <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON backup_verifications FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON backup_verifications TO causeway_service;

-- What the metrics show is the last one that has passed.
CREATE INDEX backup_verifications_by_passed ON backup_verifications (id) WHERE problem = '';
