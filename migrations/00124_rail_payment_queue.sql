-- +goose Up
-- The queue of an account in its order: those first that an operator sends without regard to it. No release has queued
-- payments yet, so the table is empty.
SET LOCAL lock_timeout = '1s';

CREATE INDEX rail_payments_queued ON rail_payments (connection, currency, forced DESC, recorded_at, id) WHERE state = 'QUEUED';
DROP INDEX rail_payments_queue;
