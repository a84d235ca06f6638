-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- asked_until: until when a quote that is being made keeps others from the invoice.
ALTER TABLE uma_invoices ADD COLUMN asked_until timestamptz;
GRANT UPDATE (asked_until) ON uma_invoices TO causeway_service;
