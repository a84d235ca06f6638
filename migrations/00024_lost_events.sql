-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- An event that was delivered, and is lost. The table has few rows, if any.
ALTER TABLE lost_commits DROP CONSTRAINT lost_commit_kind_known;
ALTER TABLE lost_commits ADD CONSTRAINT lost_commit_kind_known CHECK (kind IN ('POSTING', 'EVENT', 'CHECKPOINT'));
