-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Which lines of a statement were matched with which entries is sealed in the log of evidence too. It is a fact beside that of
-- the reconciliation, which was sealed without it. Matches are written with their reconciliation, and never later.
CREATE TRIGGER ledger_evidence_matches AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation-matches', 'id');

-- What was matched before is sealed as it is now. The trigger has locked the table, so no reconciliation is missed.
INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'reconciliation-matches', id::text, now() FROM reconciliations
ON CONFLICT DO NOTHING;
