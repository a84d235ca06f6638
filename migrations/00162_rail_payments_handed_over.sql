-- +goose NO TRANSACTION
-- +goose Up
-- What adapters have and has not left, for operators.
DROP INDEX CONCURRENTLY IF EXISTS rail_payments_handed_over;
CREATE INDEX CONCURRENTLY rail_payments_handed_over ON rail_payments (connection, currency, handed_over_at) WHERE state = 'HANDED_OVER';
