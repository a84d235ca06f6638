-- +goose NO TRANSACTION
-- +goose Up

-- Finds the matches of a reconciliation, for the log of evidence.
DROP INDEX CONCURRENTLY IF EXISTS reconciliation_matches_by_reconciliation; -- left by a failed attempt
CREATE INDEX CONCURRENTLY reconciliation_matches_by_reconciliation ON reconciliation_matches (platform_id, reconciliation_id) WHERE reconciliation_id IS NOT NULL;
