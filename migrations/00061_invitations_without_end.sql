-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS invitations_without_end; -- left by a failed attempt

-- For the retention of invitations that nobody claimed and that do not expire.
CREATE INDEX CONCURRENTLY invitations_without_end ON invitations (platform_id, created_at) WHERE ends_at IS NULL;
