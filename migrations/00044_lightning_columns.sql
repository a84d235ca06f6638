-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- From where on a node is read; NULL: from the beginning, or read by the previous version. A node whose indexes are times is read again for
-- a while before the last one, but never before this.
ALTER TABLE lightning_nodes ADD COLUMN began_settle_index bigint, ADD COLUMN began_payment_index bigint;

-- When a payment has ended; NULL if it has not, and of those that ended in the previous version, which stay. Payments that ended and
-- invoices that expired long ago are deleted.
ALTER TABLE lightning_payments ADD COLUMN ended_at timestamptz;
GRANT DELETE ON lightning_payments, lightning_invoices TO causeway_service;
