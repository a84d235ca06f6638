-- +goose NO TRANSACTION
-- +goose Up

-- Finds the lines of a match, for the log of evidence.
DROP INDEX CONCURRENTLY IF EXISTS reconciliation_matched_lines_by_match; -- left by a failed attempt
CREATE INDEX CONCURRENTLY reconciliation_matched_lines_by_match ON reconciliation_matched_lines (platform_id, match_id) WHERE match_id IS NOT NULL;
