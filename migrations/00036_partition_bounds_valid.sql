-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE webhook_events VALIDATE CONSTRAINT webhook_event_in_first_partition;
ALTER TABLE webhook_attempts VALIDATE CONSTRAINT webhook_attempt_in_first_partition;
ALTER TABLE lookups VALIDATE CONSTRAINT lookup_in_first_partition;
