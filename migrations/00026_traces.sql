-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The place of a payment and of an event in a distributed trace (W3C traceparent), so that jobs and deliveries, which any process
-- runs later, continue it. NULL without tracing.
ALTER TABLE transactions ADD COLUMN traceparent text;
ALTER TABLE webhook_events ADD COLUMN traceparent text;
