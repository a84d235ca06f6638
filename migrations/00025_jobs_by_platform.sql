-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS jobs_by_step_platform_due; -- left by a failed attempt

-- Finds the due jobs of each platform, so that the backlog of one does not delay the others.
CREATE INDEX CONCURRENTLY jobs_by_step_platform_due ON jobs (step, platform_id, due_at);
