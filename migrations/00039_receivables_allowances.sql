-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The percentages of receivables that are expected to be lost, by age; NULL is none, as in older versions of the settings. Set them when no
-- process of the previous version runs: it would take them back with the next change of the settings.
ALTER TABLE ledger_settings ADD COLUMN receivables_allowance text;

-- The allowances of a month-end run, in minor units, by currency.
CREATE TABLE ledger_receivables_allowances (
    platform_id uuid NOT NULL REFERENCES platforms,
    month date NOT NULL,
    run integer NOT NULL,
    currency text NOT NULL,
    owed_30 bigint NOT NULL,
    owed_60 bigint NOT NULL,
    owed_90 bigint NOT NULL,
    owed_over_90 bigint NOT NULL,
    rates text NOT NULL,
    before bigint NOT NULL,
    required bigint NOT NULL,
    PRIMARY KEY (platform_id, month, run, currency)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_receivables_allowances FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_receivables_allowances ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_receivables_allowances
    USING (platform_id = (SELECT visible_platform()) OR (SELECT all_platforms_visible()));
GRANT SELECT, INSERT ON ledger_receivables_allowances TO causeway_service;
