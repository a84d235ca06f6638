-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
-- Whoever queues an event looks for the one before it of its subject, so that the event can be sent without being read again.
DROP INDEX CONCURRENTLY IF EXISTS webhook_queue_by_subject;
CREATE INDEX CONCURRENTLY webhook_queue_by_subject ON webhook_queue (platform_id, subject_id, seq);
