-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
-- Whoever queues an event looks for those before it of its subject, so that the event can be sent without being read again. Both have the
-- subject first: with the platform first, plans would not prefer them to the primary keys while the tables are almost empty. The
-- first is partial, so that it is never preferred for a lookup by number.
DROP INDEX CONCURRENTLY IF EXISTS webhook_queue_subject;
CREATE INDEX CONCURRENTLY webhook_queue_subject ON webhook_queue (subject_id, seq) WHERE subject_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS webhook_backlog_subject;
CREATE INDEX CONCURRENTLY webhook_backlog_subject ON webhook_backlog (subject_id);
