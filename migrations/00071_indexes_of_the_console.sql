-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.

-- The log of requests is found by operation and by failures of the service, newest first. A row takes about 2 µs and 150 bytes of WAL more
-- to write for its operation, beside 19 µs and 1,250 bytes. The partitions get their indexes after the files (README.md).
-- +goose StatementBegin
DO $$
BEGIN
    SET LOCAL lock_timeout = '1s';
    CREATE INDEX IF NOT EXISTS request_log_server_failed ON ONLY request_log (platform_id, id) WHERE status >= 500;
    CREATE INDEX IF NOT EXISTS request_log_by_operation ON ONLY request_log (platform_id, operation, id);
END
$$;
-- +goose StatementEnd

-- The audit is found by who has done something, and by what it was done to. People write these tables. An index of the subjects of jobs
-- would not be used: under row-level security, the operators of arrays are not trusted.
DROP INDEX CONCURRENTLY IF EXISTS operator_actions_by_actor;
CREATE INDEX CONCURRENTLY operator_actions_by_actor ON operator_actions (platform_id, actor, id);
DROP INDEX CONCURRENTLY IF EXISTS operator_actions_by_subject;
CREATE INDEX CONCURRENTLY operator_actions_by_subject ON operator_actions (platform_id, subject_id, id);
DROP INDEX CONCURRENTLY IF EXISTS job_actions_by_actor;
CREATE INDEX CONCURRENTLY job_actions_by_actor ON job_actions (platform_id, actor, id);
DROP INDEX CONCURRENTLY IF EXISTS job_actions_by_job;
CREATE INDEX CONCURRENTLY job_actions_by_job ON job_actions (platform_id, job_id, id);
DROP INDEX CONCURRENTLY IF EXISTS rail_decisions_by_actor;
CREATE INDEX CONCURRENTLY rail_decisions_by_actor ON rail_decisions (platform_id, actor, id);
DROP INDEX CONCURRENTLY IF EXISTS verification_reviews_by_actor;
CREATE INDEX CONCURRENTLY verification_reviews_by_actor ON verification_reviews (platform_id, actor, id);
DROP INDEX CONCURRENTLY IF EXISTS verification_reviews_by_verification;
CREATE INDEX CONCURRENTLY verification_reviews_by_verification ON verification_reviews (platform_id, verification_id, id) WHERE verification_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS verification_reviews_by_owner;
CREATE INDEX CONCURRENTLY verification_reviews_by_owner ON verification_reviews (platform_id, owner_id, id) WHERE owner_id IS NOT NULL;
