-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
-- What stands still on a platform, the oldest first: customers who are held, and payments that wait for a review.
DROP INDEX CONCURRENTLY IF EXISTS customers_held;
CREATE INDEX CONCURRENTLY customers_held ON customers (platform_id, held_at, id) WHERE held_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS rail_payments_review_by_platform;
CREATE INDEX CONCURRENTLY rail_payments_review_by_platform ON rail_payments (platform_id, recorded_at, id) WHERE state = 'REVIEW';
