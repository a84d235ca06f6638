-- +goose Up
-- The market rates of before are sealed as they are now. The triggers queue what changes meanwhile.
SET LOCAL timezone = 'UTC';
SET LOCAL datestyle = 'ISO, YMD';
INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT s.platform_id, 'market-rates', r.kept_at::text, now()
    FROM (SELECT DISTINCT kept_at FROM market_rates) r CROSS JOIN (SELECT DISTINCT platform_id FROM ledger_settings WHERE functional_currency <> '') s
ON CONFLICT DO NOTHING;
