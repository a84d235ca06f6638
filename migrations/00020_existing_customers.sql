-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The customers of before are sealed as they are now. The triggers queue what changes meanwhile.
INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'customer-status', id::text, now() FROM customers
ON CONFLICT DO NOTHING;
