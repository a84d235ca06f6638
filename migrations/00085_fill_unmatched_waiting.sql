-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The funds that waited before there were the triggers. It uses ledger_postings_by_rare_kind.
INSERT INTO unmatched_waiting (platform_id, seq, posting_id, recorded_at)
SELECT p.platform_id, p.seq, p.id, p.recorded_at
FROM platforms f
CROSS JOIN (VALUES ('unmatched_received'), ('refund_failed')) AS k(kind)
JOIN ledger_postings p ON p.platform_id = f.id AND p.kind = k.kind
    AND p.kind NOT IN ('jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out')
WHERE NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = p.platform_id AND a.posting_id = p.id)
ON CONFLICT DO NOTHING;
