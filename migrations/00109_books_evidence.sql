-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What finance records beside the postings is sealed in the log of evidence.

-- Queues the inserted rows of a table: the arguments of the trigger are the kind of the facts and the columns that
-- are their subject: the primary key without the platform. Rows that belong to no platform are not sealed. The
-- subjects are the same whatever the format of dates of a session is.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_queue_evidence() RETURNS trigger LANGUAGE plpgsql SET datestyle = 'ISO, YMD' AS $$
BEGIN
    EXECUTE format('INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
        SELECT platform_id, %L, concat_ws(''/'', %s), clock_timestamp() FROM inserted WHERE platform_id IS NOT NULL ON CONFLICT DO NOTHING',
        TG_ARGV[0], (SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.no) FROM unnest(TG_ARGV[1:]) WITH ORDINALITY c (name, no)));
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Queues a proposal that is decided: what a decision has recorded never changes.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    VALUES (NEW.platform_id, 'proposal-decision', NEW.id::text, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_settings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('settings', 'version');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_added_accounts REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('added-account', 'path', 'version');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_gl_mappings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-mapping', 'version');
CREATE TRIGGER ledger_evidence AFTER INSERT ON gl_journals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-journal', 'number');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_proposals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON ledger_proposals
    FOR EACH ROW WHEN (NEW.status <> 'PENDING') EXECUTE FUNCTION ledger_queue_decision();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_month_end_runs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('month-end-run', 'kind', 'month', 'run');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_closings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-closing', 'year', 'number');
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_reversals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-reversal', 'year', 'number');
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivables REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable', 'id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivable_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable-change', 'receivable_id', 'number');
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_purposes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-purpose', 'account', 'version');
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_reports REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-report', 'day', 'version');
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_acknowledgements REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-acknowledgement', 'day', 'version', 'id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_movements REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-movement', 'id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_arrivals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-arrival', 'movement_id');
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-change', 'seq');

-- What was recorded before is sealed as it is now. The tables are locked by their new triggers, so no row is missed.
SET LOCAL datestyle = 'ISO, YMD';
INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'settings', version::text, now() FROM ledger_settings
    UNION ALL SELECT platform_id, 'added-account', concat_ws('/', path, version), now() FROM ledger_added_accounts
    UNION ALL SELECT platform_id, 'gl-mapping', version::text, now() FROM ledger_gl_mappings
    UNION ALL SELECT platform_id, 'gl-journal', number, now() FROM gl_journals
    UNION ALL SELECT platform_id, 'proposal', id::text, now() FROM ledger_proposals
    UNION ALL SELECT platform_id, 'proposal-decision', id::text, now() FROM ledger_proposals WHERE status <> 'PENDING'
    UNION ALL SELECT platform_id, 'month-end-run', concat_ws('/', kind, month, run), now() FROM ledger_month_end_runs
    UNION ALL SELECT platform_id, 'year-closing', concat_ws('/', year, number), now() FROM ledger_year_closings
    UNION ALL SELECT platform_id, 'year-reversal', concat_ws('/', year, number), now() FROM ledger_year_reversals
    UNION ALL SELECT platform_id, 'receivable', id::text, now() FROM receivables
    UNION ALL SELECT platform_id, 'receivable-change', concat_ws('/', receivable_id, number), now() FROM receivable_changes
    UNION ALL SELECT platform_id, 'safeguarding-purpose', concat_ws('/', account, version), now() FROM safeguarding_purposes
    UNION ALL SELECT platform_id, 'safeguarding-report', concat_ws('/', day, version), now() FROM safeguarding_reports
    UNION ALL SELECT platform_id, 'safeguarding-acknowledgement', concat_ws('/', day, version, id), now() FROM safeguarding_acknowledgements
    UNION ALL SELECT platform_id, 'treasury-movement', id::text, now() FROM treasury_movements
    UNION ALL SELECT platform_id, 'treasury-arrival', movement_id::text, now() FROM treasury_arrivals
    UNION ALL SELECT platform_id, 'corridor-change', seq::text, now() FROM corridor_changes WHERE platform_id IS NOT NULL
ON CONFLICT DO NOTHING;
