-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
-- What stands still on a platform, the oldest first: customers on hold, and payments that wait for a review.
DROP INDEX CONCURRENTLY IF EXISTS customers_on_hold;
CREATE INDEX CONCURRENTLY customers_on_hold ON customers (platform_id, on_hold_at, id) WHERE on_hold_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS rail_payments_review_by_platform;
CREATE INDEX CONCURRENTLY rail_payments_review_by_platform ON rail_payments (platform_id, recorded_at, id) WHERE state = 'REVIEW';
