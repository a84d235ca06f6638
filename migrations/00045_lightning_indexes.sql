-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.

-- Payments that have ended and invoices that have expired, which are deleted after their retention.
DROP INDEX CONCURRENTLY IF EXISTS lightning_payments_ended;
CREATE INDEX CONCURRENTLY lightning_payments_ended ON lightning_payments (platform_id, ended_at) WHERE ended_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS lightning_invoices_by_expiry;
CREATE INDEX CONCURRENTLY lightning_invoices_by_expiry ON lightning_invoices (platform_id, expires_at);
