-- +goose NO TRANSACTION
-- +goose Up
-- A previous release that runs beside this one fails to store a payment that a partner reports again
-- with another time, instead of storing it twice.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS receipts_by_partner_id ON receipts (platform_id, rail, partner_id);
