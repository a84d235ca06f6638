-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- asked_until: until when a quote that is being made keeps others from the invoice. delivery: what became of an issued invoice that is sent
-- to the provider of its sender, empty for others; delivery_reason: why that does not take it.
ALTER TABLE uma_invoices ADD COLUMN asked_until timestamptz, ADD COLUMN delivery text NOT NULL DEFAULT '',
    ADD COLUMN delivery_reason text NOT NULL DEFAULT '';
ALTER TABLE uma_invoices ADD CONSTRAINT uma_invoice_delivery CHECK (delivery IN ('', 'SENDING', 'DELIVERED', 'REFUSED')) NOT VALID;
GRANT UPDATE (asked_until, delivery, delivery_reason) ON uma_invoices TO causeway_service;

-- Whether wallets that say nothing about their owners may pay customers.
ALTER TABLE platforms ADD COLUMN lightning_addresses boolean NOT NULL DEFAULT false;
