-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Market rates are sealed in the log of evidence of each platform that has, or had, a functional currency: the rates of one
-- time are one fact, each version of them, and their deletion.

-- Queues the times whose rates changed, for all platforms. The triggers run for the service alone: whoever else changes a
-- rate, with the rights of the owner of the table, leaves it as it was sealed. The rows of the queue are locked until the
-- commit, as those of ledger_queue_version. The argument of the trigger is the kind of the facts.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_market_rates() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' AS $$
BEGIN
    INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
    SELECT s.platform_id, TG_ARGV[0], c.kept_at::text, clock_timestamp()
    FROM (SELECT DISTINCT kept_at FROM changed) c CROSS JOIN (SELECT DISTINCT platform_id FROM ledger_settings WHERE functional_currency <> '') s
    ORDER BY s.platform_id, c.kept_at
    ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Queues all rates for a platform that has a functional currency from now on, because its first months may be valued at
-- any of them. The lock waits for rates that are being kept: their trigger does not see these settings yet.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_kept_rates() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger_settings s WHERE s.platform_id = NEW.platform_id AND s.version <> NEW.version AND s.functional_currency <> '') THEN
        RETURN NULL;
    END IF;
    LOCK TABLE market_rates IN SHARE MODE;
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT NEW.platform_id, 'market-rates', c.kept_at::text, clock_timestamp() FROM (SELECT DISTINCT kept_at FROM market_rates) c ORDER BY c.kept_at
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION ledger_queue_market_rates, ledger_queue_kept_rates FROM PUBLIC;

CREATE TRIGGER ledger_evidence_version AFTER INSERT ON market_rates REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT WHEN (current_user = 'causeway_service') EXECUTE FUNCTION ledger_queue_market_rates('market-rates');
CREATE TRIGGER ledger_evidence_deletion AFTER DELETE ON market_rates REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT WHEN (current_user = 'causeway_service') EXECUTE FUNCTION ledger_queue_market_rates('market-rates');
CREATE TRIGGER ledger_evidence_rates AFTER INSERT ON ledger_settings
    FOR EACH ROW WHEN (NEW.functional_currency <> '') EXECUTE FUNCTION ledger_queue_kept_rates();
