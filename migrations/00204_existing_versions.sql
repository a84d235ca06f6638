-- +goose Up
-- The rows of before are sealed as they are now. The triggers queue what changes meanwhile.
INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'external-account', id::text, now() FROM external_accounts
    UNION ALL SELECT platform_id, 'token', id::text, now() FROM tokens
    UNION ALL SELECT platform_id, 'customer-status', id::text, now() FROM customers
ON CONFLICT DO NOTHING;
